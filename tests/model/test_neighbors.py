"""Spans that see their neighbors: against the definition, and their gradients against finite differences."""

import layers
import numpy as np
import pytest
from nested_examples import make_examples, trained

from spacy_nested_ner.decoders import SpanLayout
from spacy_nested_ner.model import neighbors
from spacy_nested_ner.model._types import TokenVectors
from spacy_nested_ner.model.architectures import build_span_scorer
from spacy_nested_ner.model.neighbors import neighbor_span_scorer, neighbors_of, resize

FEATURES, DEPTH = 4, 2


@pytest.fixture
def scorer():
    model = layers.initialized(neighbor_span_scorer(6, FEATURES, DEPTH))
    for node in model.walk():
        if node.param_names:
            layers.with_random_params(node)
    return model


def inputs(lengths=layers.LENGTHS, limit=5):
    layout = SpanLayout(lengths, limit)
    return layers.random_vectors(layout.n_tokens), layout


def spans_of(layout):
    """Of every cell: segment, first and last token."""
    segments = np.repeat(np.arange(len(layout)), np.diff(layout.offsets))
    return list(zip(segments.tolist(), *(places.tolist() for places in layout.starts_and_ends)))


def as_defined(model, X):
    """The scores, span by span."""
    inner, *blocks = model.layers
    packed = inner.predict(X)
    spans = spans_of(X[1])
    features = dict(zip(spans, packed[:FEATURES].T))
    nothing = np.zeros(FEATURES, dtype="float32")
    for block in blocks:
        rows = {
            (segment, start, end): np.concatenate(
                [features.get((segment, start + i, end + j), nothing) for i in (-1, 0, 1) for j in (-1, 0, 1)]
            )
            for segment, start, end in spans
        }
        features = {span: features[span] + block.predict(row[None])[0] for span, row in rows.items()}
    return packed[FEATURES:] + model.get_param("W") @ np.stack([features[span] for span in spans]).T


@pytest.mark.parametrize("limit", [1, 4, 80])
def test_scores_are_as_defined(scorer, limit):
    X = inputs(limit=limit)
    np.testing.assert_allclose(scorer.predict(X), as_defined(scorer, X), rtol=1e-3, atol=1e-3)


def test_neighbors_of_neighbors():
    layout = SpanLayout(layers.LENGTHS, 4)
    cells = neighbors_of(layout)
    assert (cells[:, 4] == np.arange(layout.n_spans)).all()
    for k in range(9):
        there = cells[:, k] < layout.n_spans
        assert (cells[cells[there, k], 8 - k] == np.flatnonzero(there)).all()
    # Of a single word, what would end before it starts is not there; of the longest spans, what is longer.
    exists = (cells < layout.n_spans).tolist()
    assert exists[layout.cell(0, 1, 2)] == [True, True, True, False, True, True, False, False, True]
    assert exists[layout.cell(0, 1, 5)] == [True, False, False, True, True, False, True, True, True]


def test_gradients(scorer):
    X = inputs([7, 1, 0, 12])
    scores, backprop = scorer.begin_update(X)
    random = np.random.default_rng(2)
    weights = random.normal(size=scores.shape).astype("float32")
    d_vectors, _ = backprop(weights)
    params = [(node.get_param(name), node.get_grad(name)) for node in scorer.walk() for name in node.param_names]
    assert len(params) == 6 + 1 + 4 * DEPTH
    for value, gradient in [*params, (X[0], d_vectors)]:
        # Along the gradient, the sum of all outputs rises by its length.
        length = np.sqrt((gradient.astype("float64") ** 2).sum())
        step = (0.01 / length * gradient).astype("float32")
        ends = []
        for change in (step, -2 * step, step):
            value += change
            ends.append(float((scorer.predict(X) * weights).sum()))
        assert (ends[0] - ends[1]) / 0.02 == pytest.approx(length, rel=0.05)


@pytest.mark.parametrize("lengths", [[7, 0, 30, 1, 50, 3, 3], [200]])
def test_large_batches_are_scored_in_parts(scorer, lengths, monkeypatch):
    vectors, layout = inputs(lengths)
    numbers = np.random.default_rng(3).integers(0, 9, size=layout.n_tokens).astype("int32")
    X = TokenVectors(vectors[:, :2], layers.random_vectors(9)[:, 2:], numbers), layout
    at_once = scorer.predict(X)
    np.testing.assert_allclose(scorer.begin_update(X)[0], at_once, rtol=1e-5, atol=1e-5)
    sizes = []
    expand = neighbors._expand
    monkeypatch.setattr(neighbors, "SPANS_AT_ONCE", 60)
    monkeypatch.setattr(neighbors, "_expand", lambda *args: sizes.append(len(args[2])) or expand(*args))
    np.testing.assert_allclose(scorer.predict(X), at_once, rtol=1e-4, atol=1e-4)
    assert max(sizes) <= 60
    assert sum(sizes) == DEPTH * layout.n_spans


def test_what_was_predicted_has_no_gradient(scorer):
    scores, backprop = scorer(inputs(), is_train=False)
    with pytest.raises(ValueError, match="call the model with is_train=True"):
        backprop(scores)


def test_resizing_keeps_what_was_learned(scorer):
    X = inputs()
    before = scorer.predict(X)
    larger = resize(scorer, layers.LABELS + 2)
    scores, backprop = larger.begin_update(X)
    np.testing.assert_allclose(scores[: layers.LABELS], before, rtol=1e-4, atol=1e-4)
    assert len(scores) == layers.LABELS + 2
    backprop(np.ones_like(scores))
    assert larger.get_grad("W")[layers.LABELS :].any()
    assert not scorer.has_grad("W")
    np.testing.assert_array_equal(scorer.predict(X), before)


def test_no_tokens(scorer):
    layers.check_no_tokens(scorer)


def test_an_untrained_model_finds_nothing():
    layers.check_untrained(neighbor_span_scorer(6, FEATURES, DEPTH))


@pytest.mark.parametrize("settings", [{"neighbor_width": -1}, {"neighbor_width": 8, "neighbor_depth": 0}])
def test_bad_settings(settings):
    vectors = layers.vectors_as_params(layers.random_vectors(1))
    with pytest.raises(ValueError, match=r"neighbor_width = .* neighbor_depth = .* expected .* set neighbor_width = 0"):
        build_span_scorer(vectors, **settings)


def test_labels_are_added_to_a_trained_component():
    nlp = trained({"model": {"hidden_width": 16, "neighbor_width": 8, "neighbor_depth": 1}}, steps=2)
    pipe = nlp.get_pipe("nested_ner")
    doc = make_examples(nlp)[0].predicted
    before = pipe.scores([doc]).packed().values
    pipe.add_label("NEW")
    after = pipe.scores([doc]).packed().values
    np.testing.assert_allclose(after[:-1], before, rtol=1e-5, atol=1e-5)
    assert len(after) == len(before) + 1
