"""Scores of a batch in one array."""

import numpy as np
import pytest

from spacy_nested_ner.decoders import PackedScores, SpanLayout


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


def test_packed_scores_must_fit_their_segments():
    with pytest.raises(ValueError, match=r"shape \(2, 5\); expected \(labels, 6\) for 1 segments with 3 tokens"):
        PackedScores(np.zeros((2, 5)), SpanLayout([3]))
    with pytest.raises(ValueError, match="expected"):
        PackedScores(np.zeros(6), SpanLayout([3]))
    with pytest.raises(TypeError, match="packed scores have dtype int64"):
        PackedScores(np.zeros((2, 6), dtype=int), SpanLayout([3]))
    with pytest.raises(ValueError, match="the length of a segment is -1; expected 0 or more"):
        PackedScores(np.zeros((2, 6)), SpanLayout([3, -1]))
    with pytest.raises(ValueError, match="max_span_length is 0"):
        PackedScores(np.zeros((2, 6)), SpanLayout([3], 0))


def test_packed_scores_need_a_layout():
    with pytest.raises(TypeError, match="layout is a list; expected a SpanLayout, made of segment lengths"):
        PackedScores(np.zeros((2, 6)), [3])


def test_packed_values_are_read_however_they_lie_in_memory(make_decoder):
    values = np.random.default_rng(0).normal(size=(2, 6)).astype("float32")
    unaligned = np.zeros(values.nbytes + 1, dtype=np.uint8)[1:].view(np.float32).reshape(values.shape)
    unaligned[...] = values
    decoder = make_decoder()
    expected = decoder.log_partition(PackedScores(values, SpanLayout([3])))
    for variant in (np.asfortranarray(values), values.astype(">f4"), unaligned):
        assert decoder.log_partition(PackedScores(variant, SpanLayout([3]))) == expected


def test_layouts_and_packed_scores_never_change():
    layout = SpanLayout([3], 2)
    scores = PackedScores(np.zeros((2, 5)), layout)
    for thing, name, value in [
        (layout, "lengths", (10**9,)),
        (layout, "max_span_length", 3),
        (layout, "offsets", (10**9, 0)),
        (scores, "layout", SpanLayout([4])),
        (scores, "values", np.zeros((2, 1))),
    ]:
        with pytest.raises(AttributeError):
            setattr(thing, name, value)
    for array in (layout.offsets, layout.token_offsets, layout.row_offsets, *layout.starts_and_ends):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7
    assert {layout: 1}[SpanLayout((3,), 2)] == 1
