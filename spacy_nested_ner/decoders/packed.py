"""Scores of a whole batch in one array: only the spans that exist.

One plane per label, so that sums over labels run along contiguous memory whatever the number of labels, a row of
spans is one contiguous run for the dynamic programs, and nothing is stored, read or computed for impossible spans.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .layout import SpanLayout

Floats = np.ndarray[Any, np.dtype[np.float32]] | np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, eq=False)
class PackedScores:
    """The scores of several segments, packed.

    values (numpy.ndarray): float32 or float64, shape (labels, spans), a column for every span in the order of the
        layout. Copied only if its memory is not in C order, aligned and in native byte order.
    layout (SpanLayout): Which spans there are.
    """

    values: Floats
    layout: SpanLayout

    def __post_init__(self) -> None:
        if not isinstance(self.layout, SpanLayout):
            raise TypeError(f"layout is a {type(self.layout).__name__}; expected a SpanLayout, made of segment lengths")
        object.__setattr__(self, "values", _checked(self.values, self.layout))

    def __len__(self) -> int:
        """The number of segments."""
        return len(self.layout)

    def __repr__(self) -> str:
        labels, spans = self.values.shape
        limit = self.layout.max_span_length
        return f"PackedScores({labels} labels, {len(self)} segments, {spans} spans, max_span_length={limit})"

    def of_segment(self, segment: int) -> Floats:
        """The part of `values` that belongs to a segment: a view."""
        return self.values[:, self.layout.cells_of(segment)]

    def like(self, values: Floats) -> "PackedScores":
        """Other values for the same spans."""
        return PackedScores(values, self.layout)

    def at(self, temperature: float) -> "PackedScores":
        """The scores divided by a temperature, in their own precision. Decoders refuse what is too large then."""
        if temperature == 1:
            return self
        with np.errstate(all="ignore"):
            return self.like(self.values / self.values.dtype.type(temperature))

    def select(self, segments: Iterable[int]) -> "PackedScores":
        """Some of the segments, as a copy."""
        segments = list(segments)
        parts = [self.of_segment(number) for number in segments]
        values = np.concatenate([self.values[:, :0], *parts], axis=1)
        return PackedScores(values, self.layout.select(segments))

    @classmethod
    def pack(cls, scores: Sequence[Any], max_span_length: int | None = None) -> "PackedScores":
        """From dense arrays of shape (n, n, labels)."""
        for number, dense in enumerate(scores):
            refuse_masked(dense, f"scores[{number}]")
        arrays = [np.asarray(dense) for dense in scores]
        planes = []
        for dense in arrays:
            starts, ends = SpanLayout([len(dense)], max_span_length).starts_and_ends
            planes.append(dense[starts, ends].T)
        values = np.concatenate(planes, axis=1) if planes else np.zeros((0, 0), dtype="float32")
        return cls(values, SpanLayout([len(dense) for dense in arrays], max_span_length))

    def unpack(self, fill: float = -np.inf) -> list[Floats]:
        """Dense arrays of shape (n, n, labels), with `fill` where there is no cell."""
        arrays: list[Floats] = []
        for number, n in enumerate(self.layout.lengths):
            dense = np.full((n, n, self.values.shape[0]), fill, dtype=self.values.dtype)
            starts, ends = SpanLayout([n], self.layout.max_span_length).starts_and_ends
            dense[starts, ends] = self.of_segment(number).T
            arrays.append(dense)
        return arrays


def refuse_masked(array: Any, name: str) -> None:
    """An error if some values of an array are hidden by a mask, which everything but numpy.ma ignores."""
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array; use {name}.filled(-numpy.inf) to forbid what is masked")


def _checked(values: Any, layout: SpanLayout) -> Floats:
    """Values as the kernels read them: in C order, aligned, in native byte order."""
    refuse_masked(values, "values")
    values = np.asarray(values)
    native = values.dtype.newbyteorder("=")
    if native not in (np.float32, np.float64):
        raise TypeError(
            f"packed scores have dtype {values.dtype}; expected float32 or float64: use values.astype('float32')"
        )
    if values.ndim != 2 or values.shape[1] != layout.n_spans:
        raise ValueError(
            f"packed scores have shape {values.shape}; expected (labels, {layout.n_spans}) for {len(layout)} "
            f"segments with {layout.n_tokens} tokens and max_span_length={layout.max_span_length}"
        )
    checked: Floats = np.require(values, dtype=native, requirements=["C", "ALIGNED"])
    return checked
