"""The compiled hidden layer of spans against its twin, and what it refuses."""

import os
import subprocess
import sys
from pathlib import Path
from threading import Thread

import layers
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from sanitized import run_sanitized

from spacy_nested_ner.decoders import SpanLayout
from spacy_nested_ner.model import additive
from spacy_nested_ner.model._kernels.additive import FusedSpans
from spacy_nested_ner.model._lengths import N_ROWS
from spacy_nested_ner.model._spans_by_length import SpansByLength
from spacy_nested_ner.model._types import TokenVectors


def inputs(lengths, *, hidden=6, labels=3, words=4, seed=0):
    random = np.random.default_rng(seed)

    def normal(*shape):
        return random.normal(size=shape).astype("float32")

    n = sum(lengths)
    numbers = random.integers(0, words, size=n).astype("int32")
    projected = TokenVectors(normal(n, 4 * hidden), normal(words, 4 * hidden), numbers)
    gates = random.uniform(1 / 16, 17 / 16, size=(n, hidden)).astype("float32")
    return projected, gates, normal(N_ROWS, hidden), normal(labels, hidden), normal(labels)


def fused(projected, gates, biases, W, b, layout):
    rows = additive.length_rows(layout.longest_span)
    lengths = np.array(layout.lengths, dtype=np.intp)
    return FusedSpans(*projected, gates, biases, rows, W, b, lengths, layout.longest_span)


def check_against_twin(lengths, limit, **sizes):
    layout = SpanLayout(lengths, limit)
    given = inputs(lengths, **sizes)
    kernel, twin = fused(*given, layout), SpansByLength(*given, layout, xp=np)
    scores = kernel.scores()
    assert scores.shape == (len(given[-1]), layout.n_spans)
    assert scores.dtype == "float32"
    np.testing.assert_allclose(scores, twin.scores(), rtol=1e-4, atol=1e-4)
    d_scores = np.random.default_rng(1).normal(size=scores.shape).astype("float32")
    for ours, theirs in zip(kernel.gradients(d_scores), twin.gradients(d_scores), strict=True):
        scale = max(1.0, float(np.abs(theirs).max(initial=0)))
        np.testing.assert_allclose(ours, theirs, atol=2e-4 * scale)


@settings(max_examples=60, deadline=None)
@given(
    lengths=some.lists(some.integers(0, 90), max_size=6),
    limit=some.one_of(some.none(), some.integers(1, 100)),
    hidden=some.integers(1, 20),
    labels=some.integers(1, 30),
    words=some.integers(1, 9),
)
def test_scores_and_gradients_are_those_of_the_twin(lengths, limit, hidden, labels, words):
    check_against_twin(lengths, limit, hidden=hidden, labels=labels, words=words)


@pytest.mark.parametrize(
    "lengths, limit, labels",
    [
        ([64], 1, 1),
        ([64, 64], 64, 6),
        ([63, 65], 8, 7),
        ([1] * 200, 5, 2),
        ([300], None, 12),
        ([90], 21, 17),
        ([129], 40, 200),
    ],
)
def test_borders_of_blocks_lanes_and_labels(lengths, limit, labels):
    check_against_twin(lengths, limit, hidden=128, labels=labels)


# Turn AVX2 off, or AVX-512 only.
OTHER_INSTRUCTIONS = [{"SPACY_NESTED_NER_PLAIN": "1"}, {"SPACY_NESTED_NER_NO_AVX512": "1"}]


@pytest.mark.parametrize("setting", OTHER_INSTRUCTIONS)
def test_other_instruction_sets_give_the_same(setting):
    folder = Path(__file__).parent
    program = (
        "import test_spans; test_spans.check_against_twin([70, 3, 0, 20], 30, hidden=21, labels=9); "
        "test_spans.check_against_twin([70, 3, 0, 20], 30, hidden=21, labels=21)"
    )
    paths = os.pathsep.join([str(folder), str(folder.parent)])
    subprocess.run([sys.executable, "-c", program], env={**os.environ, **setting, "PYTHONPATH": paths}, check=True)


def test_other_devices_use_the_twin(monkeypatch):
    """Seen from the layer: both give the same scores and gradients."""
    scorer = layers.with_random_params(layers.initialized(additive.additive_span_scorer(6)))
    layout = SpanLayout(layers.LENGTHS, 9)
    vectors = layers.random_vectors(layout.n_tokens)
    results = []
    for use_twin in (False, True):
        if use_twin:

            def of_twin(model, projected, gates, biases, layout):
                W, b = model.get_param("W"), model.get_param("b")
                return SpansByLength(projected, gates, biases, W, b, layout, xp=np)

            monkeypatch.setattr(additive, "_spans", of_twin)
        scores, backprop = scorer.begin_update((vectors, layout))
        d_vectors, _ = backprop(scores)
        gradients = [scorer.get_grad(name) for name in scorer.param_names]
        results.append([scores, d_vectors, *map(np.array, gradients)])
        for name in scorer.param_names:
            scorer.set_grad(name, scorer.get_grad(name) * 0)
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-3)


def test_many_threads_at_once():
    layout = SpanLayout([50, 7, 120], 20)
    spans = fused(*inputs(layout.lengths), layout)
    expected = spans.scores()
    found = []
    threads = [Thread(target=lambda: found.append(spans.scores())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert all((scores == expected).all() for scores in found)


LAYOUT = SpanLayout([4, 3], 3)


def changed(**changes):
    projected, gates, biases, W, b = inputs(LAYOUT.lengths)
    arguments = {
        "own": projected.own,
        "shared": projected.shared,
        "numbers": projected.numbers,
        "gates": gates,
        "biases": biases,
        "rows": additive.length_rows(3),
        "W": W,
        "b": b,
        "lengths": np.array([4, 3], dtype=np.intp),
        "limit": 3,
    }
    return FusedSpans(**{**arguments, **{name: change(arguments[name]) for name, change in changes.items()}})


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"lengths": lambda x: x + 1}, r"segment 1 has 4 tokens; 2 are left of 7"),
        ({"lengths": lambda x: x - 5}, r"segment 0 has -1 tokens"),
        ({"lengths": lambda x: x[:1].copy()}, r"the segments have 4 tokens; got 7 vectors"),
        ({"gates": lambda x: x[:5].copy()}, r"5 gates"),
        ({"numbers": lambda x: x[:5].copy()}, r"5 words"),
        ({"numbers": lambda x: x + 4}, r"token 0 is word \d; expected 0 to 3"),
        ({"numbers": lambda x: x - 4}, r"token 0 is word -\d; expected 0 to 3"),
        ({"shared": lambda x: x[:0].copy()}, r"token 0 is word \d; expected 0 to -1"),
        ({"own": lambda x: x[:, :8].copy()}, r"do not have 6 hidden units"),
        ({"shared": lambda x: x[:, :8].copy()}, r"do not have 6 hidden units"),
        ({"gates": lambda x: x[:, :5].copy()}, r"do not have 6 hidden units"),
        ({"biases": lambda x: x[:, :5].copy()}, r"do not have 6 hidden units"),
        ({"b": lambda x: x[:2].copy()}, r"do not have 6 hidden units"),
        ({"rows": lambda x: x[:2].copy()}, r"spans have up to 3 tokens; got rows for 2"),
        ({"rows": lambda x: x + N_ROWS}, rf"length 1 has row {N_ROWS}; expected 0 to {N_ROWS - 1}"),
        ({"rows": lambda x: x - 1}, r"length 1 has row -1"),
        ({"own": lambda x: x.astype("float64")}, r"Buffer dtype mismatch"),
        ({"W": np.asfortranarray}, r"not C-contiguous"),
    ],
)
def test_arrays_that_do_not_belong_together_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        changed(**changes)


def test_gradients_of_other_scores_are_refused():
    spans = changed()
    for shape in [(2, LAYOUT.n_spans), (3, LAYOUT.n_spans - 1)]:
        with pytest.raises(ValueError, match=rf"shape \({shape[0]}, {shape[1]}\); expected \(3, 15\)"):
            spans.gradients(np.zeros(shape, dtype="float32"))


@pytest.mark.slow
def test_no_access_outside_of_memory(tmp_path):
    """Arrays with no room to spare, under the sanitizers for addresses and for undefined behavior."""
    printed = run_sanitized(Path(__file__).parent / "sanitized.c", tmp_path, [{}, *OTHER_INSTRUCTIONS])
    assert printed == "done\n"
