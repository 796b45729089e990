"""What tests of layers need: inputs, and comparisons of span scorers with their definitions."""

import numpy as np
import pytest
from thinc.api import Model

from spacy_nested_ner.decoders import SpanLayout
from spacy_nested_ner.model._types import as_token_vectors

# Vectors and labels of the span scorers that are tested.
WIDTH, LABELS = 5, 3
LENGTHS = [7, 1, 0, 3, 90]


def random_vectors(n_tokens, seed=0, width=WIDTH):
    return np.random.default_rng(seed).normal(size=(n_tokens, width)).astype("float32")


def vectors_as_params(vectors, as_list=True):
    """An encoder whose vectors are its parameter X. It takes docs, and gives one array per doc or vectors of all."""

    def forward(model, docs, is_train):
        X = model.get_param("X")
        cuts = np.cumsum([len(doc) for doc in docs])[:-1]

        def backprop(d_vectors):
            model.inc_grad("X", np.concatenate(d_vectors) if as_list else d_vectors.own)
            return docs

        return np.split(X, cuts) if as_list else as_token_vectors(model.ops, X), backprop

    return Model("vectors", forward, params={"X": vectors}, dims={"nO": vectors.shape[1]})


def initialized(scorer):
    """A span scorer, initialized as in training."""
    layout = SpanLayout(LENGTHS, 4)
    Y = np.zeros((LABELS, layout.n_spans), dtype="float32")
    scorer.initialize(X=(random_vectors(layout.n_tokens), layout), Y=Y)
    return scorer


def with_random_params(model):
    random = np.random.default_rng(1)
    for param in model.param_names:
        model.set_param(param, random.normal(scale=0.5, size=model.get_param(param).shape).astype("float32"))
    return model


def check_scores(scorer, definition, limit):
    """Compare scores with `definition(scorer, vectors, first token, last token)`."""
    layout = SpanLayout(LENGTHS, limit)
    vectors = random_vectors(layout.n_tokens)
    scores = scorer.predict((vectors, layout))
    assert scores.shape == (LABELS, layout.n_spans)
    cell = offset = 0
    for n in LENGTHS:
        starts, ends = SpanLayout([n], limit).starts_and_ends
        for k in range(0, len(starts), 1 if n < 50 else 97):
            expected = definition(scorer, vectors, offset + int(starts[k]), offset + int(ends[k]))
            np.testing.assert_allclose(scores[:, cell + k], expected, rtol=2e-4, atol=2e-4)
        cell += len(starts)
        offset += n


class InDoubles:
    """The parameters of a model with all the digits that finite differences need."""

    def __init__(self, model):
        self.params = {name: model.get_param(name).astype("float64") for name in model.param_names}
        self.get_param, self.get_dim = self.params.__getitem__, model.get_dim


def check_gradients(scorer, definition, limit):
    """Compare the gradients of vectors and parameters with finite differences of the definition."""
    layout = SpanLayout([7, 1, 0, 12], limit)
    random = np.random.default_rng(2)
    vectors = random.normal(size=(layout.n_tokens, WIDTH)).astype("float32")
    d_scores = random.normal(size=(LABELS, layout.n_spans)).astype("float32")
    _, backprop = scorer.begin_update((vectors, layout))
    d_vectors, _ = backprop(d_scores)

    doubles, tokens = InDoubles(scorer), vectors.astype("float64")
    spans = list(zip(*(places.tolist() for places in layout.starts_and_ends)))

    def value():
        return sum(definition(doubles, tokens, i, j) @ d_scores[:, k] for k, (i, j) in enumerate(spans))

    checks = [("vectors", tokens, d_vectors)]
    checks += [(param, doubles.params[param], scorer.get_grad(param)) for param in scorer.param_names]
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


def check_resize(scorer, resize):
    """The labels that a scorer has keep their scores, and all labels can be trained."""
    layout = SpanLayout(LENGTHS, 4)
    vectors = random_vectors(layout.n_tokens)
    before = scorer.predict((vectors, layout))
    larger = resize(scorer, LABELS + 2)
    after, backprop = larger.begin_update((vectors, layout))
    np.testing.assert_allclose(larger.predict((vectors, layout))[:LABELS], before, rtol=1e-5)
    assert after.shape[0] == LABELS + 2
    backprop(np.ones_like(after))
    assert larger.get_grad("b")[LABELS:].all()
    assert larger.attrs == scorer.attrs


def check_no_tokens(scorer):
    scores, backprop = scorer.begin_update((random_vectors(0), SpanLayout([], 4)))
    assert scores.shape == (LABELS, 0)
    assert backprop(scores)[0].shape == (0, WIDTH)


def check_untrained(scorer):
    """An untrained scorer finds nothing."""
    layout = SpanLayout(LENGTHS, 4)
    assert (initialized(scorer).predict((random_vectors(layout.n_tokens), layout)) < 0).all()
