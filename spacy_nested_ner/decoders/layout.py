"""Which spans a batch has, and where each one lies.

A batch is a row of segments (sentences, or whole documents). Only the spans that exist have a cell: those of the
first segment, then those of the second, and so on. Within a segment, row i holds the spans that start with token i,
shortest first, up to `max_span_length` tokens or the end of the segment:

    n = 4, max_span_length = 3:   [0:1 0:2 0:3] [1:2 1:3 1:4] [2:3 2:4] [3:4]

Model, gold, loss, decoders and predictions all share this order. It is made once per batch.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from ._memory import is_too_large, more_than_there_is
from ._settings import check_limit, check_whole

Ints = np.ndarray[Any, np.dtype[np.int64]]

# Far more than any memory holds, and no sum of them overflows.
_MOST_CELLS = 2**60


def count_spans(n_tokens: int, max_span_length: int | None = None) -> int:
    """How many spans a segment has.

    n_tokens (int): The length of the segment.
    max_span_length (int | None): The length of the longest span; None for no limit.
    RETURNS (int): The number of spans.
    """
    width = n_tokens if max_span_length is None else min(n_tokens, max_span_length)
    return n_tokens * width - width * (width - 1) // 2


class SpansOfLength(NamedTuple):
    """All spans of one length in a batch.

    starts (Ints): Their first tokens, counted over the whole batch.
    cells (Ints): Where they lie.
    """

    length: int
    starts: Ints
    cells: Ints


@dataclass(frozen=True)
class SpanLayout:
    """The spans of a batch, in order and without gaps. Immutable, and so are its arrays.

    lengths (Iterable[int]): Tokens of every segment.
    max_span_length (int | None): Tokens of the longest span that has a cell; None for no limit.
    """

    lengths: tuple[int, ...]
    max_span_length: int | None = None

    def __init__(self, lengths: Iterable[int], max_span_length: int | None = None):
        checked = tuple(check_whole("the length of a segment", length, 0) for length in lengths)
        object.__setattr__(self, "lengths", checked)
        object.__setattr__(self, "max_span_length", check_limit(max_span_length))

    def __len__(self) -> int:
        """The number of segments."""
        return len(self.lengths)

    @cached_property
    def n_tokens(self) -> int:
        return sum(self.lengths)

    @property
    def n_spans(self) -> int:
        return int(self.offsets[-1])

    @property
    def longest_span(self) -> int:
        """Tokens of the longest span that a segment has."""
        longest = max(self.lengths, default=0)
        return longest if self.max_span_length is None else min(longest, self.max_span_length)

    def bytes_of_scores(self, n_labels: int, copies: int = 1) -> float:
        """What the scores of all spans need in single precision.

        copies (int): How many such arrays are needed at once.
        """
        return 4.0 * n_labels * copies * sum(count_spans(n, self.max_span_length) for n in self.lengths)

    def check_memory(self, n_labels: int, copies: int = 1) -> None:
        """Raise MemoryError if the scores of all spans, in single precision, cannot fit.

        copies (int): How many such arrays are needed at once.
        """
        size = self.bytes_of_scores(n_labels, copies)
        if is_too_large(size):
            raise MemoryError(
                f"the scores of {self.n_tokens} tokens with spans of up to {self.longest_span} tokens and {n_labels} "
                f"labels need {size / 2**30:.1f} GiB, {more_than_there_is()}: set max_span_length, split the text into "
                f"sentences, or make smaller batches"
            )

    @cached_property
    def offsets(self) -> Ints:
        """The first cell of every segment, and the number of cells."""
        return _running_sums(count_spans(n, self.max_span_length) for n in self.lengths)

    @cached_property
    def token_offsets(self) -> Ints:
        """The first token of every segment in the batch, and the number of tokens."""
        return _running_sums(self.lengths)

    @cached_property
    def row_offsets(self) -> Ints:
        """For every token of the batch, the cell of the span that is that token alone."""
        ends = np.repeat(self.token_offsets[1:], self.lengths)
        room = ends - np.arange(self.n_tokens)
        limit = self.n_tokens if self.max_span_length is None else min(self.max_span_length, self.n_tokens)
        rows = np.minimum(room, limit)
        return _frozen(np.cumsum(rows) - rows)

    @cached_property
    def starts_and_ends(self) -> tuple[Ints, Ints]:
        """The first and last token of every span, counted over the whole batch."""
        sizes = np.diff(self.row_offsets, append=self.n_spans)
        starts = np.repeat(np.arange(self.n_tokens), sizes)
        lengths = np.arange(self.n_spans) - np.repeat(self.row_offsets, sizes)
        return _frozen(starts), _frozen(starts + lengths)

    @cached_property
    def by_length(self) -> tuple[SpansOfLength, ...]:
        """The spans of every length, from 1 on."""
        starts, ends = self.starts_and_ends
        lengths = ends - starts
        order = np.argsort(lengths, kind="stable")
        bounds = np.cumsum(np.bincount(lengths))[:-1]
        return tuple(
            SpansOfLength(length, _frozen(starts[cells]), _frozen(cells))
            for length, cells in enumerate(np.split(order, bounds), start=1)
            if len(cells)
        )

    def cells_of(self, segment: int) -> slice:
        """Where a segment lies."""
        return slice(int(self.offsets[segment]), int(self.offsets[segment + 1]))

    def cell(self, segment: int, start: int, end: int) -> int:
        """Where a span of a segment lies; `end` is the token after its last one."""
        n, limit = self.lengths[segment], self.max_span_length
        if not 0 <= start < end <= n or (limit is not None and end - start > limit):
            raise ValueError(
                f"the span {start}:{end} has no cell; expected 0 <= start < end <= {n}, the tokens of segment "
                f"{segment}, and at most max_span_length={limit} of them"
            )
        return int(self.row_offsets[self.token_offsets[segment] + start]) + end - start - 1

    def cells(self, segments: Ints, starts: Ints, ends: Ints) -> Ints:
        """Where spans lie that are known to exist: `cell` for many at once."""
        result: Ints = self.row_offsets[self.token_offsets[segments] + starts] + (ends - starts - 1)
        return result

    def select(self, segments: Iterable[int]) -> "SpanLayout":
        """Some of the segments."""
        return SpanLayout((self.lengths[number] for number in segments), self.max_span_length)


def _running_sums(numbers: Iterable[int]) -> Ints:
    sums = [0, *accumulate(numbers)]
    if sums[-1] > _MOST_CELLS:
        raise ValueError(f"the segments have {sums[-1]} spans or tokens; expected at most {_MOST_CELLS}")
    return _frozen(np.array(sums, dtype=np.int64))


def _frozen(array: Ints) -> Ints:
    array.flags.writeable = False
    return array
