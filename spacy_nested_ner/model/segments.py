"""Which spans there are: the segments of a batch and the cells of their packed scores."""

from collections.abc import Iterable, Iterator
from functools import cached_property

import numpy as np

from ..decoders.packed import count_spans, span_starts_and_ends


class Segments:
    """The segments of some docs, in order and without gaps: every token is in one of them.

    lengths (Iterable[int]): Tokens of every segment.
    max_span_length (int | None): Tokens of the longest span that is scored; None for no limit.
    """

    def __init__(self, lengths: Iterable[int], max_span_length: int | None):
        self.lengths = list(lengths)
        self.max_span_length = max_span_length

    @property
    def n_tokens(self) -> int:
        return sum(self.lengths)

    @cached_property
    def n_spans(self) -> int:
        return sum(count_spans(n, self.max_span_length) for n in self.lengths)

    @cached_property
    def starts_and_ends(self) -> tuple[np.ndarray, np.ndarray]:
        """First and last token of every span, counted over the whole batch, in packed order."""
        starts, ends = [np.zeros(0, dtype=int)], [np.zeros(0, dtype=int)]
        offset = 0
        shapes: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        for n in self.lengths:
            if n not in shapes:
                shapes[n] = span_starts_and_ends(n, self.max_span_length)
            starts.append(shapes[n][0] + offset)
            ends.append(shapes[n][1] + offset)
            offset += n
        return np.concatenate(starts), np.concatenate(ends)

    def by_length(self) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """For every length from 1 on: the length, the first tokens of its spans, and their cells."""
        starts, ends = self.starts_and_ends
        lengths = ends - starts
        order = np.argsort(lengths, kind="stable")
        counts = np.bincount(lengths)
        begin = 0
        for length, count in enumerate(counts.tolist(), start=1):
            cells = order[begin : begin + count]
            yield length, starts[cells], cells
            begin += count
