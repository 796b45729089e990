"""Which spans there are, and where."""

import numpy as np
import pytest

from spacy_nested_ner.decoders import PackedScores, SpanLayout, count_spans


def test_spans_in_packed_order():
    for n in range(6):
        for limit in (None, 1, 2, 4, 9):
            expected = [(i, j) for i in range(n) for j in range(i, n) if limit is None or j - i < limit]
            starts, ends = SpanLayout([n], limit).starts_and_ends
            assert list(zip(starts.tolist(), ends.tolist())) == expected
            assert count_spans(n, limit) == len(expected)


@pytest.mark.parametrize("start, end", [(0, 3), (2, 5), (-1, 1), (2, 2)])
def test_spans_without_a_cell(start, end):
    scores = PackedScores(np.zeros((1, 5)), SpanLayout([3], 2))
    with pytest.raises(ValueError, match=rf"the span {start}:{end} has no cell; expected 0 <= start < end <= 3"):
        scores.layout.cell(0, start, end)


@pytest.mark.parametrize("limit", [None, 1, 2, 9])
def test_spans_of_every_length(limit):
    layout = SpanLayout([4, 0, 1, 3], limit)
    starts, ends = layout.starts_and_ends
    groups = layout.by_length
    assert [group.length for group in groups] == list(range(1, min(4, limit or 4) + 1))
    for group in groups:
        np.testing.assert_array_equal(starts[group.cells], group.starts)
        np.testing.assert_array_equal(ends[group.cells] - group.starts + 1, group.length)
    assert sorted(np.concatenate([group.cells for group in groups])) == list(range(layout.n_spans))
    assert SpanLayout([]).by_length == ()


def test_cells_of_many_spans_are_those_of_each():
    layout = SpanLayout([4, 0, 3], 3)
    spans = [(0, 0, 1), (0, 1, 4), (2, 0, 3), (2, 2, 3)]
    found = layout.cells(*(np.array(column) for column in zip(*spans)))
    assert found.tolist() == [layout.cell(*span) for span in spans]


@pytest.mark.parametrize("lengths, limit", [([2**62] * 4, 1), ([2**32 - 1, 2**32 - 1, 3], None), ([2**33], None)])
def test_more_spans_than_can_be_counted_are_an_error(lengths, limit):
    with pytest.raises(ValueError, match=r"the segments have \d+ spans or tokens; expected at most"):
        _ = SpanLayout(lengths, limit).n_spans
