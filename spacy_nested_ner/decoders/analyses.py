"""What decoding finds, as arrays."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from .mention import Mention

Ints = np.ndarray[Any, np.dtype[np.int64]]

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
        """The same as objects."""
        rows = list(map(_make, zip(self.starts.tolist(), self.ends.tolist(), self.labels.tolist())))
        bounds = self.offsets.tolist()
        return [rows[first:last] for first, last in pairwise(bounds)]
