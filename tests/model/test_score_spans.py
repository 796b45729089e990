"""The network of the component: how encoder and scorer are put together."""

import layers
import numpy as np
import pytest
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model

from spacy_nested_ner.decoders import SpanLayout
from spacy_nested_ner.model.additive import additive_span_scorer, resize
from spacy_nested_ner.model.score_spans import score_spans

LENGTHS = [4, 0, 12]
# Segments need not be docs.
LAYOUT = SpanLayout([3, 1, 12], 3)


@pytest.fixture
def docs():
    vocab = Vocab()
    return [Doc(vocab, words=["x"] * n) for n in LENGTHS]


def make(as_list=True):
    encoder = layers.vectors_as_params(layers.random_vectors(sum(LENGTHS)), as_list)
    return score_spans(encoder, additive_span_scorer(6), resize)


def initialized(docs, as_list=True):
    model = make(as_list)
    model.initialize(X=(docs, LAYOUT), Y=np.zeros((layers.LABELS, LAYOUT.n_spans), dtype="float32"))
    layers.with_random_params(model.get_ref("scorer"))
    return model


@pytest.mark.parametrize("as_list", [True, False])
def test_scores_and_gradients_are_those_of_the_scorer(docs, as_list):
    model = initialized(docs, as_list)
    encoder, scorer = model.layers
    scores, backprop = model.begin_update((docs, LAYOUT))
    expected, backprop_scorer = scorer.begin_update((encoder.get_param("X"), LAYOUT))
    np.testing.assert_array_equal(scores, expected)
    d_scores = layers.random_vectors(layers.LABELS, width=LAYOUT.n_spans)
    backprop(d_scores)
    np.testing.assert_array_equal(encoder.get_grad("X"), backprop_scorer(d_scores)[0])


@pytest.mark.parametrize("as_list", [True, False])
def test_vectors_are_flattened_at_most_once(docs, as_list, monkeypatch):
    model = initialized(docs, as_list)
    calls = []
    for name in ("flatten", "unflatten"):
        original = getattr(model.ops, name)
        monkeypatch.setattr(
            model.ops, name, lambda *args, name=name, original=original: calls.append(name) or original(*args)
        )
    scores, backprop = model.begin_update((docs, LAYOUT))
    backprop(scores)
    assert calls == (["flatten", "unflatten"] if as_list else [])


def test_docs_without_a_layout_are_one_segment_each(docs):
    """That is how `spacy debug model` calls the network."""
    model = initialized(docs)
    scores, backprop = model.begin_update(docs)
    np.testing.assert_array_equal(scores, model.predict((docs, SpanLayout(LENGTHS, 10))))
    backprop(scores)


def test_without_data_the_width_is_that_of_the_encoder():
    model = make()
    model.get_ref("scorer").set_dim("nO", 2)
    model.initialize()
    assert model.get_ref("scorer").get_dim("nI") == layers.WIDTH
    assert model.get_dim("nO") == 2


def test_the_width_may_be_unknown_before_the_encoder_has_run(docs):
    """As with listeners of a transformer."""
    model = score_spans(
        Model("late", lambda model, X, is_train: ([np.ones((len(x), 9), "f") for x in X], None)),
        additive_span_scorer(6, nO=2),
        resize,
    )
    model.initialize(X=(docs, LAYOUT))
    assert model.get_ref("scorer").get_dim("nI") == 9


def test_more_labels_before_and_after_initialization(docs):
    model = make()
    model = model.attrs["resize_output"](model, 2)
    assert not model.get_ref("scorer").has_param("W")
    model.initialize(X=(docs, LAYOUT))
    layers.with_random_params(model.get_ref("scorer"))
    before = model.predict((docs, LAYOUT))
    model = model.attrs["resize_output"](model, 4)
    after = model.predict((docs, LAYOUT))
    assert model.layers == [model.get_ref("encoder"), model.get_ref("scorer")]
    assert model.get_dim("nO") == len(after) == 4
    np.testing.assert_allclose(after[:2], before, rtol=1e-5)
