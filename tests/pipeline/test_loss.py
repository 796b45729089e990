"""The CRF loss: against finite differences, and bounded from below."""

import tracemalloc

import numpy as np
import pytest
from helpers import dense_target, random_scores

from spacy_nested_ner.decoders import CubicDecoder, FlatDecoder, Mention, PackedScores, QuadraticDecoder
from spacy_nested_ner.pipeline.loss import crf_loss

GOLD = [[Mention(0, 3, 1), Mention(1, 2, 0)], [], None, [Mention(0, 1, 2)]]


@pytest.mark.parametrize("decoder", [QuadraticDecoder(), CubicDecoder(multi_label=True)], ids=repr)
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_gradient_is_that_of_the_loss(decoder, smoothing, scores):
    loss, gradient = crf_loss(decoder, scores, GOLD, label_smoothing=smoothing)
    random = np.random.default_rng(0)
    for _ in range(40):
        place = tuple(random.integers(size) for size in scores.values.shape)
        ends = []
        for step in (1e-5, -1e-5):
            moved = scores.like(scores.values.copy())
            moved.values[place] += step
            ends.append(crf_loss(decoder, moved, GOLD, label_smoothing=smoothing)[0])
        assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(gradient[place], abs=1e-7)
    assert loss > 0


def test_no_annotation_is_not_the_same_as_no_mentions(scores):
    _, gradient = crf_loss(QuadraticDecoder(), scores, GOLD)
    assert not gradient[:, scores.layout.cells_of(2)].any()
    assert (gradient[:, scores.layout.cells_of(1)] > 0).all()
    loss, gradient = crf_loss(QuadraticDecoder(), scores, [None] * 4)
    assert loss == 0
    assert not gradient.any()


def test_loss_is_the_log_probability_of_the_gold_analysis(scores):
    decoder = CubicDecoder()
    totals = decoder.log_partition(scores)
    weights = [
        sum(scores.values[m.label, scores.layout.cell(k, m.start, m.end)] for m in mentions or ())
        for k, mentions in enumerate(GOLD)
    ]
    expected = sum(totals[k] - weights[k] for k in (0, 1, 3)) / 3
    assert crf_loss(decoder, scores, GOLD)[0] == pytest.approx(expected)


@pytest.mark.parametrize("multi_label", [False, True])
def test_smoothed_target_is_a_mixture_of_analyses(multi_label):
    """Gradient descent on the scores alone ends at the smoothed target, which it could not if the
    target were outside the reach of the marginals."""
    decoder = QuadraticDecoder(multi_label=multi_label)
    gold = [[Mention(0, 4, 1), Mention(1, 3, 0), Mention(0, 1, 2)]]
    if multi_label:
        gold[0].append(Mention(0, 1, 0))
    scores = PackedScores.pack([np.zeros((4, 4, 3))])
    for _ in range(1500):
        scores = scores.like(scores.values - 2.0 * crf_loss(decoder, scores, gold, label_smoothing=0.2)[1])
    target = dense_target(scores, gold, 0.2)
    np.testing.assert_allclose(decoder.marginals(scores).values, target, atol=0.02)
    for mention in gold[0]:
        assert target[:, scores.layout.cell(0, mention.start, mention.end)].sum() >= 1 - 1e-9


def test_a_mention_that_is_named_twice_is_one():
    scores = PackedScores.pack([np.zeros((2, 2, 3))])
    once, twice = ([[Mention(0, 1, 0)] * n] for n in (1, 2))
    np.testing.assert_array_equal(dense_target(scores, twice, 0.1), dense_target(scores, once, 0.1))


def test_one_label_is_not_smoothed():
    scores = PackedScores.pack([np.zeros((2, 2, 1))])
    assert dense_target(scores, [[Mention(0, 2, 0)]], 0.1).max() == 1
    assert crf_loss(FlatDecoder(), scores, [[Mention(0, 2, 0)]], label_smoothing=0.1)[0] == pytest.approx(np.log(5))


def test_mentions_outside_the_target_do_not_count_even_if_they_are_forbidden():
    values = np.zeros((2, 2, 2))
    values[0, 1] = -np.inf
    loss, gradient = crf_loss(FlatDecoder(), PackedScores.pack([values]), [[Mention(0, 1, 0)]])
    assert loss == pytest.approx(np.log(9))
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("mention", [Mention(0, 3, 0), Mention(-1, 1, 0), Mention(1, 1, 0)])
def test_gold_without_a_cell_is_an_error(mention):
    with pytest.raises(ValueError, match="has no cell; expected"):
        crf_loss(FlatDecoder(), PackedScores.pack([np.zeros((2, 2, 1))]), [[mention]])


def test_the_loss_makes_no_array_of_all_spans_but_the_gradient(monkeypatch):
    """Long segments have millions of spans, and the gold a few mentions."""
    scores = PackedScores.pack([random_scores(300, 5, seed=0, dtype=np.float32)])
    decoder, result = QuadraticDecoder(), QuadraticDecoder().log_partition_and_marginals(scores)
    monkeypatch.setattr(QuadraticDecoder, "log_partition_and_marginals", lambda *_: result)
    tracemalloc.start()
    try:
        crf_loss(decoder, scores, [[Mention(0, 3, 1)]], label_smoothing=0.1)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < scores.values.nbytes / 4
