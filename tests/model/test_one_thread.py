"""Matrix products on one thread."""

from threading import Barrier, Thread

import numpy as np
import pytest
from helpers import blas_threads
from threadpoolctl import threadpool_limits

from spacy_nested_ner.model import additive, one_thread


@pytest.fixture(autouse=True)
def two_threads():
    with threadpool_limits(2, user_api="blas"):
        if set(blas_threads()) != {2}:
            pytest.skip("the BLAS of NumPy has one thread here")
        yield


def test_the_number_is_as_before_afterward():
    context = one_thread.OneThread()
    with context:
        assert set(blas_threads()) == {1}
        with context:
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}
    assert set(blas_threads()) == {2}
    with pytest.raises(KeyError), context:
        raise KeyError
    assert set(blas_threads()) == {2}


def test_several_threads_at_once():
    """The first to leave must not give back the threads that the others do without, nor the last keep them."""
    context, together, seen = one_thread.OneThread(), Barrier(4), []

    def run(number):
        with context:
            together.wait()
            seen.append(set(blas_threads()))
            if number:
                together.wait()
        if not number:
            seen.append(set(blas_threads()))
            together.wait()

    threads = [Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [{1}] * 5
    assert set(blas_threads()) == {2}


def test_the_span_scorer_uses_it(monkeypatch):
    seen = []

    class Vectors(np.ndarray):
        def __matmul__(self, other):
            seen.append(set(blas_threads()))
            return np.asarray(self) @ other

    vectors = np.ones((3, 4), dtype="float32").view(Vectors)
    model = additive.additive_span_scorer(6, nI=4, nO=2)
    model.initialize()
    model.predict((vectors, additive.SpanLayout([3])))
    assert seen == [{1}]
