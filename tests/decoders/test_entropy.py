"""Entropy by the difference of two large numbers where that holds, and without any difference elsewhere."""

import numpy as np
import pytest
from helpers import SPACES, random_scores
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_nested_ner.decoders import CubicDecoder, FlatDecoder, PackedScores, QuadraticDecoder, reference
from spacy_nested_ner.decoders import decoder as kernels
from spacy_nested_ner.decoders._kernels import engine

OPTIONS = [{}, {"multi_label": True}, {"max_span_length": 3}, {"multi_label": True, "max_span_length": 2}]


def always_stable(decoder, packed):
    """As if every segment had extreme weights."""
    short, multi_label, longest = decoder.space.for_kernels()
    batch = kernels.Batch.of_packed(
        packed.values, packed.layout.lengths, packed.layout.max_span_length or 0, False, longest
    )
    return engine.entropy(batch, short, multi_label)


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("scale", [0.5, 2.0, 30.0, 1e3, 1e4, 1e6])
def test_entropy_equals_enumeration(make_pair, options, scale):
    fast, slow = make_pair(**options)
    arrays = [random_scores(n, 2, seed=n, scale=scale, forbidden=0.2 * (n % 2)) for n in (0, 1, 3, 6, 5)]
    expected = slow.entropy(arrays)
    assert fast.entropy(arrays) == pytest.approx(expected, abs=1e-9)
    assert always_stable(fast, PackedScores.pack(arrays)) == pytest.approx(expected, abs=1e-9)
    assert fast.entropy(PackedScores.pack(arrays)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("power", [0, 10, 40, 600])
def test_equal_weights_are_equal_at_any_size(make_pair, options, power):
    """Weights are whole multiples of a power of two: sums are exact, so that ties at 1e180 are ties."""
    fast, slow = make_pair(**options)
    random = np.random.default_rng(power)
    for n in (1, 2, 4, 6):
        scores = random.integers(-2, 3, size=(n, n, 2)) * 2.0**power
        assert fast.entropy(scores) == pytest.approx(slow.entropy(scores), abs=1e-9)


def test_extreme_weights_of_the_report():
    certain = np.full((5, 5, 1), -1e4)
    certain[1, 3] = certain[2, 2] = 1e4
    tied = np.full((2, 2, 4), 1e200)
    for decoder in (QuadraticDecoder(), CubicDecoder()):
        assert decoder.entropy(certain) == 0
        assert decoder.entropy(tied) == pytest.approx(3 * np.log(4), abs=1e-12)
    assert FlatDecoder().entropy(np.full((3, 3, 4), 1e200)) == pytest.approx(3 * np.log(4), abs=1e-12)


def test_one_extreme_segment_leaves_the_others_as_they_are(make_decoder):
    decoder = make_decoder()
    arrays = [random_scores(5, 2, seed=k) for k in range(3)]
    arrays[1] *= 1e200
    together = decoder.entropy(PackedScores.pack(arrays))
    assert together == pytest.approx([decoder.entropy(array) for array in arrays], abs=1e-12)
    assert together[0] > 0.1
    assert together[2] > 0.1


def test_entropy_in_single_precision(make_decoder):
    """What a pipeline computes."""
    decoder = make_decoder()
    arrays = [random_scores(n, 3, seed=n, dtype=np.float32) for n in (4, 0, 6)]
    for factor in (1, 100, 1000):
        packed = PackedScores.pack([array * np.float32(factor) for array in arrays])
        assert decoder.analyze(packed).entropies == pytest.approx(decoder.entropy(packed), abs=1e-5)


def test_both_ways_agree_on_longer_segments():
    for decoder in (FlatDecoder(), QuadraticDecoder(), QuadraticDecoder(max_short_child=3), CubicDecoder()):
        for multi_label in (False, True):
            decoder = type(decoder)(
                **{k: v for k, v in decoder.settings().items() if k not in ("decoder", "multi_label")},
                multi_label=multi_label,
            )
            packed = PackedScores.pack([random_scores(n, 2, seed=n) for n in (40, 17)])
            assert always_stable(decoder, packed) == pytest.approx(decoder.entropy(packed), abs=1e-9)


@pytest.mark.parametrize("name", SPACES)
@settings(max_examples=50, deadline=None)
@given(
    numbers=st.lists(st.sampled_from([0, 1, -1, 3, -(2**40), 2**40, 2**41, -np.inf]), min_size=20, max_size=20),
    multi_label=st.booleans(),
)
def test_mixed_sizes_equal_enumeration(name, numbers, multi_label):
    class_name, options = SPACES[name]
    scores = np.zeros((4, 4, 2))
    scores[np.triu_indices(4)] = np.array(numbers, dtype=float).reshape(10, 2)
    fast = getattr(kernels, class_name)(**options, multi_label=multi_label)
    slow = getattr(reference, class_name)(**options, multi_label=multi_label)
    assert fast.entropy(scores) == pytest.approx(slow.entropy(scores), abs=1e-9)


def test_byte_swapped_scores_keep_all_digits(make_decoder):
    decoder = make_decoder()
    scores = random_scores(6, 2, seed=0, scale=30.0, dtype=np.float32)
    expected = decoder.entropy(scores.astype(np.float64))
    assert decoder.entropy(scores.astype(">f4")) == pytest.approx(expected, abs=1e-11)
    assert decoder.entropy([scores.astype(">f4")]) == pytest.approx([expected], abs=1e-11)
