"""Which scores are accepted, and the errors for anything else."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from ._memory import check_memory
from .layout import SpanLayout, count_spans
from .mention import AnyMention, Mention, check_mentions
from .packed import PackedScores, refuse_masked

Array: TypeAlias = np.ndarray[Any, np.dtype[np.floating[Any]]]
Arrays: TypeAlias = Sequence[Array]
Scores: TypeAlias = Array | Arrays | PackedScores

# As in labels.h: sums of weights below this never overflow.
WEIGHT_LIMIT = np.float64(1e290)  # compared with float32, it makes that float64


def is_batch(scores: Any) -> bool:
    return isinstance(scores, (list, tuple))


def as_list(scores: Any) -> list[Any]:
    """The arrays of a batch, or the one array there is. They are not looked at yet."""
    return list(scores) if isinstance(scores, (list, tuple)) else [scores]


def as_packed(scores: Any, max_span_length: int | None) -> list[PackedScores]:
    """Packed scores, checked again; arrays one by one, as they may have different labels."""
    if isinstance(scores, PackedScores):
        return [PackedScores(scores.values, scores.layout)]
    arrays = [check_array(array, name_of(scores, k)) for k, array in enumerate(as_list(scores))]
    for array in arrays:
        n, _, labels = array.shape
        width = min(n, max_span_length or n)
        check_memory(count_spans(n, width) * (48.0 + 16.0 * labels), n, width, marginals=True)
    return [PackedScores.pack([array], max_span_length) for array in arrays]


def name_of(scores: Any, number: int) -> str:
    return f"scores[{number}]" if is_batch(scores) else "scores"


def check_array(array: Any, name: str) -> Array:
    """The array itself if it can be read as scores, converted if need be; otherwise an error."""
    if not isinstance(array, np.ndarray) and (isinstance(array, (list, tuple)) or not hasattr(array, "__array__")):
        raise TypeError(f"{name} is a {type(array).__name__}; expected an array of shape (n, n, labels)")
    refuse_masked(array, name)
    result: Array = np.asarray(array)
    if result.dtype.newbyteorder("=") not in (np.float32, np.float64):
        raise TypeError(f"{name} has dtype {result.dtype}; expected float32 or float64: use {name}.astype('float32')")
    if result.ndim != 3:
        raise ValueError(f"{name} has shape {result.shape}; expected three axes (n, n, labels), found {result.ndim}")
    if result.shape[0] != result.shape[1]:
        raise ValueError(
            f"{name} has shape {result.shape}; expected (n, n, labels): as many rows as columns, one per token"
        )
    return result.astype(result.dtype.newbyteorder("="), copy=False)


def bad_weight(scores: Any, number: int, max_span_length: int | None) -> ValueError:
    """The error for the first weight in segment `number` that a decoder would read and cannot use."""
    if isinstance(scores, PackedScores):
        values = scores.of_segment(number).T
        starts, ends = scores.layout.select([number]).starts_and_ends
    else:
        dense = np.asarray(as_list(scores)[number])
        starts, ends = SpanLayout([len(dense)], max_span_length).starts_and_ends
        values = dense[starts, ends]
    keep = ends - starts < (max_span_length or len(ends) + 1)
    span, label = np.argwhere(~(values < WEIGHT_LIMIT) & keep[:, None])[0].tolist()
    value, start, end = values[span, label], starts[span], ends[span]
    if isinstance(scores, PackedScores):
        place = f"packed scores: label {label} of tokens {start} to {end} in segment {number}"
    else:
        place = f"{name_of(scores, number)}[{start}, {end}, {label}]"
    must = "below 1e290" if np.isfinite(value) else "finite"
    return ValueError(f"{place} is {value}; weights must be {must}, or -inf to forbid a mention")


def weights_of(
    scores: Scores, analyses: Sequence[Iterable[AnyMention]], contains: Callable[[list[Mention], int], bool]
) -> list[float]:
    """The weight of an analysis of every segment; -inf for one that is outside the search space.

    contains (Callable[[list[Mention], int], bool]): Of the decoder.
    """
    lengths = scores.layout.lengths if isinstance(scores, PackedScores) else [len(array) for array in as_list(scores)]
    if not isinstance(analyses, (list, tuple)) or len(analyses) != len(lengths):
        count = f"{len(analyses)} analyses" if isinstance(analyses, (list, tuple)) else repr(analyses)
        raise ValueError(f"mentions are {count}; expected a list of {len(lengths)} analyses, one for every segment")
    results = []
    for number, (mentions, n_tokens) in enumerate(zip(analyses, lengths)):
        checked = check_mentions(mentions, n_tokens)
        inside = contains(checked, n_tokens)
        results.append(sum(_weight(scores, number, mention) for mention in checked) if inside else -np.inf)
    return results


def _weight(scores: Scores, number: int, mention: Mention) -> float:
    start, end, label = mention
    labels = scores.values.shape[0] if isinstance(scores, PackedScores) else as_list(scores)[number].shape[2]
    if isinstance(label, bool) or not isinstance(label, (int, np.integer)) or not 0 <= label < labels:
        raise ValueError(f"{mention} has the label {label!r}; expected a number from 0 to {labels - 1}")
    if isinstance(scores, PackedScores):
        longest = scores.layout.max_span_length
        if longest is not None and end - start > longest:
            return -np.inf
        return float(scores.values[label, scores.layout.cell(number, start, end)])
    return float(np.asarray(as_list(scores)[number])[start, end - 1, label])
