"""The biaffine span scorer: against its definition, and its gradients against finite differences."""

import layers
import numpy as np
import pytest

from spacy_nested_ner.decoders import SpanLayout
from spacy_nested_ner.model.biaffine import biaffine_span_scorer, resize


def definition(model, vectors, i, j):
    projected = np.maximum(vectors @ model.get_param("tokens_W").T + model.get_param("tokens_b"), 0)
    left, right, plain_left, plain_right = np.split(projected, 4, axis=1)
    U, W = model.get_param("U"), model.get_param("W")
    labeled = [left[i] @ U[t] @ right[j] + W[t] @ np.concatenate([left[i], right[j]]) for t in range(layers.LABELS)]
    plain = plain_left[i] @ model.get_param("unlabelled_U") @ plain_right[j]
    plain += model.get_param("unlabelled_W")[0] @ np.concatenate([plain_left[i], plain_right[j]])
    return np.array(labeled) + plain + model.get_param("b")


@pytest.fixture
def scorer():
    return layers.with_random_params(layers.initialized(biaffine_span_scorer(4, dropout=0.0)))


@pytest.mark.parametrize("limit", [1, 4, 80, None])
def test_scores_are_as_defined(scorer, limit):
    layers.check_scores(scorer, definition, limit)


@pytest.mark.parametrize("limit", [3, None])
def test_gradients_are_those_of_the_definition(scorer, limit):
    layers.check_gradients(scorer, definition, limit)


def test_dropout_of_the_projections_is_for_training_only():
    scorer = layers.initialized(biaffine_span_scorer(50, dropout=0.5))
    layout = SpanLayout(layers.LENGTHS, 4)
    X = layers.random_vectors(layout.n_tokens), layout
    scorer.set_param("W", np.ones_like(scorer.get_param("W")))
    one, two = scorer.predict(X), scorer.predict(X)
    np.testing.assert_array_equal(one, two)
    assert not np.allclose(scorer.begin_update(X)[0], one)


def test_resizing_keeps_what_was_learned(scorer):
    layers.check_resize(scorer, resize)


def test_no_tokens(scorer):
    layers.check_no_tokens(scorer)


def test_an_untrained_model_finds_nothing():
    layers.check_untrained(biaffine_span_scorer(4, 0.1))
