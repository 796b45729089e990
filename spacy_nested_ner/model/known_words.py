"""Embed each word that training has seen by a vector of its own, and all others by zeros.

    embed(w) = E[row of w]   if training has seen w
               0             if not

Where words are hashed to the rows of a table, a new word gets the sum of rows that belong to other words, or that are
as random as at the beginning. On a small corpus, that is most words of a new text. Here, a new word says nothing by
itself, and the network goes by its prefix, suffix, shape and neighbors. To learn that, it sees a share of the words of
each batch in training as if they were new.
"""

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
from thinc.api import Model, Optimizer
from thinc.shims import Shim
from thinc.types import Floats2d, Ints2d

from ._types import Array
from .row_gradients import RowGradients

InT = Ints2d
OutT = Floats2d


def known_words(width: int, rows: int, *, column: int, unknown_rate: float) -> Model[InT, OutT]:
    """Map the hashes of words to vectors.

    width (int): Width of the vectors.
    rows (int): How many words can be known: those that training sees first.
    column (int): Which column of the input has the words.
    unknown_rate (float): The share of the words of a batch that count as unknown in training.
    """
    return Model(
        "known_words",
        forward,
        init=init,
        params={"E": None},
        dims={"nO": width, "nV": rows},
        attrs={"column": column, "unknown_rate": unknown_rate},
        shims=[WordTable(rows), RowGradients()],
    )


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    model.set_param("E", model.ops.alloc2f(model.get_dim("nV"), model.get_dim("nO")))


def forward(model: Model[InT, OutT], X: InT, is_train: bool) -> tuple[OutT, Callable]:
    ops = model.ops
    E: Array = model.get_param("E")
    table, gradients = cast(tuple[WordTable, RowGradients], model.shims)
    hashes = np.ascontiguousarray(ops.to_numpy(X[:, model.attrs["column"]]), dtype="uint64")
    words, of_tokens = np.unique(hashes, return_inverse=True)
    rows_of_words = table.look_up(words.tolist(), add=is_train)
    is_known = rows_of_words >= 0
    if is_train:
        is_known &= np.random.random(len(words)) >= model.attrs["unknown_rate"]
    tokens: Array = np.flatnonzero(is_known[of_tokens])
    rows_of_tokens: Array = rows_of_words[of_tokens[tokens]]
    known, rows = ops.asarray1i(tokens), ops.asarray1i(rows_of_tokens)
    output: Array = ops.alloc2f(len(X), E.shape[1])
    output[known] = E[rows]

    def backprop(d_output: Array) -> InT:
        gradients.add(model, "E", rows, d_output[known])
        # Added to the zeros of HashEmbed, which are no integers.
        return cast(InT, ops.alloc2f(*X.shape))

    return output, backprop


class WordTable(Shim):
    """The rows of words, in the order in which they were seen. A shim, so that it is saved with the layer."""

    def __init__(self, capacity: int) -> None:
        super().__init__(model=None)
        self.capacity = capacity
        self._rows: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def look_up(self, words: Sequence[int], *, add: bool) -> np.ndarray:
        """The row of each word, or -1.

        words (Sequence[int]): Hashes.
        add (bool): Whether a new word gets the next row, if there is one.
        RETURNS (np.ndarray): The rows.
        """
        rows = self._rows
        for word in words if add else ():
            if len(rows) == self.capacity:
                break
            rows.setdefault(word, len(rows))
        return np.array([rows.get(word, -1) for word in words], dtype=np.int64)

    def finish_update(self, optimizer: Optimizer) -> None:
        pass

    def to_device(self, device_type: str, device_id: int) -> None:
        pass

    def to_bytes(self) -> bytes:
        return np.fromiter(self._rows, dtype="<u8", count=len(self._rows)).tobytes()

    def from_bytes(self, data: bytes) -> "WordTable":
        if len(data) % 8 or len(data) // 8 > self.capacity:
            raise ValueError(
                f"the table of known words has {len(data):,} bytes; expected eight for each of at most "
                f"{self.capacity:,} words. The files are damaged, or were saved with a config that has other rows"
            )
        self._rows = {word: row for row, word in enumerate(np.frombuffer(data, dtype="<u8").tolist())}
        return self
