"""The likelihood of incomplete annotation: against the list of all analyses, and finite differences."""

import itertools

import numpy as np
import pytest
from helpers import SPACES, dense_target, random_scores

from spacy_nested_ner import decoders
from spacy_nested_ner.decoders import FlatDecoder, Mention, PackedScores, QuadraticDecoder, reference
from spacy_nested_ner.pipeline.incomplete import Incomplete
from spacy_nested_ner.pipeline.loss import crf_loss

ANNOTATIONS = {
    "nothing known": Incomplete([], [], 1.0),
    "some missing": Incomplete([], [], 0.4),
    "known": Incomplete([Mention(1, 3, 1)], [], 1.0),
    "known, some missing": Incomplete([Mention(1, 3, 1), Mention(3, 4, 0)], [], 0.4),
    "incorrect": Incomplete([], [Mention(0, 4, 0), Mention(0, 4, 1), Mention(2, 3, 1)], 0.4),
    "all": Incomplete([Mention(0, 3, 0)], [Mention(0, 3, 1), Mention(3, 4, 0)], 0.7),
}


def analyses_of(decoder, n, labels):
    """Every analysis, as a set of (start, end, label)."""
    spans, rows = reference.analyses(n, decoder.space.max_short_child, decoder.max_span_length)
    sizes = range(1, labels + 1) if decoder.multi_label else [1]
    choices = [chosen for size in sizes for chosen in itertools.combinations(range(labels), size)]
    for row in rows:
        chosen = [span for span, is_in in zip(spans, row) if is_in]
        for named in itertools.product(choices, repeat=len(chosen)):
            yield {(i, j + 1, t) for (i, j), some in zip(chosen, named) for t in some}


def likelihood(decoder, scores, annotation):
    """The sum of its definition, term by term; and of everything."""
    agreeing, everything = 0.0, 0.0
    for analysis in analyses_of(decoder, len(scores), scores.shape[2]):
        weight = np.exp(sum(scores[i, j - 1, t] for i, j, t in analysis))
        everything += weight
        if analysis.issuperset(annotation.known) and not analysis.intersection(annotation.incorrect):
            agreeing += weight * annotation.missing_rate ** (len(analysis) - len(annotation.known))
    return agreeing / everything


@pytest.mark.slow
@pytest.mark.parametrize("annotation", ANNOTATIONS.values(), ids=list(ANNOTATIONS))
@pytest.mark.parametrize("multi_label", [False, True])
@pytest.mark.parametrize("space", ["flat", "quadratic", "cubic"])
def test_loss_is_that_of_the_listed_analyses(space, multi_label, annotation):
    name, settings = SPACES[space]
    decoder = getattr(decoders, name)(multi_label=multi_label, **settings)
    dense = random_scores(4, 2, seed=7)
    loss, _ = crf_loss(decoder, PackedScores.pack([dense]), [annotation])
    assert loss == pytest.approx(-np.log(likelihood(decoder, dense, annotation)), abs=1e-12)


def test_where_the_known_mentions_are_in_each_others_way():
    """Without the mention around them, the search space of the quadratic decoder has both long children."""
    dense = random_scores(5, 1, seed=1)
    dense[0, 1] = dense[2, 4] = 9
    dense[0, 4] = -9
    annotation = Incomplete([Mention(0, 5, 0)], [], 0.5)
    loss, gradient = crf_loss(QuadraticDecoder(), PackedScores.pack([dense]), [annotation])
    assert loss == pytest.approx(-np.log(likelihood(QuadraticDecoder(), dense, annotation)), abs=1e-12)
    assert np.isfinite(gradient).all()


GOLD = [
    Incomplete([Mention(0, 3, 1), Mention(1, 2, 0)], [Mention(4, 5, 2)], 0.3),
    [Mention(0, 2, 0)],
    Incomplete([], [Mention(0, 1, 0)], 1.0),
    None,
]


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("multi_label", [False, True])
@pytest.mark.parametrize("space", ["flat", "quadratic", "cubic"])
def test_gradient_is_that_of_the_loss(space, multi_label, smoothing, scores):
    name, settings = SPACES[space]
    decoder = getattr(decoders, name)(multi_label=multi_label, **settings)
    gold = [*GOLD]
    if space == "flat":
        gold[0] = gold[0]._replace(known=[Mention(0, 3, 1)])
    loss, gradient = crf_loss(decoder, scores, gold, label_smoothing=smoothing)
    for place in np.ndindex(scores.values.shape):
        ends = []
        for step in (1e-5, -1e-5):
            moved = scores.like(scores.values.copy())
            moved.values[place] += step
            ends.append(crf_loss(decoder, moved, gold, label_smoothing=smoothing)[0])
        assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(gradient[place], abs=1e-7)
    assert loss > 0


@pytest.mark.parametrize("size", [1.0, 300.0, 1e4])
def test_single_precision_and_large_weights(size):
    """What the constraints say stays exact: the loss of singles is that of doubles, up to the digits they have."""
    dense = [size * random_scores(n, 3, seed=n, dtype=np.float32) for n in (5, 4)]
    gold = [GOLD[0], GOLD[2]]
    singles = crf_loss(QuadraticDecoder(), PackedScores.pack(dense, 4), gold)
    doubles = crf_loss(QuadraticDecoder(), PackedScores.pack([a.astype(np.float64) for a in dense], 4), gold)
    assert singles[1].dtype == np.float32
    assert singles[0] == pytest.approx(doubles[0], rel=1e-6)
    np.testing.assert_allclose(singles[1], doubles[1], atol=1e-6)


def test_if_hardly_anything_is_missing_the_annotation_is_complete(scores):
    for smoothing in (0.0, 0.1):
        listed = [[Mention(0, 3, 1), Mention(1, 2, 0)], [Mention(0, 2, 0)], [], None]
        almost = [mentions if mentions is None else Incomplete(mentions, [], 1e-12) for mentions in listed]
        complete = crf_loss(QuadraticDecoder(), scores, listed, label_smoothing=smoothing)
        incomplete = crf_loss(QuadraticDecoder(), scores, almost, label_smoothing=smoothing)
        assert incomplete[0] == pytest.approx(complete[0], abs=1e-9)
        np.testing.assert_allclose(incomplete[1], complete[1], atol=1e-9)


def test_where_nothing_is_known_nothing_is_learned(scores):
    loss, gradient = crf_loss(QuadraticDecoder(), scores, [Incomplete([])] * 4)
    assert loss == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(gradient, 0, atol=1e-12)


@pytest.mark.parametrize("multi_label", [False, True])
@pytest.mark.parametrize("missing_rate", [0.3, 1.0])
def test_the_loss_has_a_lowest_value(multi_label, missing_rate):
    """Gradient descent on the scores ends with the known mention found, as far as smoothing lets it."""
    decoder = QuadraticDecoder(multi_label=multi_label)
    gold = [Incomplete([Mention(0, 2, 1)], [Mention(2, 3, 0)], missing_rate)]
    scores = PackedScores.pack([np.zeros((3, 3, 3))])
    for _ in range(1500):
        loss, gradient = crf_loss(decoder, scores, gold, label_smoothing=0.2)
        assert loss > 0
        scores = scores.like(scores.values - 2.0 * gradient)
    marginals = decoder.marginals(scores).values
    smoothing = 0.0 if multi_label else 0.2
    cell = scores.layout.cell(0, 0, 2)
    assert marginals[1, cell] == pytest.approx(1 - smoothing, abs=0.02)
    if not multi_label:
        np.testing.assert_allclose(marginals[:, cell], dense_target(scores, [gold[0].known], 0.2)[:, cell], atol=0.02)
    assert marginals[0, scores.layout.cell(0, 2, 3)] < 0.02


def test_the_second_program_runs_only_on_incomplete_segments(scores):
    runs = []

    class Counting(FlatDecoder):
        def log_partition_and_marginals(self, scores):
            runs.append(scores.layout.lengths)
            return super().log_partition_and_marginals(scores)

    crf_loss(Counting(), scores, [[], [], [], None])
    assert runs == [(5, 4, 6, 1)]
    crf_loss(Counting(), scores, [[], Incomplete([]), None, Incomplete([Mention(0, 1, 2)])])
    assert runs[1:] == [(5, 4, 6, 1), (4, 1)]
