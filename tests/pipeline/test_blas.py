"""The callback that lets a pipeline multiply with NumPy's BLAS."""

from threading import Thread

import numpy as np
import pytest
import spacy
from helpers import blas_threads
from nested_examples import SENTENCES, TINY, found, make_examples, train
from spacy.lang.en import English
from spacy.util import registry
from thinc.api import Linear, NumpyOps, get_current_ops

from spacy_nested_ner.pipeline.blas import NumpyBlasOps, use_numpy_blas

CALLBACK = {"@callbacks": "spacy-nested-ner.use_numpy_blas.v1"}


def all_ops(nlp):
    """The operations of all layers."""
    return [layer.ops for _, component in nlp.components for layer in component.model.walk()]


def multiplies_with_numpy(nlp):
    return {ops.use_blis for ops in all_ops(nlp)} == {False}


def make_nlp(callback):
    config = {
        "nlp": {"lang": "en", "pipeline": ["nested_ner"], "after_pipeline_creation": callback},
        "components": {"nested_ner": {"factory": "nested_ner", **TINY}},
    }
    return English.from_config(config)


def test_it_is_registered():
    assert registry.resolve({"callback": CALLBACK}) == {"callback": use_numpy_blas}


def test_a_config_with_it_trains_saves_and_loads(tmp_path):
    nlp = make_nlp(CALLBACK)
    train(nlp, make_examples(nlp), steps=2)
    assert multiplies_with_numpy(nlp)
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert multiplies_with_numpy(loaded)
    assert loaded.config["nlp"]["after_pipeline_creation"] == CALLBACK


def test_a_saved_pipeline_can_be_loaded_with_it_and_without(tmp_path):
    nlp = make_nlp(None)
    nlp.initialize(lambda: make_examples(nlp))
    nlp.to_disk(tmp_path)
    assert not multiplies_with_numpy(spacy.load(tmp_path))
    assert multiplies_with_numpy(spacy.load(tmp_path, config={"nlp": {"after_pipeline_creation": CALLBACK}}))


def test_other_pipelines_keep_what_they_have():
    make_nlp(CALLBACK)
    assert all(ops.use_blis for ops in all_ops(make_nlp(None)))
    assert get_current_ops().use_blis


def test_before_creation_it_is_for_all_that_follows():
    """In a thread of its own, whose operations end with it."""
    found = []

    def run():
        config = {"nlp": {"lang": "en", "before_creation": CALLBACK}}
        English.from_config(config)
        found.append(multiplies_with_numpy(make_nlp(None)))

    thread = Thread(target=run)
    thread.start()
    thread.join()
    assert found == [True]
    assert get_current_ops().use_blis


def test_products_use_one_thread(monkeypatch):
    seen = []
    monkeypatch.setattr(NumpyOps, "gemm", lambda self, x, y, **settings: seen.append(blas_threads()) or x)
    before = blas_threads()
    ops = NumpyBlasOps()
    ops.gemm(ops.alloc2f(2, 2), ops.alloc2f(2, 2))
    assert set(*seen) <= {1}
    assert blas_threads() == before


def test_layers_on_other_devices_are_left_alone():
    class OtherOps(NumpyOps):
        """As those of a GPU, or of Apple's matrix products."""

    nlp = make_nlp(None)
    model = nlp.get_pipe("nested_ner").model
    other = OtherOps()
    model.get_ref("tok2vec").ops = other
    use_numpy_blas(nlp)
    assert model.get_ref("tok2vec").ops is other
    assert not model.ops.use_blis


def test_components_without_a_model_are_no_problem():
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    assert use_numpy_blas(nlp) is nlp


def test_disabled_components_are_switched_too():
    nlp = make_nlp(None)
    nlp.disable_pipe("nested_ner")
    assert multiplies_with_numpy(use_numpy_blas(nlp))


def test_a_layer_computes_the_same():
    layer = Linear(96, 288)
    layer.initialize()
    X = np.random.default_rng(0).standard_normal((50, 288)).astype("float32")
    with_blis = layer.predict(X)
    layer.ops = NumpyOps(use_blis=False)
    np.testing.assert_allclose(layer.predict(X), with_blis, atol=1e-4)


@pytest.mark.parametrize("processes", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_predictions_are_the_same(nlp, tmp_path, processes):
    """Also in the processes that `nlp.pipe` starts."""
    nlp.to_disk(tmp_path)
    other = use_numpy_blas(spacy.load(tmp_path))
    texts = [text for text, _ in SENTENCES]
    for doc, same in zip(nlp.pipe(texts), other.pipe(texts, n_process=processes)):
        assert found(same) == found(doc)
        np.testing.assert_allclose(same.spans["sc"].attrs["scores"], doc.spans["sc"].attrs["scores"], atol=1e-4)
