"""What every decoder does with its input, on the kernels and on the enumeration alike."""

import copy
import pickle

import numpy as np
import pytest
from helpers import random_scores, weight_of

from spacy_nested_ner.decoders import CubicDecoder, FlatDecoder, Mention, PackedScores, QuadraticDecoder, SpanLayout


def test_one_array_one_result_a_list_of_arrays_a_list(make_decoder):
    decoder = make_decoder()
    arrays = [random_scores(n, 2, seed=n) for n in (3, 1, 0, 5)]
    assert decoder.decode(arrays) == [decoder.decode(array) for array in arrays]
    assert decoder.decode(tuple(arrays)) == decoder.decode(arrays)
    assert decoder.log_partition(arrays) == [decoder.log_partition(array) for array in arrays]
    assert decoder.entropy(arrays) == [decoder.entropy(array) for array in arrays]
    for found, array in zip(decoder.marginals(arrays), arrays):
        np.testing.assert_array_equal(found, decoder.marginals(array))
    totals, marginals = decoder.log_partition_and_marginals(arrays)
    assert totals == decoder.log_partition(arrays)
    assert [m.shape for m in marginals] == [a.shape for a in arrays]
    assert isinstance(decoder.log_partition(arrays[0]), float)
    assert isinstance(decoder.entropy(arrays[0]), float)
    assert decoder.decode([]) == []


def test_no_tokens_and_no_labels(make_decoder):
    decoder = make_decoder()
    for shape in [(0, 0, 3), (0, 0, 0), (4, 4, 0)]:
        scores = np.zeros(shape, dtype=np.float32)
        assert decoder.decode(scores) == []
        assert decoder.log_partition(scores) == 0
        assert decoder.entropy(scores) == 0
        assert decoder.marginals(scores).shape == shape
        assert decoder.sample(scores, n_samples=2) == [[], []]


def test_mentions_are_sorted_and_named(make_decoder):
    scores = np.full((4, 4, 3), -1.0)
    scores[1, 1, 2] = scores[3, 3, 0] = 1.0
    assert make_decoder().decode(scores) == [Mention(1, 2, 2), Mention(3, 4, 0)]
    mention = make_decoder().decode(scores)[0]
    assert (mention.start, mention.end, mention.label) == (1, 2, 2)
    assert type(mention) is Mention
    assert hash(mention) == hash(Mention(1, 2, 2))
    assert pickle.loads(pickle.dumps(mention)) == copy.deepcopy(mention) == mention
    assert tuple(mention) == (1, 2, 2)
    assert mention._replace(label=1) == Mention(1, 2, 1)


def test_labels_of_one_span_are_sorted(implementation):
    scores = np.full((3, 3, 4), -1.0)
    scores[0, 1] = [2.0, -1.0, 0.0, 1.0]
    decoder = implementation.CubicDecoder(multi_label=True)
    assert decoder.decode(scores) == [Mention(0, 2, 0), Mention(0, 2, 3)]
    assert implementation.CubicDecoder().decode(scores) == [Mention(0, 2, 0)]


def test_a_weight_of_zero_is_left_out(make_decoder):
    assert make_decoder().decode(np.zeros((5, 5, 2))) == []
    assert make_decoder(multi_label=True).decode(np.zeros((5, 5, 2))) == []


def test_ties_go_to_fewer_mentions(make_decoder):
    scores = np.full((6, 6, 1), -np.inf)
    scores[0, 2] = scores[3, 5] = 1.0  # together as heavy as
    scores[1, 4] = 2.0  # this one, which crosses both
    assert make_decoder().decode(scores) == [Mention(1, 5, 0)]
    assert make_decoder().decode(-scores * -1.0) == [Mention(1, 5, 0)]


def test_ties_count_labels_as_mentions(implementation):
    scores = np.full((4, 4, 2), -np.inf)
    scores[0, 1] = [1.0, 1.0]
    scores[1, 2] = [2.0, -1.0]
    for name in ("FlatDecoder", "QuadraticDecoder", "CubicDecoder"):
        assert getattr(implementation, name)(multi_label=True).decode(scores) == [Mention(1, 3, 0)]


@pytest.mark.parametrize("multi_label", [False, True])
def test_ties_of_whole_numbers_equal_enumeration(make_pair, multi_label):
    """Whole weights make many ties; weight and number of mentions must both be the best."""
    fast, slow = make_pair(multi_label=multi_label)
    random = np.random.default_rng(0)
    for _ in range(150):
        n = int(random.integers(2, 7))
        scores = random.integers(-3, 3, size=(n, n, 2)).astype(np.float32)
        found, expected = fast.decode(scores), slow.decode(scores)
        assert slow.contains(found, n)
        assert weight_of(found, scores) == weight_of(expected, scores)
        assert len(found) == len(expected)
        assert found == fast.decode(scores)


def test_input_is_read_however_it_lies_in_memory_and_never_written(make_decoder):
    decoder = make_decoder()
    plain = random_scores(5, 3, seed=1, dtype=np.float32)
    plain[np.tril_indices(5, -1)] = 0
    expected = decoder.decode(plain), decoder.log_partition(plain), decoder.marginals(plain)
    wide = np.zeros((5, 5, 6), dtype=np.float32)
    wide[:, :, ::2] = plain
    bytes_off = np.zeros(plain.nbytes + 1, dtype=np.uint8)[1:].view(np.float32).reshape(plain.shape)
    bytes_off[...] = plain
    locked = plain.copy()
    locked.flags.writeable = False
    variants = {
        "Fortran order": np.asfortranarray(plain),
        "every other label": wide[:, :, ::2],
        "labels first": np.ascontiguousarray(plain.transpose(2, 0, 1)).transpose(1, 2, 0),
        "reversed twice": np.ascontiguousarray(plain[::-1, ::-1, ::-1])[::-1, ::-1, ::-1],
        "unaligned": bytes_off,
        "read-only": locked,
        "other byte order": plain.astype(plain.dtype.newbyteorder()),
        "part of a larger array": np.pad(plain, ((1, 2), (3, 4), (0, 0)))[1:6, 3:8],
    }
    for name, variant in variants.items():
        before = variant.copy()
        assert decoder.decode(variant) == expected[0], name
        assert decoder.log_partition(variant) == pytest.approx(expected[1], rel=1e-6), name
        np.testing.assert_allclose(decoder.marginals(variant), expected[2], atol=1e-6, err_msg=name)
        assert decoder.sample(variant, n_samples=1, seed=4) == decoder.sample(plain, n_samples=1, seed=4), name
        np.testing.assert_array_equal(variant, before)


def test_a_zero_stride_array_is_not_copied():
    """A broadcast array of 40 GB that takes four bytes."""
    scores = np.broadcast_to(np.float32(-1.0), (50_000, 50_000, 4))
    decoder = QuadraticDecoder(max_span_length=2)
    assert decoder.decode(scores) == []
    assert decoder.log_partition(scores) > 0


def test_samples_depend_on_the_seed_alone(make_decoder):
    decoder = make_decoder()
    scores = random_scores(5, 2, seed=0)
    assert decoder.sample(scores, n_samples=5, seed=7) == decoder.sample(scores, n_samples=5, seed=7)
    assert decoder.sample(scores, n_samples=5, seed=7) != decoder.sample(scores, n_samples=5, seed=8)
    assert len(decoder.sample(scores)) == 10
    assert decoder.sample(scores, n_samples=0) == []
    assert [len(each) for each in decoder.sample([scores, scores], n_samples=3)] == [3, 3]


def test_settings_are_kept_compared_and_pickled(make_decoder):
    decoder = make_decoder(multi_label=True, max_span_length=7)
    again = pickle.loads(pickle.dumps(decoder))
    assert again == decoder
    assert hash(again) == hash(decoder)
    assert again != make_decoder()
    assert "multi_label=True" in repr(again)
    assert "max_span_length=7" in repr(again)
    assert again.decode(np.ones((3, 3, 1))) == decoder.decode(np.ones((3, 3, 1)))


def test_numpy_whole_numbers_are_settings_too():
    decoder = QuadraticDecoder(max_short_child=np.int64(2), max_span_length=np.int32(3))
    assert (decoder.max_short_child, decoder.max_span_length) == (2, 3)
    with pytest.raises(TypeError):
        QuadraticDecoder(1)  # settings are named
    with pytest.raises(TypeError):
        FlatDecoder(max_short_child=1)
    with pytest.raises(TypeError):
        CubicDecoder(max_short_child=1)


def test_packed_scores_describe_themselves():
    packed = PackedScores.pack([np.zeros((4, 4, 2)), np.zeros((0, 0, 2)), np.zeros((2, 2, 2))], 3)
    assert len(packed) == 3
    assert packed.layout.lengths == (4, 0, 2)
    assert packed.layout.offsets.tolist() == [0, 9, 9, 12]
    assert "3 segments" in repr(packed)
    assert packed.like(packed.values + 1).values.max() == 1
    assert PackedScores.pack([]).values.shape == (0, 0)


def test_some_segments_of_packed_scores():
    packed = PackedScores(np.arange(24.0).reshape(2, 12), SpanLayout([4, 0, 2], 3))
    assert packed.layout.cells_of(0) == slice(0, 9)
    assert packed.layout.cells_of(1) == slice(9, 9)
    some = packed.select([2, 1])
    assert some.layout == SpanLayout((2, 0), 3)
    np.testing.assert_array_equal(some.values, packed.values[:, 9:12])
    some.values[:] = 0
    assert packed.values[0, 9] == 9
    assert packed.select([]).values.shape == (2, 0)
