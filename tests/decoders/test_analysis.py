"""Analyses with all their numbers in one pass: what the separate calls and the enumeration give."""

import threading
import tracemalloc

import numpy as np
import pytest
from helpers import SPACES, random_scores
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_nested_ner.decoders import (
    Analyses,
    CubicDecoder,
    FlatDecoder,
    Mention,
    PackedScores,
    QuadraticDecoder,
    ScoredAnalyses,
    SpanLayout,
)
from spacy_nested_ner.decoders import decoder as kernels


def careful_entropies(decoder, scores):
    """As if all weights were extreme; `analyze` comes here only when it has to."""
    short, multi_label, longest = decoder.space.for_kernels()
    stored = scores.layout.max_span_length or 0
    batch = kernels.Batch.of_packed(scores.values.astype(float), scores.layout.lengths, stored, False, longest)
    return np.array(kernels.engine.entropy(batch, short, multi_label))


def separately(decoder, scores, threshold, temperature):
    """As `analyze`, with one call per number."""
    scores = scores.at(temperature)
    totals, marginals = decoder.log_partition_and_marginals(scores)
    gains = scores if threshold is None else marginals.like(marginals.values - marginals.values.dtype.type(threshold))
    found = decoder.decode_arrays(gains)
    number = np.repeat(np.arange(len(scores)), np.diff(found.offsets))
    cells = scores.layout.cells(number, found.starts, found.ends)
    weights = np.bincount(number, scores.values[found.labels, cells], minlength=len(scores))
    columns = found.starts, found.ends, found.labels, found.offsets
    numbers = marginals.values[found.labels, cells], np.array(totals), np.minimum(0.0, weights - totals)
    return ScoredAnalyses(*columns, *numbers, careful_entropies(decoder, scores))


def assert_same(found, expected, error):
    assert found.mentions() == expected.mentions()
    np.testing.assert_array_equal(found.offsets, expected.offsets)
    np.testing.assert_allclose(found.probabilities, expected.probabilities, atol=error)
    np.testing.assert_allclose(found.log_partitions, expected.log_partitions, rtol=1e-12)
    np.testing.assert_allclose(found.log_probabilities, expected.log_probabilities, atol=error)
    np.testing.assert_allclose(found.entropies, expected.entropies, atol=20 * error)


@pytest.mark.parametrize("name", SPACES)
@settings(max_examples=60, deadline=None)
@given(
    lengths=st.lists(st.integers(0, 30), max_size=5),
    labels=st.sampled_from([0, 1, 2, 9]),
    stored=st.sampled_from([None, 1, 4, 20]),
    limit=st.sampled_from([None, 3, 8]),
    multi_label=st.booleans(),
    dtype=st.sampled_from([np.float32, np.float64]),
    threshold=st.sampled_from([None, 0.0, 0.3, 1.0]),
    temperature=st.sampled_from([1.0, 0.25, 3.0]),
    scale=st.sampled_from([0.3, 2.0, 30.0, 200.0]),
    forbidden=st.sampled_from([0.0, 0.3, 1.0]),
    seed=st.integers(0, 2**16),
)
def test_one_pass_equals_separate_calls(
    name, lengths, labels, stored, limit, multi_label, dtype, threshold, temperature, scale, forbidden, seed
):
    class_name, options = SPACES[name]
    decoder = getattr(kernels, class_name)(**options, multi_label=multi_label, max_span_length=limit)
    layout = SpanLayout(lengths, stored)
    random = np.random.default_rng(seed)
    values = random.normal(scale=scale, size=(labels, layout.n_spans)).astype(dtype)
    values[random.random(values.shape) < forbidden] = -np.inf
    scores = PackedScores(values, layout)
    before = values.copy()
    found = decoder.analyze(scores, threshold=threshold, temperature=temperature)
    np.testing.assert_array_equal(values, before)
    assert_same(found, separately(decoder, scores, threshold, temperature), 1e-9 if dtype is np.float64 else 2e-6)


@pytest.mark.slow
@pytest.mark.parametrize("multi_label", [False, True])
@pytest.mark.parametrize("threshold", [None, 0.2])
@pytest.mark.parametrize("scale", [1.0, 40.0, 1e3, 1e6])
def test_one_pass_equals_enumeration(make_pair, multi_label, threshold, scale):
    """Weights of 1e3 are added up over logarithms, and their entropy needs its own program."""
    fast, slow = make_pair(multi_label=multi_label, max_span_length=4)
    arrays = [random_scores(n, 2, seed=n, scale=scale, forbidden=0.2 * (n % 2)) for n in (0, 1, 3, 5, 4)]
    packed = PackedScores.pack(arrays)
    for temperature in (1.0, 0.5):
        expected = slow.analyze(packed, threshold=threshold, temperature=temperature)
        assert_same(fast.analyze(packed, threshold=threshold, temperature=temperature), expected, 1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("multi_label", [False, True])
@pytest.mark.parametrize("threshold", [None, 0.5])
def test_large_weights(make_decoder, dtype, multi_label, threshold):
    """One segment over logarithms between two over plain numbers; at a temperature, too."""
    decoder = make_decoder(multi_label=multi_label, max_span_length=3)
    arrays = [random_scores(4, 2, seed=k, dtype=dtype) for k in range(3)]
    arrays[1] *= dtype(1e3)
    arrays[1][0, 0] = -np.inf
    packed = PackedScores.pack(arrays)
    for temperature in (1.0, 2.0, 1e3):
        found = decoder.analyze(packed, threshold=threshold, temperature=temperature)
        assert_same(found, separately(decoder, packed, threshold, temperature), 1e-9 if dtype is np.float64 else 2e-6)


def test_weights_of_hundreds_have_their_entropy():
    """Plain numbers of double precision hold them, but log Z less the expected weight has too few digits left."""
    scores = random_scores(40, 2, seed=0, scale=250.0)
    for decoder in (QuadraticDecoder(max_span_length=5), CubicDecoder(max_span_length=5, multi_label=True)):
        packed = PackedScores.pack([np.minimum(scores, 600.0)])
        assert decoder.analyze(packed).entropies == pytest.approx(careful_entropies(decoder, packed), abs=1e-12)


def test_extreme_weights_have_their_entropy():
    tied = PackedScores.pack([np.full((2, 2, 4), 1e200), np.zeros((1, 1, 4))])
    for temperature in (1.0, 1e100, 3.0):
        found = CubicDecoder().analyze(tied, temperature=temperature)
        assert found.entropies == pytest.approx([3 * np.log(4), np.log(5)], abs=1e-12)
        assert found.probabilities == pytest.approx([0.25] * 3)


def test_both_ways_to_the_entropy_agree_on_long_segments_of_heavy_mentions():
    """The limit beyond which the entropy is computed in another way grows with the segment, and both ways agree."""
    layout = SpanLayout([3000], 2)
    values = np.full((1, layout.n_spans), -20.0)
    values[0, layout.row_offsets[::3]] = 100 + np.arange(1000) / 1e3  # the sum of squares is 1e7
    values[0, layout.row_offsets[1::3]] = np.linspace(-3, 3, 1000)
    scores = PackedScores(values, layout)
    decoder = QuadraticDecoder()
    assert decoder.analyze(scores).entropies == pytest.approx(careful_entropies(decoder, scores), abs=1e-8)


def test_the_result_is_arrays_that_cannot_be_changed(make_decoder):
    decoder = make_decoder()
    packed = PackedScores.pack([random_scores(n, 3, seed=n) for n in (4, 0, 5, 1)])
    found = decoder.analyze(packed)
    assert isinstance(found, Analyses)
    assert len(found) == 4
    assert found.mentions() == decoder.decode(packed)
    assert found.probabilities.shape == found.starts.shape
    for column in (found.probabilities, found.log_partitions, found.log_probabilities, found.entropies):
        assert column.dtype == np.float64
    for column in (found.log_partitions, found.log_probabilities, found.entropies):
        assert column.shape == (4,)
    assert (found.log_partitions[1], found.log_probabilities[1], found.entropies[1]) == (0, 0, 0)
    with pytest.raises(AttributeError):
        found.entropies = None
    with pytest.raises(ValueError, match="read-only"):
        FlatDecoder().analyze(packed).entropies[0] = 1


def test_mentions_of_all_segments_in_a_text():
    found = FlatDecoder().analyze(PackedScores.pack([np.ones((1, 1, 1)), np.zeros((2, 2, 1)), np.ones((2, 2, 1))]))
    assert found.all_mentions() == [Mention(0, 1, 0), Mention(0, 1, 0), Mention(1, 2, 0)]
    assert found.all_mentions(np.array([0, 5, 7])) == [Mention(0, 1, 0), Mention(7, 8, 0), Mention(8, 9, 0)]


def test_nothing_to_analyze(make_decoder):
    decoder = make_decoder()
    for labels, lengths in [(0, [4]), (3, [0, 0]), (3, []), (0, [])]:
        layout = SpanLayout(lengths)
        packed = PackedScores(np.zeros((labels, layout.n_spans), dtype="float32"), layout)
        for threshold in (None, 0.5):
            found = decoder.analyze(packed, threshold=threshold, temperature=2.0)
            assert found.mentions() == [[] for _ in lengths]
            assert not found.entropies.any()


def test_invalid_arguments_are_named():
    decoder, packed = FlatDecoder(), PackedScores.pack([np.ones((2, 2, 1))])
    with pytest.raises(TypeError, match="scores is a ndarray; expected PackedScores"):
        decoder.analyze(np.ones((2, 2, 1)))
    with pytest.raises(ValueError, match="dense scores cannot be analyzed; expected packed ones"):
        kernels.engine.analyze(kernels.Batch.of_arrays([np.ones((2, 2, 1))], False, False, 0), 0, False, None, 1.0)
    for threshold in (-0.1, 1.1, np.nan):
        with pytest.raises(ValueError, match=rf"threshold is {threshold}; expected a number between 0 and 1"):
            decoder.analyze(packed, threshold=threshold)
    for temperature in (0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match=rf"temperature is {temperature}; expected a number above 0"):
            decoder.analyze(packed, temperature=temperature)


@pytest.mark.parametrize("threshold", [None, 0.5])
def test_bad_weights_are_named_with_their_place(make_decoder, threshold):
    for value in (np.nan, np.inf):
        scores = random_scores(6, 3, seed=0, dtype=np.float32)
        scores[2, 4, 1] = value
        packed = PackedScores.pack([np.zeros((1, 1, 3), "float32"), scores])
        for temperature in (1.0, 2.0):
            with pytest.raises(ValueError, match=rf"label 1 of tokens 2 to 4 in segment 1 is {value}; weights must"):
                make_decoder().analyze(packed, threshold=threshold, temperature=temperature)


def test_a_temperature_that_makes_weights_infinite_is_named_by_its_weight():
    scores = np.zeros((3, 3, 1), dtype=np.float32)
    scores[0, 2] = 1e30
    with pytest.raises(ValueError, match="label 0 of tokens 0 to 2 in segment 0 is inf; weights must be finite"):
        FlatDecoder().analyze(PackedScores.pack([scores]), temperature=1e-20)
    with pytest.raises(ValueError, match=r"label 0 of tokens 0 to 2 in segment 0 is 1.*; weights must be below"):
        FlatDecoder().analyze(PackedScores.pack([scores.astype(float)]), temperature=1e-262)


def test_threads_do_not_disturb_each_other():
    batches = [PackedScores.pack([random_scores(n, 4, seed=n + k) for n in range(1, 30)]) for k in range(4)]
    decoder = QuadraticDecoder(max_span_length=9)
    options = [{}, {"threshold": 0.3}, {"temperature": 2.0}, {"threshold": 0.3, "temperature": 0.5}]
    alone = [decoder.analyze(batch, **some) for batch, some in zip(batches, options)]
    differences = []

    def run(k):
        for _ in range(20):
            found = decoder.analyze(batches[k], **options[k])
            if any((getattr(found, name) != getattr(alone[k], name)).any() for name in vars(found)):
                differences.append(k)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not differences


def test_no_array_of_all_marginals_is_made():
    layout = SpanLayout([25] * 200, 20)
    scores = PackedScores(np.full((5, layout.n_spans), -3.0, dtype="float32"), layout)
    decoder = QuadraticDecoder()
    for options in ({}, {"threshold": 0.5}, {"temperature": 2.0}):
        tracemalloc.start()
        decoder.analyze(scores, **options)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < scores.values.nbytes / 10


# ---- long segments ----


def joined(scores):
    """All segments as one, in which no mention can cross their borders."""
    lengths, limit = scores.layout.lengths, scores.layout.max_span_length
    layout = SpanLayout([sum(lengths)], limit)
    values = np.full((len(scores.values), layout.n_spans), -np.inf, dtype=scores.values.dtype)
    starts, ends = scores.layout.starts_and_ends
    values[:, layout.cells(np.zeros_like(starts), starts, ends + 1)] = scores.values
    return PackedScores(values, layout)


@pytest.mark.parametrize("multi_label", [False, True])
@pytest.mark.parametrize("threshold", [None, 0.3])
def test_a_long_segment_equals_its_parts_where_no_mention_crosses(space, multi_label, threshold):
    name, options = space
    decoder = getattr(kernels, name)(**options, multi_label=multi_label)
    lengths = np.random.default_rng(0).integers(0, 40, size=100).tolist()
    layout = SpanLayout(lengths, 12)
    values = np.random.default_rng(1).normal(loc=-3, scale=2, size=(3, layout.n_spans)).astype("float32")
    scores = PackedScores(values, layout)
    one = decoder.analyze(joined(scores), threshold=threshold, temperature=1.5)
    parts = decoder.analyze(scores, threshold=threshold, temperature=1.5)
    assert one.all_mentions() == parts.all_mentions(layout.token_offsets[:-1])
    assert len(one.starts) > 100
    np.testing.assert_allclose(one.probabilities, parts.probabilities, atol=1e-6)
    np.testing.assert_allclose(one.log_partitions, parts.log_partitions.sum(), rtol=1e-9)
    np.testing.assert_allclose(one.log_probabilities, parts.log_probabilities.sum(), rtol=1e-6)
    np.testing.assert_allclose(one.entropies, parts.entropies.sum(), rtol=1e-5)


@pytest.mark.slow
def test_100_000_tokens_in_one_segment_equal_their_sentences():
    layout = SpanLayout([25] * 4000, 20)
    values = np.random.default_rng(1).normal(loc=-6, scale=2, size=(2, layout.n_spans)).astype("float32")
    scores = PackedScores(values, layout)
    for decoder in (QuadraticDecoder(), CubicDecoder()):
        one, parts = decoder.analyze(joined(scores)), decoder.analyze(scores)
        assert one.all_mentions() == parts.all_mentions(layout.token_offsets[:-1])
        np.testing.assert_allclose(one.probabilities, parts.probabilities, atol=1e-6)
        np.testing.assert_allclose(one.log_partitions, parts.log_partitions.sum(), rtol=1e-9)


def test_ties_in_a_long_segment_are_broken_as_in_a_short_one():
    """Two mentions as heavy as one that crosses both; and four that together are too light for their fees."""
    pair = np.full((6, 6, 1), -np.inf)
    pair[0, 1] = pair[2, 4] = 1.0
    pair[1, 3] = 2.0
    decoders = (FlatDecoder(), QuadraticDecoder(), QuadraticDecoder(max_short_child=2), CubicDecoder())
    for decoder in decoders:
        expected = [Mention(6 * k + 1, 6 * k + 4, 0) for k in range(300)]
        assert decoder.decode(joined(PackedScores.pack([pair] * 300, 4))) == [expected]
    # The best analysis weighs 1000, so that the fee is 1e-9: one mention is better than four by half of a fee.
    four = np.full((996, 996, 1), -np.inf)
    four[np.arange(996), np.arange(996)] = 1.0
    four[0:4, 0:4] = -np.inf
    four[0, 0] = four[1, 1] = four[2, 2] = four[3, 3] = 1.0
    four[0, 3] = 4.0 - 2.5e-9
    assert FlatDecoder().decode(four)[0] == Mention(0, 4, 0)
    four[0, 3] = 4.0 - 3.5e-9
    assert FlatDecoder().decode(four)[0] == Mention(0, 1, 0)


def test_faint_labels_of_a_long_segment_are_left_out():
    """What a mention must weigh at least depends on the best analysis of the whole segment."""
    scores = np.full((1000, 1000, 2), -np.inf)
    scores[np.arange(1000), np.arange(1000), 0] = 1.0
    scores[0, 0, 1], scores[1, 1, 1] = 0.9e-9, 1.1e-9
    mentions = QuadraticDecoder(multi_label=True, max_span_length=2).decode(scores)
    assert mentions[:3] == [Mention(0, 1, 0), Mention(1, 2, 0), Mention(1, 2, 1)]
