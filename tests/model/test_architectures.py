"""What configs can name: found by spaCy, and of the structure that saved models have."""

import layers
import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from thinc.api import Model

from spacy_nested_ner.decoders import SpanLayout
from spacy_nested_ner.model import architectures

# Everything that `Model.from_bytes` compares or looks up by name, in the order of `Model.walk`.
SAVED = {
    "SpanScorer": [
        ("score_spans", ("nO",), (), {}),
        ("with_words", ("nO",), ("E",), {"width": 64, "rows": 20000, "same_words": True}),
        (
            "additive_span_scorer",
            ("nI", "nH", "nO"),
            ("tokens_W", "gates_b", "hidden_b", "lengths_E", "W", "b"),
            {"gated": True, "start_bias": -5.0},
        ),
        ("vectors", ("nO",), ("X",), {}),
    ],
    "BiaffineSpanScorer": [
        ("score_spans", ("nO",), (), {}),
        ("vectors", ("nO",), ("X",), {}),
        (
            "biaffine_span_scorer",
            ("nI", "nP", "nO"),
            ("tokens_W", "tokens_b", "U", "W", "b", "unlabelled_U", "unlabelled_W"),
            {"start_bias": -5.0, "projection_dropout": 0.1},
        ),
    ],
}


def encoder(n_tokens=0):
    return layers.vectors_as_params(layers.random_vectors(n_tokens))


@pytest.mark.parametrize("name", SAVED)
def test_structure_is_that_of_saved_models(name):
    build = spacy.registry.architectures.get(f"spacy-nested-ner.{name}.v1")
    found = [
        (
            node.name,
            node.dim_names,
            node.param_names,
            {key: value for key, value in node.attrs.items() if not callable(value)},
        )
        for node in build(encoder()).walk()
    ]
    assert found == SAVED[name]


@pytest.mark.parametrize("name", SAVED)
def test_spacy_finds_the_listener_in_the_model(name):
    # `spacy debug model` and others ask for the reference tok2vec.
    given = encoder()
    model = spacy.registry.architectures.get(f"spacy-nested-ner.{name}.v1")(given)
    assert model.get_ref("tok2vec") is given


def test_the_papers_network_learns():
    pytest.importorskip("torch.nn")  # tests/torch would do for "torch"
    docs = [Doc(spacy.blank("en").vocab, words=["a"] * n) for n in (4, 6)]
    given = encoder(10)
    model = architectures.build_biaffine_span_scorer(architectures.build_bilstm_encoder(given, width=4, depth=1))
    assert model.get_ref("tok2vec") is given
    layout = SpanLayout([4, 6])
    model.initialize(X=(docs, layout), Y=np.zeros((2, layout.n_spans), dtype="float32"))
    layers.with_random_params(model.get_ref("scorer"))
    scores, backprop = model.begin_update((docs, layout))
    assert scores.shape == (2, layout.n_spans)
    backprop(np.ones_like(scores))
    assert given.get_grad("X").any()


def test_without_words_the_encoder_is_the_tok2vec():
    given = encoder()
    model = architectures.build_span_scorer(given, subword_width=0, same_words=False)
    assert isinstance(model, Model)
    assert model.layers[0] is given
