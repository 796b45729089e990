"""The additive span scorer: against its definition, and its gradients against finite differences."""

import layers
import numpy as np
import pytest

from spacy_nested_ner.decoders import SpanLayout
from spacy_nested_ner.model._lengths import length_row
from spacy_nested_ner.model.additive import additive_span_scorer, resize


def definition(model, vectors, i, j):
    A, B, C, D = np.split(model.get_param("tokens_W"), 4)
    inside = vectors[i : j + 1]
    gates = 1 / (1 + np.exp(-(inside @ D.T + model.get_param("gates_b")))) + 1 / 16
    content = (gates * (inside @ C.T)).sum(axis=0) / gates.sum(axis=0)
    length = model.get_param("lengths_E")[length_row(j - i + 1)]
    hidden = A @ vectors[i] + B @ vectors[j] + content + length + model.get_param("hidden_b")
    assert hidden.shape == (model.get_dim("nH"),)
    return model.get_param("W") @ np.maximum(hidden, 0) + model.get_param("b")


@pytest.fixture
def scorer():
    return layers.with_random_params(layers.initialized(additive_span_scorer(6)))


@pytest.mark.parametrize("limit", [1, 4, 80, None])
def test_scores_are_as_defined(scorer, limit):
    layers.check_scores(scorer, definition, limit)


@pytest.mark.parametrize("limit", [3, None])
def test_gradients_are_those_of_the_definition(scorer, limit):
    layers.check_gradients(scorer, definition, limit)


def test_without_gates_the_content_is_the_plain_mean_and_stays_it():
    scorer = layers.initialized(additive_span_scorer(6, gated=False))
    scorer.set_param("W", np.ones_like(scorer.get_param("W")))
    layout = SpanLayout([7, 12], 5)
    scores, backprop = scorer.begin_update((layers.random_vectors(layout.n_tokens), layout))
    backprop(np.ones_like(scores))
    *others, gates = np.split(scorer.get_grad("tokens_W"), 4)
    assert all(gradient.any() for gradient in others)
    assert not gates.any()
    assert not scorer.get_grad("gates_b").any()


def test_resizing_keeps_what_was_learned(scorer):
    layers.check_resize(scorer, resize)


def test_no_tokens(scorer):
    layers.check_no_tokens(scorer)


def test_an_untrained_model_finds_nothing():
    layers.check_untrained(additive_span_scorer(6))
