"""Scores of a whole batch in one array: only the spans that exist.

Layout. `values` has one plane a label: shape (labels, cells), in C order. The cells are
the spans of the first segment, then those of the second, and so on; within a segment
row i holds the spans that start with token i, shortest first, up to `max_span_length`
tokens or the end of the segment:

    n = 4, max_span_length = 3:   [0:1 0:2 0:3] [1:2 1:3 1:4] [2:3 2:4] [3:4]

Sums over labels then run along contiguous memory whatever the number of labels, a row
is one contiguous run for the dynamic programs, and nothing is stored, read or computed
for spans that cannot be.
"""

from collections.abc import Iterable, Sequence

import numpy as np


def count_spans(n_tokens: int, max_span_length: int | None = None) -> int:
    """How many spans a segment has: the cells it takes in packed scores."""
    width = n_tokens if max_span_length is None else min(n_tokens, max_span_length)
    return n_tokens * width - width * (width - 1) // 2


def span_starts_and_ends(n_tokens: int, max_span_length: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """First and last token (inclusive) of every span of a segment, in packed order."""
    width = n_tokens if max_span_length is None else min(n_tokens, max_span_length)
    row_lengths = np.minimum(width, n_tokens - np.arange(n_tokens))
    starts = np.repeat(np.arange(n_tokens), row_lengths)
    row_begins = np.repeat(np.cumsum(row_lengths) - row_lengths, row_lengths)
    return starts, starts + np.arange(len(starts)) - row_begins


class PackedScores:
    """The scores of several segments, packed.

    values (numpy.ndarray): float32 or float64, shape (labels, cells).
    lengths (Iterable[int]): Tokens of every segment.
    max_span_length (int | None): Tokens of the longest span that has a cell; None for no limit.
    """

    def __init__(self, values: np.ndarray, lengths: Iterable[int], max_span_length: int | None = None):
        if max_span_length is not None and max_span_length < 1:
            raise ValueError(f"max_span_length is {max_span_length}; expected 1 or more, or None for no limit")
        self.lengths = tuple(int(n) for n in lengths)
        if any(n < 0 for n in self.lengths):
            raise ValueError(f"a segment has {min(self.lengths)} tokens; expected 0 or more")
        self.max_span_length = max_span_length
        sizes = [count_spans(n, max_span_length) for n in self.lengths]
        self.offsets = (0, *np.cumsum(sizes, dtype=int).tolist())
        self.values = values

    @property
    def values(self) -> np.ndarray:
        """One row a label, in C order. Other values are checked: the decoders read them as they are in memory."""
        return self._values

    @values.setter
    def values(self, values: np.ndarray) -> None:
        values = np.asarray(values)
        if values.dtype not in (np.float32, np.float64):
            raise TypeError(
                f"packed scores have dtype {values.dtype}; expected float32 or float64: use values.astype('float32')"
            )
        if values.ndim != 2 or values.shape[1] != self.offsets[-1]:
            raise ValueError(
                f"packed scores have shape {values.shape}; expected (labels, {self.offsets[-1]}) for {len(self)} "
                f"segments with {sum(self.lengths)} tokens and max_span_length={self.max_span_length}"
            )
        self._values = np.ascontiguousarray(values)

    def __len__(self) -> int:
        return len(self.lengths)

    def __repr__(self) -> str:
        return (
            f"PackedScores({self.values.shape[0]} labels, {len(self)} segments, {self.values.shape[1]} cells, "
            f"max_span_length={self.max_span_length})"
        )

    def cell(self, segment: int, start: int, end: int) -> int:
        """Where in the second axis of `values` a span is; `end` is exclusive."""
        n, limit = self.lengths[segment], self.max_span_length
        if not 0 <= start < end <= n or (limit is not None and end - start > limit):
            raise ValueError(
                f"the span {start}:{end} has no cell; expected 0 <= start < end <= {n}, the tokens of segment "
                f"{segment}, and at most max_span_length={limit} of them"
            )
        # The rows before: all spans of the segment, less those that start here or later.
        row = count_spans(n, limit) - count_spans(n - start, limit)
        return self.offsets[segment] + row + end - start - 1

    def cells(self, segment: int) -> slice:
        """Where in the second axis of `values` a segment is."""
        return slice(self.offsets[segment], self.offsets[segment + 1])

    def select(self, segments: Iterable[int]) -> "PackedScores":
        """Some of the segments, as a copy."""
        segments = list(segments)
        parts = [self.values[:, self.cells(number)] for number in segments]
        values = np.concatenate([self.values[:, :0], *parts], axis=1)
        return PackedScores(values, [self.lengths[number] for number in segments], self.max_span_length)

    def like(self, values: np.ndarray) -> "PackedScores":
        """Other values for the same segments."""
        return PackedScores(values, self.lengths, self.max_span_length)

    @classmethod
    def pack(cls, scores: Sequence[np.ndarray], max_span_length: int | None = None) -> "PackedScores":
        """From dense arrays of shape (n, n, labels)."""
        planes = []
        for dense in scores:
            starts, ends = span_starts_and_ends(len(dense), max_span_length)
            planes.append(np.asarray(dense)[starts, ends].T)
        values = np.concatenate(planes, axis=1) if planes else np.zeros((0, 0), dtype="float32")
        return cls(values, [len(dense) for dense in scores], max_span_length)

    def unpack(self, fill: float = -np.inf) -> list[np.ndarray]:
        """Dense arrays of shape (n, n, labels), with `fill` where there is no cell."""
        arrays = []
        for number, n in enumerate(self.lengths):
            dense = np.full((n, n, self.values.shape[0]), fill, dtype=self.values.dtype)
            starts, ends = span_starts_and_ends(n, self.max_span_length)
            dense[starts, ends] = self.values[:, self.cells(number)].T
            arrays.append(dense)
        return arrays
