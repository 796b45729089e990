"""Mentions by characters that do not fit the edges of tokens."""

import json

import pytest
import spacy
from nested_documents import read, settings, shown

from spacy_nested_ner.corpus import FormatError, Settings

TEXT = "the anti-Bonnish mood"
INSIDE = [[9, 13, "GPE"], [4, 21, "MOOD"]]


def write(tmp_path, text=TEXT, labels=INSIDE):
    path = tmp_path / "corpus.jsonl"
    path.write_text(json.dumps({"text": text, "labels": labels}), encoding="utf-8")
    return path


def test_error(tmp_path):
    path = write(tmp_path)
    with pytest.raises(FormatError) as caught:
        read(path)
    assert str(caught.value) == (
        f"{path}, line 1: mention GPE 'Bonn' in 'the anti-Bonnish mood' begins or ends inside a token; "
        "choose misaligned split, to split the token, or drop"
    )
    docs, report = read(path, skip_bad=True)
    assert (docs, report.bad.count) == ([], 1)


def test_split(tmp_path):
    docs, report = read(write(tmp_path), misaligned="split")
    assert [token.text for token in docs[0]] == ["the", "anti", "-", "Bonn", "ish", "mood"]
    assert docs[0].text == TEXT
    assert shown(docs[0]) == [("MOOD", "anti-Bonnish mood"), ("GPE", "Bonn")]
    assert not report.lost


def test_drop(tmp_path):
    path = write(tmp_path)
    docs, report = read(path, misaligned="drop")
    assert shown(docs[0]) == [("MOOD", "anti-Bonnish mood")]
    assert report.lost["mentions that do not fit token edges"].places == [
        f"{path}, line 1: GPE 'Bonn' in 'the anti-Bonnish mood'"
    ]


@pytest.mark.parametrize("misaligned", ["error", "split", "drop"])
def test_white_space_at_the_edges_is_taken_off_and_reported(tmp_path, misaligned):
    path = write(tmp_path, "in Bonn  now", [[2, 8, "GPE"]])
    docs, report = read(path, misaligned=misaligned)
    assert shown(docs[0]) == [("GPE", "Bonn")]
    assert report.lost["white space at the edges of mentions"].places == [f"{path}, line 1: GPE ' Bonn '"]


def test_several_cuts_in_one_token(tmp_path):
    docs, _ = read(write(tmp_path, "abcdef", [[1, 3, "X"], [2, 5, "Y"], [2, 3, "Z"]]), misaligned="split")
    assert [token.text for token in docs[0]] == ["a", "b", "c", "de", "f"]
    assert shown(docs[0]) == [("X", "bc"), ("Y", "cde"), ("Z", "c")]


def test_other_words_are_refused():
    with pytest.raises(ValueError, match="misaligned is 'bend'; expected one of error, split, drop"):
        Settings(misaligned="bend")


def test_unknown_languages_are_named(tmp_path):
    with pytest.raises(ValueError, match="lang is 'qqq'; expected a language code of spaCy, such as en, de or xx"):
        read(write(tmp_path), lang="qqq")
    assert settings(lang="de").nlp.lang == "de"


def test_a_language_may_need_another_package(monkeypatch):
    def missing(lang):
        raise ImportError("please install such and such")

    monkeypatch.setattr(spacy, "blank", missing)
    with pytest.raises(ValueError, match="lang is 'ja'; please install such and such"):
        _ = Settings(lang="ja").nlp


def test_white_space_at_the_edges_is_taken_off_if_it_is_a_token(tmp_path):
    path = write(tmp_path, "foo  bar\n\nbaz", [[4, 8, "A"], [5, 10, "B"]])
    docs, report = read(path)
    assert [token.text for token in docs[0]] == ["foo", " ", "bar", "\n\n", "baz"]
    assert shown(docs[0]) == [("A", "bar"), ("B", "bar")]
    assert report.lost["white space at the edges of mentions"].count == 2
