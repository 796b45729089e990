"""Settings, and Docs made of words and mentions."""

import pytest
import spacy
from nested_documents import make_doc, mentions, settings

from spacy_nested_ner.corpus import ConversionReport, FormatError, Record, Settings, documents
from spacy_nested_ner.decoders import Mention


def test_unknown_ways_to_treat_misaligned_mentions():
    with pytest.raises(ValueError, match="misaligned is 'bend'; expected one of error, split, drop"):
        Settings(misaligned="bend")


def test_unknown_languages():
    assert settings(lang="de").nlp.lang == "de"
    with pytest.raises(ValueError, match="lang is 'qqq'; expected a language code of spaCy, such as en, de or xx"):
        _ = Settings(lang="qqq").nlp


def test_a_language_may_need_another_package(monkeypatch):
    def missing(lang):
        raise ImportError("please install such and such")

    monkeypatch.setattr(spacy, "blank", missing)
    with pytest.raises(ValueError, match="lang is 'ja'; please install such and such"):
        _ = Settings(lang="ja").nlp


def test_a_pipeline_is_used_whatever_the_language():
    nlp = spacy.blank("de")
    assert Settings(pipeline=nlp, lang="en").nlp is nlp


def test_mentions_are_sorted_and_repeated_ones_are_reported():
    given = [Mention(1, 2, "GPE"), Mention(0, 2, "PER"), Mention(1, 2, "GPE"), Mention(1, 2, "FAC")]
    report = ConversionReport()
    doc = documents.make_doc(["Ada", "Bonn"], given, settings(), report, "a.txt, line 1")
    assert mentions(doc) == [(0, 2, "PER"), (1, 2, "FAC"), (1, 2, "GPE")]
    assert {what: loss.places for what, loss in report.lost.items()} == {
        "repeated mentions (same span and label)": ["a.txt, line 1"]
    }


@pytest.mark.parametrize(
    "words, mention, reason",
    [
        (["a", ""], Mention(0, 1, "X"), "word 1 is empty; expected at least one character"),
        (["a"], Mention(0, 1, ""), "label '': expected a string of at least one character"),
        (["a"], Mention(0, 1, 7), "label 7: expected a string of at least one character"),
        (["a"], Mention(0, 2, "X"), r"mention \(0, 2, 'X'\) is not a span of 1 tokens; expected 0 <= start < end <= 1"),
        (["a"], Mention(0, 1.0, "X"), r"mention .*1\.0.*"),
    ],
)
def test_bad_words_and_mentions(words, mention, reason):
    with pytest.raises(FormatError, match=f"^a.txt, line 1: {reason}$"):
        documents.make_doc(words, [mention], settings(), ConversionReport(), "a.txt, line 1")


def test_spaces_are_kept_only_if_all_sentences_know_them():
    known = documents.Sentence(["a", "b"], [Mention(1, 2, "X")], [False, True])
    unknown = documents.Sentence(["c"], [Mention(0, 1, "Y")])
    doc = documents.join_sentences([known, known], settings(), ConversionReport(), "")
    assert (doc.text, doc.has_unknown_spaces) == ("ab ab ", False)
    doc = documents.join_sentences([known, unknown], settings(), ConversionReport(), "")
    assert (doc.text, doc.has_unknown_spaces) == ("a b c ", True)
    assert mentions(doc) == [(1, 2, "X"), (2, 3, "Y")]
    assert [sent.start for sent in doc.sents] == [0, 2]


def test_mentions_move_when_words_of_only_whitespace_are_removed():
    doc = make_doc([([" ", "a", "\n", "b"], [(0, 2, "X"), (1, 3, "X"), (2, 4, "Y"), (2, 3, "Z")]), (["\t"], [])])
    report = ConversionReport()
    (sentence,) = documents.visible_sentences(Record(doc, "here"), settings(), report)
    assert sentence == (["a", "b"], [(0, 1, "X"), (1, 2, "Y")], None)
    assert {what: (loss.count, loss.places) for what, loss in report.lost.items()} == {
        "words of only whitespace": (3, ["here", "here"]),
        "mentions of only whitespace": (1, ["here: Z 2:3"]),
    }


def test_whitespace_that_is_removed_leaves_a_space():
    nlp = settings().nlp
    doc = spacy.tokens.Doc(nlp.vocab, ["\n", "It", "\n", "is", "n't", "."], spaces=[False] * 6)
    (sentence,) = documents.visible_sentences(Record(doc, "here"), settings(), ConversionReport(), spaced=True)
    assert sentence.words == ["It", "is", "n't", "."]
    assert sentence.spaces == [True, False, False, False]
