"""Which threshold is chosen, by counts alone."""

import numpy as np
import pytest

from spacy_nested_ner.evaluation.thresholds import choose_threshold, threshold_score

GRID = (0.2, 0.4, 0.6)


def choose(*documents):
    """Of 10 gold mentions in every document, the numbers found and right: without a threshold, and at each of GRID."""
    counts = np.array([[(10, right, found, right) for found, right in row] for row in documents])
    return choose_threshold(GRID, counts, threshold_score(None, counts[:, 0]))


def test_the_highest_f_wins():
    choice = choose(*[[(5, 5), (14, 8), (10, 8), (7, 6)]] * 4)
    assert choice.after == choice.best == choice.scores[2] == (0.4, 0.8, 0.8, pytest.approx(0.8))
    assert choice.before == choice.scores[0] == (None, 1.0, 0.5, pytest.approx(2 / 3))
    assert choice.gain.value == pytest.approx(0.8 - 2 / 3) == choice.gain.low == choice.gain.high


def test_none_wins_ties():
    choice = choose(*[[(8, 6), (8, 6), (8, 6), (8, 6)]] * 4)
    assert choice.after.threshold is None
    assert choice.best.threshold == 0.2


def test_the_lowest_of_equal_thresholds_is_the_best():
    assert choose(*[[(5, 5), (7, 5), (7, 7), (7, 7)]] * 4).after.threshold == 0.4


def test_a_gain_that_few_documents_have_may_be_chance():
    same, lucky = [(7, 7), (7, 5), (7, 7), (7, 5)], [(7, 5), (7, 5), (10, 10), (7, 5)]
    choice = choose(lucky, *[same] * 9)
    assert choice.best.threshold == 0.4
    assert choice.gain.value > 0.02
    assert choice.gain.low == 0
    assert choice.after == choice.scores[0]
    # Half of the documents are more than luck.
    assert choose(*[lucky, same] * 5).after.threshold == 0.4


def test_one_document_cannot_tell():
    choice = choose([(5, 5), (9, 9), (7, 7), (6, 6)])
    assert choice.after.threshold is None
    assert (choice.best.threshold, choice.gain.low, choice.gain.high) == (0.2, None, None)
    assert choice.gain.value > 0.2


def test_without_gold_mentions_there_is_nothing_to_gain():
    counts = np.array([[(0, 0, found, 0) for found in (2, 3, 1, 0)]] * 4)
    choice = choose_threshold(GRID, counts, threshold_score(None, counts[:, 0]))
    assert choice.after == (None, 0, 0, 0)
