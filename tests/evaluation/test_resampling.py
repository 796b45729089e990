"""Intervals and tests by resampling documents, compared with slow and obvious ways to compute them."""

from itertools import product

import numpy as np
import pytest
from spacy.scorer import PRFScore

from spacy_nested_ner.evaluation import resampling
from spacy_nested_ner.evaluation.resampling import (
    Resampling,
    bootstrap_intervals,
    paired_bootstrap,
    precision_recall_f,
    randomization_test,
)
from spacy_nested_ner.evaluation.scorer import LevelScore


def documents(n, rows=2, seed=0, recall=0.7, precision=0.8):
    """Counts of made-up documents, some of them longer and some of them more difficult than others."""
    random = np.random.default_rng(seed)
    gold = random.poisson(random.gamma(3, 3, size=(n, 1)), size=(n, rows))
    difficulty = random.normal(0, 0.1, size=(n, 1))
    right = random.binomial(gold, np.clip(recall + difficulty, 0, 1))
    found = right + random.binomial(gold, 1 - precision)
    return np.stack([gold, right, found, right], axis=-1)


def test_scores_are_those_of_spacy():
    for counts in documents(50, rows=1)[:, 0].tolist():
        gold, _, found, right = counts
        score, level = PRFScore(tp=right, fp=found - right, fn=gold - right), LevelScore(*counts)
        ours = np.nan_to_num(precision_recall_f(counts)).tolist()
        assert ours == [score.precision, score.recall, score.fscore] == list(level.to_dict().values())


def test_what_is_not_defined():
    p, r, f = precision_recall_f([0, 0, 2, 0])
    assert (p, np.isnan(r), np.isnan(f)) == (0, True, True)
    p, r, f = precision_recall_f([2, 0, 0, 0])
    assert (np.isnan(p), r, f) == (True, 0, 0)
    assert np.isnan(precision_recall_f([0, 0, 0, 0])).all()
    assert precision_recall_f(np.zeros((3, 2, 4))).shape == (3, 2, 3)


def slow_bootstrap(counts, score, settings):
    """Document by document, with the same random numbers."""
    random = np.random.default_rng(settings.seed)
    scores = []
    for drawn in random.integers(len(counts), size=(settings.n, len(counts))):
        total = sum(counts[number] for number in drawn)
        scores.append(score(total))
    tail = (1 - settings.confidence) / 2
    return np.nanquantile(scores, [tail, 1 - tail], axis=0)


@pytest.mark.parametrize("settings", [Resampling(200), Resampling(100, seed=3, confidence=0.8)])
def test_intervals_are_those_of_a_direct_bootstrap(settings):
    counts = documents(12)
    expected = slow_bootstrap(counts, precision_recall_f, settings)
    np.testing.assert_array_equal(np.moveaxis(bootstrap_intervals(counts, settings), -1, 0), expected)
    other = documents(12, seed=1)
    other[..., 0] = counts[..., 0]
    both = np.stack([counts, other], axis=-1)
    expected = slow_bootstrap(
        both,
        lambda total: precision_recall_f(total[..., 0])[..., 2] - precision_recall_f(total[..., 1])[..., 2],
        settings,
    )
    np.testing.assert_array_equal(paired_bootstrap(counts, other, settings).T, expected)


def test_blocks_give_the_same_numbers(monkeypatch):
    one, other = documents(12), documents(12, seed=1)
    functions = (
        lambda: bootstrap_intervals(one, Resampling(100)),
        lambda: paired_bootstrap(one, other, Resampling(100)),
        lambda: randomization_test(one, other, Resampling(100)),
    )
    whole = [function() for function in functions]
    monkeypatch.setattr(resampling, "BLOCK", 90)
    for function, expected in zip(functions, whole):
        np.testing.assert_array_equal(function(), expected)


def test_intervals_have_the_true_score_in_them():
    """In about 95 % of all samples of documents. With 40 documents, the bootstrap gives a little less."""
    truth = precision_recall_f(documents(100_000, rows=1).sum(axis=0))
    inside = np.zeros((1, 3))
    for seed in range(400):
        ends = bootstrap_intervals(documents(40, rows=1, seed=1 + seed), Resampling(200, seed=seed))
        inside += (ends[..., 0] <= truth) & (truth <= ends[..., 1])
    assert (inside / 400 > 0.90).all(), inside
    assert (inside / 400 < 0.98).all(), inside


def test_the_test_counts_all_ways_to_swap():
    """With few documents, all swaps can be counted."""
    one, other = documents(6, rows=1), documents(6, rows=1, seed=1, recall=0.5)
    other[..., 0] = one[..., 0]

    def difference(swaps):
        mine = sum(b if swap else a for a, b, swap in zip(one, other, swaps))
        yours = sum(a if swap else b for a, b, swap in zip(one, other, swaps))
        return float((precision_recall_f(mine) - precision_recall_f(yours))[0, 2])

    observed = abs(difference([False] * 6))
    exact = np.mean([abs(difference(swaps)) >= observed - 1e-12 for swaps in product([False, True], repeat=6)])
    assert 0.03 < exact < 0.97
    assert randomization_test(one, other, Resampling(20_000))[0] == pytest.approx(exact, abs=0.02)


def test_equal_pipelines_are_seldom_found_to_differ():
    p_values = []
    for seed in range(300):
        one, other = documents(20, rows=1, seed=2 * seed), documents(20, rows=1, seed=2 * seed + 1)
        p_values.append(randomization_test(one, other, Resampling(100, seed=seed))[0])
    assert 0.02 < np.mean(np.array(p_values) <= 0.05) < 0.09
    assert 0.4 < np.mean(p_values) < 0.6


def test_different_pipelines_are_mostly_found_to_differ():
    """Not in every sample of 20 documents: about one in fourteen has a p-value of 0.01 or more."""
    p_values = []
    for seed in range(200):
        one, other = documents(20, rows=1, seed=seed), documents(20, rows=1, seed=10_000 + seed, recall=0.4)
        p_values.append(randomization_test(one, other, Resampling(500, seed=seed))[0])
    assert np.mean(np.array(p_values) < 0.01) > 0.85
    assert np.mean(np.array(p_values) < 0.05) > 0.95


def test_a_row_of_one_document_has_no_interval():
    counts = documents(5)
    counts[1:, 1] = 0
    ends = bootstrap_intervals(counts, Resampling(50))
    assert not np.isnan(ends[0]).any()
    assert np.isnan(ends[1]).all()
    assert np.isnan(paired_bootstrap(counts, counts, Resampling(50))).tolist() == [[False] * 2, [True] * 2]
    assert np.isnan(randomization_test(counts, counts, Resampling(50))).tolist() == [False, True]


@pytest.mark.parametrize("counts, n", [(documents(1), 50), (documents(5), 0), (documents(0), 50)])
def test_nothing_to_resample(counts, n):
    assert np.isnan(bootstrap_intervals(counts, Resampling(n))).all()
    assert np.isnan(paired_bootstrap(counts, counts, Resampling(n))).all()
    assert np.isnan(randomization_test(counts, counts, Resampling(n))).all()


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"n": -1}, "the number of resamples is -1; expected 0 or more"),
        ({"seed": -1}, "seed is -1; expected 0 or more"),
        ({"confidence": 95}, "confidence is 95; expected a share between 0 and 1, such as 0.95"),
    ],
)
def test_settings_are_checked(settings, message):
    with pytest.raises(ValueError, match=message):
        Resampling(**settings)
