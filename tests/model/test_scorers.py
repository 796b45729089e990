"""The span scorers: against their definitions, and their gradients against finite differences."""

import numpy as np
import pytest
from thinc.api import NumpyOps, use_ops

from spacy_nested_ner.decoders import SpanLayout
from spacy_nested_ner.model import additive, biaffine

LENGTHS = [7, 1, 0, 3, 90]
WIDTH, LABELS = 5, 3


def make(name):
    model = additive.additive_span_scorer(6) if name == "additive" else biaffine.biaffine_span_scorer(4, dropout=0.0)
    vectors, segments = inputs(4)
    model.initialize(X=(vectors, segments), Y=np.zeros((LABELS, segments.n_spans), dtype="float32"))
    random = np.random.default_rng(1)
    for param in model.param_names:
        model.set_param(param, random.normal(scale=0.5, size=model.get_param(param).shape).astype("float32"))
    return model


def inputs(limit):
    segments = SpanLayout(LENGTHS, limit)
    return np.random.default_rng(0).normal(size=(segments.n_tokens, WIDTH)).astype("float32"), segments


def additive_by_definition(model, vectors, i, j):
    nH = model.get_dim("nH")
    A, B, C, D = np.split(model.get_param("tokens_W"), 4)
    inside = vectors[i : j + 1]
    gates = 1 / (1 + np.exp(-(inside @ D.T + model.get_param("gates_b")))) + 1 / 16
    content = (gates * (inside @ C.T)).sum(axis=0) / gates.sum(axis=0)
    length = model.get_param("lengths_E")[additive._length_row(j - i + 1)]
    hidden = A @ vectors[i] + B @ vectors[j] + content + length + model.get_param("hidden_b")
    assert hidden.shape == (nH,)
    return model.get_param("W") @ np.maximum(hidden, 0) + model.get_param("b")


def biaffine_by_definition(model, vectors, i, j):
    projected = np.maximum(vectors @ model.get_param("tokens_W").T + model.get_param("tokens_b"), 0)
    left, right, plain_left, plain_right = np.split(projected, 4, axis=1)
    U, W = model.get_param("U"), model.get_param("W")
    labelled = [left[i] @ U[t] @ right[j] + W[t] @ np.concatenate([left[i], right[j]]) for t in range(LABELS)]
    plain = plain_left[i] @ model.get_param("unlabelled_U") @ plain_right[j]
    plain += model.get_param("unlabelled_W")[0] @ np.concatenate([plain_left[i], plain_right[j]])
    return np.array(labelled) + plain + model.get_param("b")


DEFINITIONS = {"additive": additive_by_definition, "biaffine": biaffine_by_definition}


@pytest.mark.parametrize("name", DEFINITIONS)
@pytest.mark.parametrize("limit", [1, 4, 80, None])
def test_scores_are_as_defined(name, limit):
    model = make(name)
    vectors, segments = inputs(limit)
    scores = model.predict((vectors, segments))
    assert scores.shape == (LABELS, segments.n_spans)
    cell = offset = 0
    for n in LENGTHS:
        starts, ends = SpanLayout([n], limit).starts_and_ends
        for k in range(0, len(starts), 1 if n < 50 else 97):
            expected = DEFINITIONS[name](model, vectors, offset + int(starts[k]), offset + int(ends[k]))
            np.testing.assert_allclose(scores[:, cell + k], expected, rtol=2e-4, atol=2e-4)
        cell += len(starts)
        offset += n


class InDoubles:
    """The parameters of a model with all the digits that finite differences need."""

    def __init__(self, model):
        self.params = {name: model.get_param(name).astype("float64") for name in model.param_names}
        self.get_param, self.get_dim = self.params.__getitem__, model.get_dim


@pytest.mark.parametrize("name", DEFINITIONS)
@pytest.mark.parametrize("limit", [3, None])
def test_gradients_are_those_of_the_definition(name, limit):
    model = make(name)
    segments = SpanLayout([7, 1, 0, 12], limit)
    random = np.random.default_rng(2)
    vectors = random.normal(size=(segments.n_tokens, WIDTH)).astype("float32")
    d_scores = random.normal(size=(LABELS, segments.n_spans)).astype("float32")
    _, backprop = model.begin_update((vectors, segments))
    d_vectors, _ = backprop(d_scores)

    doubles, tokens = InDoubles(model), vectors.astype("float64")
    spans = list(zip(*(places.tolist() for places in segments.starts_and_ends)))

    def value():
        return sum(DEFINITIONS[name](doubles, tokens, i, j) @ d_scores[:, k] for k, (i, j) in enumerate(spans))

    checks = [("vectors", tokens, d_vectors)]
    checks += [(param, doubles.params[param], model.get_grad(param)) for param in model.param_names]
    for what, array, gradient in checks:
        flat = array.reshape(-1)
        for place in random.choice(flat.size, size=min(5, flat.size), replace=False):
            before, ends = flat[place], []
            for step in (1e-6, -1e-6):
                flat[place] = before + step
                ends.append(value())
            flat[place] = before
            estimate = (ends[0] - ends[1]) / 2e-6
            assert estimate == pytest.approx(gradient.reshape(-1)[place], rel=1e-3, abs=1e-3), what


def test_lengths_share_embeddings_by_doublings():
    rows = [additive._length_row(length) for length in range(1, 3000)]
    assert rows[:16] == list(range(16))
    assert rows == sorted(rows)
    assert len({additive._length_row(n) for n in (17, 24, 32, 48, 64, 96)}) == 6
    assert additive._length_row(17) == additive._length_row(23)
    assert max(rows) == additive._N_LENGTHS - 1


def test_an_untrained_model_finds_nothing():
    vectors, segments = inputs(4)
    for model in (additive.additive_span_scorer(6), biaffine.biaffine_span_scorer(4, 0.1)):
        model.initialize(X=(vectors, segments), Y=np.zeros((LABELS, segments.n_spans), dtype="float32"))
        assert (model.predict((vectors, segments)) < 0).all()


@pytest.mark.parametrize("name", DEFINITIONS)
def test_resizing_keeps_what_was_learned(name):
    model = make(name)
    vectors, segments = inputs(4)
    before = model.predict((vectors, segments))
    model = {"additive": additive, "biaffine": biaffine}[name].resize(model, LABELS + 2)
    after = model.predict((vectors, segments))
    np.testing.assert_allclose(after[:LABELS], before, rtol=1e-5)
    assert after.shape[0] == LABELS + 2
    _, backprop = model.begin_update((vectors, segments))
    backprop(np.ones_like(after))


def test_dropout_of_the_projections_is_for_training_only():
    model = biaffine.biaffine_span_scorer(50, dropout=0.5)
    vectors, segments = inputs(4)
    model.initialize(X=(vectors, segments), Y=np.zeros((LABELS, segments.n_spans), dtype="float32"))
    model.set_param("W", np.ones_like(model.get_param("W")))
    one, two = model.predict((vectors, segments)), model.predict((vectors, segments))
    np.testing.assert_array_equal(one, two)
    assert not np.allclose(model.begin_update((vectors, segments))[0], one)


def test_no_tokens():
    with use_ops("numpy"):
        for name in DEFINITIONS:
            model = make(name)
            segments = SpanLayout([], 4)
            scores, backprop = model.begin_update((NumpyOps().alloc2f(0, WIDTH), segments))
            assert scores.shape == (LABELS, 0)
            assert backprop(scores)[0].shape == (0, WIDTH)
