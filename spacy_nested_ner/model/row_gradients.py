"""Gradients of embedding tables of which a batch uses few rows: the optimizer touches only those."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import e, log
from pathlib import Path
from typing import Any, NamedTuple

from thinc.api import Model, Optimizer
from thinc.shims import Shim

from ._types import Array

Key = tuple[int, str]

# As in Thinc's moving averages of weights.
_MOST_DECAY = 0.9999


class RowGradients(Shim):
    """Holds the gradients of some rows of the parameters of a layer until its update is finished.

    Rows without a gradient keep their value: they have neither momentum nor weight decay meanwhile. Averages of the
    weights are brought up to date when `use_params` is about to use them. Thinc finishes the update of the shims of a
    layer as it does that of its parameters, hence the base class.
    """

    def __init__(self) -> None:
        super().__init__(model=None)
        self._parts: dict[Key, list[_Part]] = {}
        self._averages: dict[Key, _Average] = {}

    def add(self, model: Model, name: str, rows: Array, gradient: Array) -> None:
        """Add to the gradient of a parameter.

        model (Model): The layer.
        name (str): The parameter.
        rows (Array): Rows of it; they may occur more than once.
        gradient (Array): One row for each.
        """
        table: Array = model.get_param(name)
        ops = model.ops
        used = ops.xp.zeros(len(table), dtype=bool)
        used[rows] = True
        places = ops.xp.cumsum(used, dtype="int32") - 1
        distinct = ops.xp.flatnonzero(used)
        summed = ops.alloc2f(len(distinct), table.shape[1])
        ops.scatter_add(summed, places[rows], gradient)
        self._parts.setdefault((model.id, name), []).append(_Part(table, distinct, summed))

    def gradient(self, model: Model, name: str) -> Array:
        """The gradient of a whole parameter."""
        return _joined(model.get_param(name), self._parts.get((model.id, name), []))

    def finish_update(self, optimizer: Optimizer) -> None:
        for key, parts in self._parts.items():
            table, rows, gradient = parts[0] if len(parts) == 1 else _sum_of(parts)
            averages, optimizer.averages = optimizer.averages, None
            try:
                if averages is not None:
                    average = self._average(key, table, averages)
                    average.catch_up(rows)
                _update(optimizer, key, table, rows, gradient)
                if averages is not None:
                    average.step(rows, optimizer.nr_update[key])
            finally:
                optimizer.averages = averages
        self._parts.clear()

    def _average(self, key: Key, table: Array, averages: dict[Any, Array]) -> "_Average":
        average = self._averages.get(key)
        if average is None or averages.get(key) is not average.values:
            # Another optimizer. Its averages, if there are some, were brought up to date when it was last changed.
            if average is not None:
                average.catch_up(slice(None))
            average = _Average(table, averages.setdefault(key, table * 0), table[:, 0].astype("float64") * 0)
            self._averages[key] = average
        average.table = table
        return average

    @contextmanager
    def use_params(self, params: dict[Any, Array]) -> Iterator[None]:
        """Bring averages up to date. They may be in the layer already: they are changed in place."""
        for key, average in self._averages.items():
            if params.get(key) is average.values:
                average.catch_up(slice(None))
        yield

    def copy(self) -> "RowGradients":
        """For a copy of the layer, which has a table and an id of its own: what is here belongs to this one."""
        return RowGradients()

    def to_device(self, device_type: str, device_id: int) -> None:
        self._parts.clear()

    def to_disk(self, path: str | Path) -> None:
        pass

    def from_disk(self, path: str | Path) -> "RowGradients":
        return self

    def to_bytes(self) -> bytes:
        return b""

    def from_bytes(self, bytes_data: bytes) -> "RowGradients":
        return self


class _Part(NamedTuple):
    table: Array  # the parameter itself
    rows: Array  # each once
    gradient: Array  # of these rows


@dataclass
class _Average:
    """The moving average of a table. A row whose weights stay the same is brought up to date when it is needed: what is
    left of the difference is the product of the decays of all steps since then."""

    table: Array  # the parameter itself
    values: Array
    seen: Array  # the sum of the logarithms of all decays, when a row was last up to date
    decayed: float = 0.0  # that sum now

    def catch_up(self, rows: Array | slice) -> None:
        weights = self.table[rows]
        # exp(decayed - seen), for NumPy and CuPy alike
        left = (e ** (self.decayed - self.seen[rows])).astype(weights.dtype)
        self.values[rows] = weights + (self.values[rows] - weights) * left[:, None]
        self.seen[rows] = self.decayed

    def step(self, rows: Array, number: int) -> None:
        """Take in the new weights of some rows; all others have stayed the same."""
        decay = min((1 + number) / (10 + number), _MOST_DECAY)
        self.values[rows] -= (1 - decay) * (self.values[rows] - self.table[rows])
        self.decayed += log(decay)
        self.seen[rows] = self.decayed


def _joined(table: Array, parts: list[_Part]) -> Array:
    whole = table * 0
    for part in parts:
        whole[part.rows] += part.gradient
    return whole


def _sum_of(parts: list[_Part]) -> _Part:
    table = parts[0].table
    whole = _joined(table, parts)
    rows = whole.any(axis=1).nonzero()[0]
    return _Part(table, rows, whole[rows])


def _update(optimizer: Optimizer, key: Key, table: Array, rows: Array, gradient: Array) -> None:
    """Let the optimizer see these rows and their momentum, and nothing else."""
    momenta: tuple[dict[Any, Array], ...] = (optimizer.mom1, optimizer.mom2)
    whole = [momentum.get(key) for momentum in momenta]
    for momentum, of_table in zip(momenta, whole):
        if of_table is not None:
            momentum[key] = of_table.reshape(table.shape)[rows].reshape(-1)
    table[rows], _ = optimizer(key, table[rows], gradient)
    for momentum, of_table in zip(momenta, whole):
        if key in momentum:
            of_rows = momentum[key].reshape(gradient.shape)
            momentum[key] = (table * 0).reshape(-1) if of_table is None else of_table
            momentum[key].reshape(table.shape)[rows] = of_rows
