"""Mentions by characters, where tokens begin and end and where they do not."""

import json

import pytest
from nested_documents import read, save, shown

from spacy_nested_ner.corpus import FormatError

TEXT = "the anti-Bonnish mood"
INSIDE = [[9, 13, "GPE"], [4, 21, "MOOD"]]


def write(tmp_path, text=TEXT, labels=INSIDE, **fields):
    return save(tmp_path / "corpus.jsonl", json.dumps({"text": text, "labels": labels, **fields}))


def test_misaligned_mentions_are_errors(tmp_path):
    path = write(tmp_path)
    with pytest.raises(FormatError) as caught:
        read(path)
    assert str(caught.value) == (
        f"{path}, line 1: mention GPE 'Bonn' in 'the anti-Bonnish mood' begins or ends inside a token; "
        "set misaligned to split, to split the token, or to drop, to leave out the mention"
    )
    docs, report = read(path, skip_bad=True)
    assert (docs, report.bad.count) == ([], 1)


def test_misaligned_mentions_split_tokens(tmp_path):
    docs, report = read(write(tmp_path), misaligned="split")
    assert [token.text for token in docs[0]] == ["the", "anti", "-", "Bonn", "ish", "mood"]
    assert docs[0].text == TEXT
    assert shown(docs[0]) == [("MOOD", "anti-Bonnish mood"), ("GPE", "Bonn")]
    assert not report.lost


def test_misaligned_mentions_are_dropped(tmp_path):
    path = write(tmp_path)
    docs, report = read(path, misaligned="drop")
    assert shown(docs[0]) == [("MOOD", "anti-Bonnish mood")]
    assert report.lost["mentions that begin or end inside a token"].places == [
        f"{path}, line 1: GPE 'Bonn' in 'the anti-Bonnish mood'"
    ]


@pytest.mark.parametrize("misaligned", ["error", "split", "drop"])
def test_whitespace_at_the_edges_is_removed_and_reported(tmp_path, misaligned):
    path = write(tmp_path, "in Bonn  now", [[2, 8, "GPE"]])
    docs, report = read(path, misaligned=misaligned)
    assert shown(docs[0]) == [("GPE", "Bonn")]
    assert report.lost["whitespace at the edges of mentions"].places == [f"{path}, line 1: GPE ' Bonn '"]


def test_several_cuts_in_one_token(tmp_path):
    docs, _ = read(write(tmp_path, "abcdef", [[1, 3, "X"], [2, 5, "Y"], [2, 3, "Z"]]), misaligned="split")
    assert [token.text for token in docs[0]] == ["a", "b", "c", "de", "f"]
    assert shown(docs[0]) == [("X", "bc"), ("Y", "cde"), ("Z", "c")]


def test_whitespace_at_the_edges_is_removed_even_if_the_tokenizer_makes_it_a_token(tmp_path):
    path = write(tmp_path, "foo  bar\n\nbaz", [[4, 8, "A"], [5, 10, "B"]])
    docs, report = read(path)
    assert [token.text for token in docs[0]] == ["foo", " ", "bar", "\n\n", "baz"]
    assert shown(docs[0]) == [("A", "bar"), ("B", "bar")]
    assert report.lost["whitespace at the edges of mentions"].count == 2


def test_whitespace_that_the_data_has_as_a_token_is_kept(tmp_path):
    tokens = [{"start": 0, "end": 1}, {"start": 2, "end": 3}, {"start": 3, "end": 4}]
    docs, report = read(write(tmp_path, "a \nb", [[2, 3, "BREAK"], [0, 3, "LINE"]], tokens=tokens))
    assert [token.text for token in docs[0]] == ["a", "\n", "b"]
    assert shown(docs[0]) == [("LINE", "a \n"), ("BREAK", "\n")]
    assert not report.lost
