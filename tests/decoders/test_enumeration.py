"""The kernels against all analyses of short segments, written down one by one."""

from collections import Counter

import numpy as np
import pytest
from helpers import random_scores, weight_of

from spacy_nested_ner.decoders import CubicDecoder, FlatDecoder, PackedScores, QuadraticDecoder, reference

OPTIONS = [
    {},
    {"multi_label": True},
    {"max_span_length": 1},
    {"max_span_length": 3},
    {"multi_label": True, "max_span_length": 4},
]


def cases():
    for n in range(7):
        for labels in (0, 1, 3):
            for seed in range(3):
                yield random_scores(n, labels, seed, scale=[0.5, 2.0, 6.0][seed], forbidden=0.3 if seed == 1 else 0.0)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_best_analysis_equals_enumeration(make_pair, options):
    fast, slow = make_pair(**options)
    for scores in cases():
        expected = slow.decode(scores)
        found = fast.decode(scores)
        assert slow.contains(found, len(scores))
        assert weight_of(found, scores) == pytest.approx(weight_of(expected, scores), abs=1e-9)
        assert found == expected


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_sums_over_analyses_equal_enumeration(make_pair, options):
    fast, slow = make_pair(**options)
    for scores in cases():
        log_z, marginals = fast.log_partition_and_marginals(scores)
        assert log_z == pytest.approx(slow.log_partition(scores), rel=1e-12, abs=1e-12)
        assert fast.log_partition(scores) == log_z
        np.testing.assert_allclose(marginals, slow.marginals(scores), atol=1e-12)
        assert fast.entropy(scores) == pytest.approx(slow.entropy(scores), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_single_precision_loses_no_more_than_its_digits(make_pair, options):
    fast, slow = make_pair(**options)
    for scores in cases():
        single = scores.astype(np.float32)
        log_z, marginals = fast.log_partition_and_marginals(single)
        assert marginals.dtype == np.float32
        assert log_z == pytest.approx(slow.log_partition(single), rel=1e-6, abs=1e-6)
        np.testing.assert_allclose(marginals, slow.marginals(single), atol=1e-6)
        assert fast.entropy(single) == pytest.approx(slow.entropy(single), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("stored", [None, 2, 5])
def test_packed_scores_give_what_dense_ones_give(make_pair, options, stored):
    fast, slow = make_pair(**options)
    arrays = [random_scores(n, 3, seed=n) for n in (4, 0, 6, 1, 5)]
    packed = PackedScores.pack(arrays, stored)
    unpacked = packed.unpack()
    assert fast.decode(packed) == slow.decode(unpacked)
    totals, marginals = fast.log_partition_and_marginals(packed)
    assert totals == pytest.approx(slow.log_partition(unpacked), abs=1e-12)
    assert fast.entropy(packed) == pytest.approx(slow.entropy(unpacked), abs=1e-9)
    for found, expected in zip(marginals.unpack(fill=0), slow.marginals(unpacked)):
        np.testing.assert_allclose(found, expected, atol=1e-12)


COUNTS = {
    "flat": (FlatDecoder(), [1, 2, 5, 13, 34, 89, 233]),
    "nested": (CubicDecoder(), [1, 2, 8, 48, 352, 2880, 25216]),
    "c=1": (QuadraticDecoder(), [1, 2, 8, 48, 336, 2464, 18304]),
    "c=2": (QuadraticDecoder(max_short_child=2), [1, 2, 8, 48, 352, 2880, 24640]),
}


@pytest.mark.parametrize("name", COUNTS)
def test_number_of_analyses(name):
    decoder, counts = COUNTS[name]
    twin = getattr(reference, type(decoder).__name__)(
        **({"max_short_child": decoder.max_short_child} if isinstance(decoder, QuadraticDecoder) else {})
    )
    for n, count in enumerate(counts):
        scores = np.zeros((n, n, 1))
        assert np.exp(decoder.log_partition(scores)) == pytest.approx(count, rel=1e-12)
        assert len(reference.analyses(n, twin.space.max_short_child, None)[1]) == count


def test_cubic_is_quadratic_when_every_child_is_short():
    for n in (1, 5, 9, 30):
        scores = random_scores(n, 2, seed=n)
        cubic, family = CubicDecoder(), QuadraticDecoder(max_short_child=n)
        assert cubic.decode(scores) == family.decode(scores)
        assert cubic.log_partition(scores) == pytest.approx(family.log_partition(scores), rel=1e-13)
        np.testing.assert_allclose(cubic.marginals(scores), family.marginals(scores), atol=1e-13)


def test_the_fast_way_for_one_token_children_equals_the_general_one():
    """QuadraticDecoder(max_short_child=1) has its own kernel; children of two tokens
    that are forbidden make c = 2 the same search space."""
    for n in (3, 8, 25):
        scores = random_scores(n, 2, seed=n)
        scores[np.arange(n - 1), np.arange(1, n)] = -np.inf
        one, two = QuadraticDecoder(), QuadraticDecoder(max_short_child=2)
        assert one.decode(scores) == two.decode(scores)
        np.testing.assert_allclose(one.marginals(scores), two.marginals(scores), atol=1e-12)


@pytest.mark.parametrize("options", [{}, {"multi_label": True}, {"max_span_length": 9}], ids=str)
def test_marginals_are_the_gradient_of_the_log_partition(make_pair, options):
    decoder, _ = make_pair(**options)
    scores = random_scores(23, 3, seed=5)
    marginals = decoder.marginals(scores)
    random = np.random.default_rng(0)
    step = 1e-5
    for _ in range(60):
        i, j = sorted(random.integers(23, size=2))
        t = random.integers(3)
        shifted = [scores.copy(), scores.copy()]
        shifted[0][i, j, t] += step
        shifted[1][i, j, t] -= step
        up, down = decoder.log_partition(shifted)
        assert (up - down) / (2 * step) == pytest.approx(marginals[i, j, t], abs=1e-8)
    assert not marginals[np.tril_indices(23, -1)].any()


@pytest.mark.slow
@pytest.mark.parametrize("multi_label", [False, True])
def test_frequencies_of_samples_are_the_marginals(make_pair, multi_label):
    decoder, _ = make_pair(multi_label=multi_label)
    scores = random_scores(7, 2, seed=11, scale=1.0)
    n_samples = 20_000
    counts = np.zeros_like(scores)
    for analysis in decoder.sample(scores, n_samples=n_samples, seed=3):
        assert analysis == sorted(analysis, key=lambda m: (m.start, -m.end, m.label))
        for start, end, label in analysis:
            counts[start, end - 1, label] += 1
    # Five standard deviations of a frequency at its widest.
    np.testing.assert_allclose(counts / n_samples, decoder.marginals(scores), atol=5 * 0.5 / np.sqrt(n_samples))


@pytest.mark.slow
@pytest.mark.parametrize("n, labels, multi_label", [(3, 1, False), (2, 2, True), (3, 2, False)])
def test_samples_have_the_probabilities_of_their_analyses(make_decoder, n, labels, multi_label):
    """Not just the marginals: whole analyses of a small segment come as often as they should, also for weights that
    need the chart of logarithms."""
    decoder, n_samples = make_decoder(multi_label=multi_label), 5_000
    for offset in (0.0, 800.0):
        scores = random_scores(n, labels, seed=2, scale=1.0)
        scores[0, n - 1] += offset
        drawn = Counter(map(tuple, decoder.sample(scores, n_samples=n_samples, seed=1)))
        log_z = decoder.log_partition(scores)
        seen = 0.0
        for analysis, count in drawn.items():
            assert decoder.contains(analysis, n)
            probability = np.exp(weight_of(analysis, scores) - log_z)
            assert count / n_samples == pytest.approx(probability, abs=5 * 0.5 / np.sqrt(n_samples))
            seen += probability
        assert seen > 0.97
