"""What every decoder does with its input, on the kernels and on the enumeration alike."""

import copy
import json
import pickle

import numpy as np
import pytest
from helpers import random_scores

from spacy_nested_ner.decoders import (
    CubicDecoder,
    FlatDecoder,
    Mention,
    PackedScores,
    QuadraticDecoder,
    decoder_from_settings,
    reference,
)


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


@pytest.mark.parametrize("multi_label", [False, True])
def test_lists_of_what_takes_more_than_scores(make_decoder, multi_label):
    decoder = make_decoder(multi_label=multi_label)
    arrays = [random_scores(n, 2, seed=n) for n in (3, 1, 0, 2)]
    arrays[0][0, 1] = -np.inf
    values = [np.ones_like(array) for array in arrays]
    every = [decoder.k_best(array, 20) for array in arrays]
    assert decoder.k_best(arrays, 20) == every
    analyses = [found[-1][0] for found in every]
    assert decoder.log_prob(arrays, analyses) == [decoder.log_prob(*pair) for pair in zip(arrays, analyses)]
    for found, array, ones in zip(decoder.covariances(arrays, values), arrays, values):
        np.testing.assert_array_equal(found, decoder.covariances(array, ones))


def test_marginals_are_written_to_parts_of_an_array(make_decoder):
    decoder = make_decoder()
    arrays = [random_scores(n, 2, seed=n) for n in (3, 0, 4)]
    whole = np.full((3, 4, 4, 2), 7.0)
    parts = [whole[k, :n, :n] for k, n in enumerate((3, 0, 4))]
    totals, found = decoder.log_partition_and_marginals(arrays, out=parts)
    assert totals == decoder.log_partition(arrays)
    for part, result, expected in zip(parts, found, decoder.marginals(arrays)):
        upper = np.triu_indices(len(part))
        np.testing.assert_array_equal(part[upper], expected[upper])
        assert np.shares_memory(part, result) or not len(part)
    assert (whole[0, 3] == 7).all()
    assert (whole[2][np.tril_indices(4, -1)] == 7).all()


def test_outputs_that_cannot_be_written_to():
    decoder, scores = QuadraticDecoder(), np.zeros((3, 3, 2))
    whole = np.zeros((3, 3, 4))
    with pytest.raises(ValueError, match="there are 2 outputs for 1 arrays; expected as many"):
        decoder.log_partition_and_marginals([scores], out=[whole, whole])
    for output in (np.zeros((3, 3, 1)), np.zeros((2, 3, 2)), np.zeros((3, 3, 2), "float32")):
        with pytest.raises(ValueError, match="an output has another shape or type than its scores"):
            decoder.log_partition_and_marginals([scores], out=[output])
    for output in (whole[:, :, ::2], whole[:, :, :2], np.zeros((3, 3, 2))[:, ::-1]):
        with pytest.raises(ValueError, match="a row of an output is not aligned and in C order"):
            decoder.log_partition_and_marginals([scores], out=[output])
    frozen = np.zeros((3, 3, 2))
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match=r"not writable|read-only"):
        decoder.log_partition_and_marginals([scores], out=[frozen])
    with pytest.raises(TypeError, match="out is given, but scores are no list of arrays; leave it out"):
        decoder.log_partition_and_marginals(scores, out=[scores])


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
    assert all(decoder.contains(analysis, 5) for analysis in decoder.sample(scores, n_samples=50))
    assert len(decoder.sample(scores)) == 10
    assert decoder.sample(scores, n_samples=0) == []
    two = decoder.sample([scores, scores], n_samples=30)
    assert [len(each) for each in two] == [30, 30]
    assert two[0] != two[1]
    assert len(decoder.sample(PackedScores.pack([scores, scores, scores]), n_samples=4)) == 3
    assert decoder.sample([], n_samples=4) == []


def test_settings_are_kept_compared_and_pickled(make_decoder):
    decoder = make_decoder(multi_label=True, max_span_length=7)
    for again in (pickle.loads(pickle.dumps(decoder)), copy.deepcopy(decoder), copy.copy(decoder)):
        assert again == decoder
        assert hash(again) == hash(decoder)
        assert again != make_decoder()
        assert again.space == decoder.space
        assert again.decode(np.ones((3, 3, 1))) == decoder.decode(np.ones((3, 3, 1)))
    assert (decoder.multi_label, decoder.max_span_length) == (True, 7)


def test_decoders_of_different_kinds_are_different():
    assert len({FlatDecoder(), QuadraticDecoder(), CubicDecoder(), QuadraticDecoder(max_short_child=2)}) == 4
    assert FlatDecoder() != reference.FlatDecoder()
    assert FlatDecoder() != "FlatDecoder()"


def test_settings_go_to_json_and_back():
    decoder = QuadraticDecoder(max_short_child=3, max_span_length=9)
    assert repr(decoder) == "QuadraticDecoder(max_short_child=3, multi_label=False, max_span_length=9)"
    text = json.dumps(decoder.settings())
    assert text == ('{"decoder": "QuadraticDecoder", "max_short_child": 3, "multi_label": false, "max_span_length": 9}')
    assert repr(CubicDecoder()) == "CubicDecoder(multi_label=False, max_span_length=None)"
    for each in (decoder, FlatDecoder(multi_label=True), CubicDecoder()):
        assert decoder_from_settings(json.loads(json.dumps(each.settings()))) == each
        assert each.name == type(each).__name__ == each.settings()["decoder"]
    with pytest.raises(ValueError, match="decoder is 'Best'; expected one of FlatDecoder, QuadraticDecoder, CubicD"):
        decoder_from_settings({"decoder": "Best"})
    with pytest.raises(ValueError, match="decoder is None"):
        decoder_from_settings({})
    with pytest.raises(TypeError, match="max_short_child"):
        decoder_from_settings({"decoder": "FlatDecoder", "max_short_child": 1})


@pytest.mark.slow
@pytest.mark.parametrize("multi_label", [False, True])
def test_analyses_as_arrays(make_decoder, multi_label):
    decoder = make_decoder(multi_label=multi_label)
    packed = PackedScores.pack([random_scores(n, 3, seed=n) for n in (4, 0, 6, 1)])
    found = decoder.decode_arrays(packed)
    assert len(found) == 4
    assert found.mentions() == decoder.decode(packed)
    for column in (found.starts, found.ends, found.labels, found.offsets):
        assert column.dtype == np.int64
        assert column.ndim == 1
    assert found.offsets[0] == 0
    assert found.offsets[-1] == len(found.starts) == len(found.ends) == len(found.labels)
    for number, mentions in enumerate(decoder.decode(packed)):
        rows = slice(found.offsets[number], found.offsets[number + 1])
        columns = (found.starts[rows], found.ends[rows], found.labels[rows])
        assert [Mention(*map(int, row)) for row in zip(*columns)] == mentions
    nothing = decoder.decode_arrays(PackedScores.pack([]))
    assert (len(nothing), nothing.mentions(), nothing.offsets.tolist()) == (0, [], [0])


def test_arrays_of_analyses_cannot_be_changed():
    found = FlatDecoder().decode_arrays(PackedScores.pack([np.ones((2, 2, 1))]))
    with pytest.raises(ValueError, match="read-only"):
        found.starts[0] = 5
    with pytest.raises(AttributeError):
        found.starts = np.zeros(2)
    with pytest.raises(TypeError, match="scores is a ndarray; expected PackedScores"):
        FlatDecoder().decode_arrays(np.ones((2, 2, 1)))


def test_numpy_whole_numbers_are_settings_too():
    decoder = QuadraticDecoder(max_short_child=np.int64(2), max_span_length=np.int32(3))
    assert (decoder.max_short_child, decoder.max_span_length) == (2, 3)
    with pytest.raises(TypeError):
        QuadraticDecoder(1)  # settings are named
    with pytest.raises(TypeError):
        FlatDecoder(max_short_child=1)
    with pytest.raises(TypeError):
        CubicDecoder(max_short_child=1)
