"""What may be given as scores, and what is said about anything else."""

from typing import Any

import numpy as np

from .layout import SpanLayout
from .packed import PackedScores

Scores = np.ndarray | list[np.ndarray] | tuple[np.ndarray, ...] | PackedScores


def is_batch(scores: Any) -> bool:
    return isinstance(scores, (list, tuple))


def as_list(scores: Scores) -> list:
    """The arrays of a batch, or the one array there is. They are not looked at yet."""
    return list(scores) if isinstance(scores, (list, tuple)) else [scores]


def name_of(scores: Scores, number: int) -> str:
    return f"scores[{number}]" if is_batch(scores) else "scores"


def check_array(array: Any, name: str) -> np.ndarray:
    """The array itself if it can be read as scores, converted if need be; otherwise an error."""
    if not isinstance(array, np.ndarray):
        if isinstance(array, (list, tuple)) or not hasattr(array, "__array__"):
            raise TypeError(f"{name} is a {type(array).__name__}; expected an array of shape (n, n, labels)")
        array = np.asarray(array)
    if array.dtype.newbyteorder("=") not in (np.float32, np.float64):
        raise TypeError(f"{name} has dtype {array.dtype}; expected float32 or float64: use {name}.astype('float32')")
    if array.ndim != 3:
        raise ValueError(f"{name} has shape {array.shape}; expected three axes (n, n, labels), found {array.ndim}")
    if array.shape[0] != array.shape[1]:
        raise ValueError(
            f"{name} has shape {array.shape}; expected (n, n, labels): as many rows as columns, one a token"
        )
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def bad_weight(scores: Scores, number: int, max_span_length: int | None) -> ValueError:
    """The error for the first NaN or +inf that a decoder would read in segment `number`."""
    must = "weights must be finite, or -inf to forbid a mention"
    if isinstance(scores, PackedScores):
        values = scores.of_segment(number).T
        starts, ends = scores.layout.select([number]).starts_and_ends
    else:
        dense = np.asarray(as_list(scores)[number])
        starts, ends = SpanLayout([len(dense)], max_span_length).starts_and_ends
        values = dense[starts, ends]
    keep = ends - starts < (max_span_length or len(ends) + 1)
    span, label = np.argwhere(~(values < np.inf) & keep[:, None])[0].tolist()
    value, start, end = values[span, label], starts[span], ends[span]
    if isinstance(scores, PackedScores):
        place = f"packed scores: label {label} of tokens {start} to {end} in segment {number}"
    else:
        place = f"{name_of(scores, number)}[{start}, {end}, {label}]"
    return ValueError(f"{place} is {value}; {must}")
