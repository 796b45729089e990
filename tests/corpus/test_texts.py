"""Texts to run a pipeline on."""

from time import process_time

import pytest
import spacy
from nested_examples import save_corpus

from spacy_nested_ner.corpus import FormatError, Settings
from spacy_nested_ner.corpus.texts import find_path, input_docs, is_bracketed, is_plain_text, paragraphs

NLP = spacy.blank("en")


def texts(*inputs, format=None, **kwargs):
    return [doc.text for doc in input_docs(list(map(str, inputs)), format, settings=Settings(pipeline=NLP), **kwargs)]


def test_blank_lines_are_between_paragraphs():
    assert list(paragraphs(["", " a", "b ", " \t", "", "c\n"])) == ["a\nb", "c"]
    assert list(paragraphs([])) == list(paragraphs(["", " "])) == []


def test_long_paragraphs_are_divided_between_lines():
    parts = list(paragraphs(["a" * 6_000, "b" * 6_000, "c", "d" * 20_000]))
    assert [len(part) for part in parts] == [6_000, 6_002, 20_000]


def test_texts_and_files_are_told_apart(tmp_path):
    (tmp_path / "a.txt").write_text("In a file .\r\n\r\nAgain .")
    assert texts("In an argument .", tmp_path / "a.txt", "-", standard_input=["On standard input ."]) == [
        "In an argument .",
        *["In a file .", "Again ."],
        "On standard input .",
    ]
    assert find_path("a" * 10_000) is None
    assert find_path("a\0b") is None
    assert find_path("I read a.txt") is None
    for name in ("missing.txt", "missing.spacy", "sub/missing.JSONL"):
        with pytest.raises(FormatError, match="no such file or folder"):
            find_path(name)


def test_corpora_keep_their_tokens_and_lose_their_mentions(tmp_path):
    save_corpus(tmp_path / "data.spacy")
    first, *_ = input_docs([str(tmp_path / "data.spacy")], settings=Settings(pipeline=NLP))
    assert [sentence.text for sentence in first.sents][1] == "He retired with the United States army . "[:-1]
    assert not first.spans
    assert not is_plain_text(tmp_path / "data.spacy")
    assert not is_plain_text(tmp_path), "a folder with a corpus in it"


def test_only_bracket_notation_looks_like_it(tmp_path):
    for text, expected in [
        ("# Title\n\n[PER Ann] left .", True),
        ("Ann left [ 1 ] .", False),
        ("[1] Ann left .", False),
        ("Ann left .", False),
        ("", False),
    ]:
        (tmp_path / "a.txt").write_text(text)
        assert is_bracketed(tmp_path / "a.txt") == expected, text
    assert texts(tmp_path / "a.txt") == []


def test_a_long_run_of_punctuation_takes_no_quadratic_time(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("(" * 20_000 + " Ada")
    before = process_time()
    for given in (path.read_text(), str(path)):
        (doc,) = input_docs([given], settings=Settings(pipeline=NLP))
        assert (len(doc), doc[-1].text) == (20_001, "Ada")
    assert process_time() - before < 3
