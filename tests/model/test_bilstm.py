"""The paper's encoder: docs do not affect each other, gradients are right, and errors say what to do."""

import numpy as np
import pytest
from thinc.api import Model, fix_random_seed, set_dropout_rate

pytest.importorskip("torch.nn")  # tests/torch would do for "torch"


from spacy_nested_ner.model import bilstm
from spacy_nested_ner.model.bilstm import bilstm_encoder

LENGTHS = [4, 0, 12, 1]


@pytest.fixture
def docs():
    return [np.random.default_rng(n).normal(size=(n, 6)).astype("float32") for n in LENGTHS]


def vectors(width=6):
    """A tok2vec that gives what it is called with."""
    return Model("vectors", lambda model, X, is_train: (X, lambda dY: dY), dims={"nO": width})


def make(dropout=0.0, depth=3):
    fix_random_seed(0)
    return bilstm_encoder(vectors(), width=5, depth=depth, dropout=dropout, input_width=None)


@pytest.mark.slow
def test_vectors_do_not_depend_on_the_other_docs(docs):
    model = make()
    together = model.predict(docs)
    assert [len(vectors) for vectors in together] == LENGTHS
    for doc, vectors in zip(docs, together):
        if len(doc):
            np.testing.assert_allclose(model.predict([doc])[0], vectors, atol=1e-6)
    assert together[0].shape[1] == model.get_dim("nO") == 10


@pytest.mark.slow
def test_gradients_are_those_of_the_definition(docs):
    model = make(depth=2)
    Y, backprop = model.begin_update(docs)
    random = np.random.default_rng(7)
    directions = [random.normal(size=y.shape).astype("float32") for y in Y]
    gradients = backprop(directions)
    step = 1e-2
    for number, token in [(0, 0), (0, 3), (2, 5), (3, 0)]:
        moved = [doc.copy() for doc in docs]
        values = []
        for sign in (1, -1):
            moved[number][token, 2] = docs[number][token, 2] + sign * step
            values.append(sum((y * d).sum(dtype="float64") for y, d in zip(model.predict(moved), directions)))
        assert gradients[number][token, 2] == pytest.approx((values[0] - values[1]) / (2 * step), rel=2e-2, abs=1e-4)


@pytest.mark.parametrize("depth", [1, 2])
def test_dropout_is_that_of_the_setting_and_for_training_only(docs, depth):
    model = make(dropout=0.5, depth=depth)
    # What an update of the component does.
    set_dropout_rate(model, 0.0)
    np.testing.assert_array_equal(model.predict(docs)[2], model.predict(docs)[2])
    dropped = model.begin_update(docs)[0][2]
    assert 0.2 < (dropped == 0).mean() < 0.8
    assert model.predict(docs)[2].all()


def test_width_of_the_input_must_be_known(docs):
    settings = {"width": 5, "depth": 1, "dropout": 0.0}
    with pytest.raises(
        ValueError, match=r"input_width of .* is null, and the layer 'vectors' does not know .* set input"
    ):
        bilstm_encoder(vectors(width=None), input_width=None, **settings)
    assert bilstm_encoder(vectors(width=None), input_width=6, **settings).predict(docs)[0].shape == (4, 10)


def test_without_torch_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(bilstm, "has_torch", False)
    with pytest.raises(
        ImportError, match=r"BiLSTMEncoder.v1 needs PyTorch: pip install 'spacy-nested-ner\[transformers"
    ):
        make()
