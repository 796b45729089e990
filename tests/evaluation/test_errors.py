"""Errors that are worth a look."""

import pytest

from spacy_nested_ner.decoders import Mention
from spacy_nested_ner.evaluation import Judged
from spacy_nested_ner.evaluation.errors import confident_errors, surprise, surprising_sentences

WORDS = [f"w{k}" for k in range(6)]


def judged(gold, found, sentences=((0, 6),), **settings):
    gold, found = {Mention(*m) for m in gold}, {Mention(*m): p for m, p in found}
    return Judged("here", WORDS, list(sentences), gold, found, **settings)


def test_surprise():
    at = {0.1: {Mention(2, 3, "A"): 0.25}}
    each = judged([(0, 1, "A"), (2, 3, "A")], [((4, 5, "A"), 0.75), ((0, 1, "A"), 0.5)], at=at)
    [example] = surprising_sentences([each], 5)
    assert example["surprise"] == pytest.approx(2 + 2)
    assert [mention["correct"] for mention in example["gold"]] == [True, False]
    assert [mention["correct"] for mention in example["predicted"]] == [True, False]
    assert surprise(0.0, True) == pytest.approx(surprise(1.0, False))
    assert surprise(0.0, True) < 7


def test_the_most_surprising_sentence_comes_first():
    found = [((0, 1, "A"), 0.6), ((4, 6, "A"), 0.9), ((2, 3, "A"), 0.99)]
    each = judged([(2, 3, "A")], found, sentences=((0, 2), (2, 4), (4, 6)))
    rows = surprising_sentences([each], 5)
    assert [row["where"] for row in rows] == ["here, sentence 3", "here, sentence 1"], "2 has no error"
    assert rows[0]["words"] == ["w4", "w5"]
    assert [(mention["start"], mention["end"]) for mention in rows[0]["predicted"]] == [(0, 2)]
    assert len(surprising_sentences([each], 1)) == 1


def test_spurious_mentions_by_probability():
    found = [((0, 1, "A"), 0.6), ((1, 3, "B"), 0.9), ((4, 5, "A"), 0.95)]
    rows = confident_errors([judged([(1, 3, "A"), (1, 3, "C"), (4, 5, "A")], found)], 5)
    assert [(row["text"], row["probability"], row["gold"]) for row in rows] == [
        ("w1 w2", 0.9, ["A", "C"]),
        ("w0", 0.6, []),
    ]
