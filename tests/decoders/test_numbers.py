"""Extreme weights, long segments, and both instruction sets."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from helpers import random_scores, weight_of
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from spacy_nested_ner.decoders import (
    CubicDecoder,
    FlatDecoder,
    PackedScores,
    QuadraticDecoder,
    SpanLayout,
    count_spans,
    reference,
)

ALL = [FlatDecoder(), QuadraticDecoder(), QuadraticDecoder(max_short_child=2), CubicDecoder()]


def twin(decoder):
    settings = {k: v for k, v in decoder.settings().items() if k != "decoder"}
    return getattr(reference, type(decoder).__name__)(**settings)


@st.composite
def segments(draw):
    n = draw(st.integers(0, 5))
    labels = draw(st.integers(0, 3))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    weights = st.one_of(
        st.floats(-5, 5, width=32),
        st.floats(-1e4, 1e4, width=32),
        st.sampled_from([0.0, -np.inf, 1e4, -1e4, 79.0, 81.0, -90.0, 690.0]),
    )
    return draw(arrays.arrays(dtype, (n, n, labels), elements=weights))


@pytest.mark.slow
@pytest.mark.parametrize(
    "decoder", [*ALL, CubicDecoder(multi_label=True), QuadraticDecoder(max_span_length=3)], ids=repr
)
@settings(max_examples=150, deadline=None)
@given(scores=segments())
def test_any_weights_equal_enumeration(decoder, scores):
    slow = twin(decoder)
    found, expected = decoder.decode(scores), slow.decode(scores)
    assert slow.contains(found, len(scores))
    best = weight_of(expected, scores)
    assert weight_of(found, scores) == pytest.approx(best, rel=1e-9, abs=1e-9)
    log_z, marginals = decoder.log_partition_and_marginals(scores)
    assert log_z == pytest.approx(slow.log_partition(scores), rel=1e-6, abs=1e-6)
    assert log_z >= best - 1e-6 * abs(best) - 1e-6
    assert ((marginals >= 0) & (marginals <= 1 + 1e-6)).all()
    np.testing.assert_allclose(marginals, slow.marginals(scores), atol=2e-6)
    assert decoder.entropy(scores) == pytest.approx(slow.entropy(scores), abs=1e-5)
    for analysis in decoder.sample(scores, n_samples=3, seed=1):
        assert slow.contains(analysis, len(scores))
        assert weight_of(analysis, scores) > -np.inf


@pytest.mark.slow
@pytest.mark.parametrize("decoder", ALL, ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1.0, 100.0, 1e4])
def test_long_segments_stay_finite(decoder, dtype, scale):
    n = 400 if isinstance(decoder, CubicDecoder) and scale > 1 else 700
    scores = random_scores(n, 2, seed=n, scale=scale, dtype=dtype)
    log_z, marginals = decoder.log_partition_and_marginals(scores)
    best = weight_of(decoder.decode(scores), scores)
    assert np.isfinite(log_z)
    assert np.isfinite(marginals).all()
    assert marginals.min() >= 0
    assert marginals.max() <= 1 + 1e-5
    assert log_z >= best * (1 - 1e-12)
    if scale == 1e4:
        assert log_z == pytest.approx(best, rel=1e-3)


def test_thousands_of_tokens():
    scores = np.broadcast_to(np.float32(0.3), (4000, 4000, 2))
    for decoder in (FlatDecoder(), QuadraticDecoder()):
        log_z = decoder.log_partition(scores)
        assert np.isfinite(log_z)
        assert log_z > 4000
    values = np.full((2, count_spans(20_000, 30)), 0.3, dtype=np.float32)
    wide = PackedScores(values, SpanLayout([20_000], 30))
    for decoder in (QuadraticDecoder(), CubicDecoder()):
        totals, marginals = decoder.log_partition_and_marginals(wide)
        assert np.isfinite(totals[0])
        assert np.isfinite(marginals.values).all()


def test_a_certain_long_mention_keeps_its_inside():
    """A parent of weight 5000 makes everything that it crosses impossible, and nothing inside it."""
    for decoder in (QuadraticDecoder(), CubicDecoder()):
        inner = random_scores(8, 2, seed=0)
        scores = random_scores(12, 2, seed=1, scale=100.0)
        scores[2:10, 2:10] = inner
        scores[2, 9] = [5000.0, -np.inf]
        marginals = decoder.marginals(scores)
        assert marginals[2, 9, 0] == pytest.approx(1.0)
        alone = inner.copy()
        alone[0, 7] = [5000.0, -np.inf]
        np.testing.assert_allclose(marginals[2:10, 2:10], decoder.marginals(alone), atol=1e-9)


def test_big_children_survive_bigger_competitors():
    """What underflows next to a heavy crossing mention can still be the best inside another one."""
    scores = np.full((6, 6, 1), -np.inf)
    scores[0, 2] = 2000.0  # crosses the next one
    scores[1, 5] = 10000.0
    scores[1, 3] = 500.0  # inside it, and crossed by the first
    for decoder in (QuadraticDecoder(), CubicDecoder()):
        assert decoder.log_partition(scores) == pytest.approx(10500.0)
        marginals = decoder.marginals(scores)
        assert marginals[1, 5, 0] == marginals[1, 3, 0] == pytest.approx(1.0)
        assert marginals[0, 2, 0] == 0


@pytest.mark.parametrize("weight", [1e20, 3e38, 1e200])
def test_heavy_mentions_are_drawn(weight):
    """Their sums were rounded by more than exp can hold: nothing was drawn in their place."""
    scores = np.full((3, 3, 1), -np.inf)
    scores[0] = weight  # one inside the other
    for decoder in ALL:
        drawn = decoder.sample(scores, n_samples=5)
        assert {weight_of(analysis, scores) for analysis in drawn} == {weight_of(decoder.decode(scores), scores)}


def test_a_forbidden_label_is_never_drawn():
    """Next to 3e38 the span of -745 weighs as much as nothing, and its first label was lost in rounding."""
    scores = np.full((3, 3, 2), -np.inf)
    scores[0, 1, 1], scores[0, 2] = 0.0, [0.0, 3e38]
    scores[1, 2, 0] = scores[2, 2, 0] = -745.0
    for analysis in CubicDecoder(multi_label=True).sample(scores, n_samples=100):
        assert weight_of(analysis, scores) > -np.inf


def test_every_instruction_set_finds_the_same(tmp_path):
    """The plain code of a machine without AVX2, in a process of its own: the same analyses; log Z and marginals up to
    1e-6 for float32, and up to 1e-12 for float64."""
    program = (
        "import sys, numpy as np\n"
        "from spacy_nested_ner.decoders import CubicDecoder, FlatDecoder, QuadraticDecoder\n"
        "results = []\n"
        "for dtype in ('float32', 'float64'):\n"
        "    for labels in (1, 5, 8, 11):\n"
        "        scores = np.random.default_rng(labels).normal(size=(37, 37, labels)).astype(dtype)\n"
        "        for decoder in (FlatDecoder(), QuadraticDecoder(), CubicDecoder(), CubicDecoder(multi_label=True)):\n"
        "            results += [decoder.decode(scores), decoder.log_partition(scores), decoder.marginals(scores)]\n"
        "np.savez(sys.argv[1], *map(np.asarray, results))\n"
    )
    found = []
    for plain in ("0", "1"):
        file = tmp_path / f"{plain}.npz"
        environment = {**os.environ, "SPACY_NESTED_NER_PLAIN": plain}
        subprocess.run([sys.executable, "-c", program, str(file)], env=environment, check=True)
        found.append([np.load(file)[f"arr_{k}"] for k in range(96)])
    for k, (one, other) in enumerate(zip(*found)):
        if k % 3 == 0:
            assert one.tolist() == other.tolist()
        else:
            tolerance = 1e-6 if k < 48 else 1e-12
            np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def test_many_threads_share_one_decoder():
    batches = [[random_scores(n, 3, seed=n + k, dtype=np.float32) for n in (30, 5, 61)] for k in range(8)]
    for decoder in ALL:
        expected = [(decoder.decode(b), decoder.log_partition(b)) for b in batches]
        found: list = [None] * len(batches)

        def work(k, decoder=decoder, found=found):
            for _ in range(20):
                found[k] = (decoder.decode(batches[k]), decoder.log_partition(batches[k]))

        threads = [threading.Thread(target=work, args=(k,)) for k in range(len(batches))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == expected


def test_other_threads_run_meanwhile():
    """The GIL is released: a thread that only counts gets on while a large segment is decoded."""
    scores = np.broadcast_to(np.float32(0.1), (1500, 1500, 8))
    counted = []
    stop = threading.Event()

    def count():
        while not stop.is_set():
            counted.append(1)
            stop.wait(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    before = len(counted)
    CubicDecoder().log_partition(scores)
    during = len(counted) - before
    stop.set()
    thread.join()
    assert during > 3
