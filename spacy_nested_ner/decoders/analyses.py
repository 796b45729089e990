"""What decoding finds, as arrays."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from .mention import Mention

Ints = np.ndarray[Any, np.dtype[np.int64]]
Doubles = np.ndarray[Any, np.dtype[np.float64]]

# Mention._make without its check of the length, in half the time: mentions can be as many as tokens.
_make: Callable[[Iterable[int]], Mention] = partial(tuple.__new__, Mention)


@dataclass(frozen=True, eq=False)
class Analyses:
    """One analysis per segment, in columns: the mentions of segment k are rows offsets[k] to offsets[k + 1], sorted by
    start, then longest first, then label.

    starts (Ints): The first token of every mention, counted within its segment.
    ends (Ints): The token after its last one.
    labels (Ints): The number of its label.
    offsets (Ints): The first row of every segment, and the number of rows.
    """

    starts: Ints
    ends: Ints
    labels: Ints
    offsets: Ints

    def __len__(self) -> int:
        """The number of segments."""
        return len(self.offsets) - 1

    def mentions(self) -> list[list[Mention]]:
        """The same as objects, one list per segment."""
        rows = self.all_mentions()
        return [rows[first:last] for first, last in pairwise(self.offsets.tolist())]

    def all_mentions(self, begins: Ints | None = None) -> list[Mention]:
        """The mentions of all segments, one after the other.

        begins (Ints | None): Where every segment begins in a text; None to count tokens within segments.
        RETURNS (list[Mention]): One per row.
        """
        shifts = 0 if begins is None else np.repeat(begins, np.diff(self.offsets))
        starts, ends = self.starts + shifts, self.ends + shifts
        return list(map(_make, zip(starts.tolist(), ends.tolist(), self.labels.tolist())))


@dataclass(frozen=True, eq=False)
class ScoredAnalyses(Analyses):
    """The same with everything that the scores say about them.

    starts, ends, labels, offsets (Ints): As those of `Analyses`.
    probabilities (Doubles): The marginal of every mention.
    log_partitions (Doubles): The logarithm of the sum over all analyses of exp(weight), for every segment.
    log_probabilities (Doubles): Of every segment's analysis.
    entropies (Doubles): Of the distribution over all analyses of every segment, in nats.
    """

    probabilities: Doubles
    log_partitions: Doubles
    log_probabilities: Doubles
    entropies: Doubles
