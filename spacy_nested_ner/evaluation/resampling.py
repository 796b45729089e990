"""How far scores may be off because of the documents they were measured on. Arrays only.

Documents are resampled, not mentions: the mentions of a document are not independent of each other. What is counted
in a document is an array of four numbers: gold mentions, those of them that were found, mentions found, and those of
them that are right. On a level of nesting, the second and the fourth differ (see `LevelScore`).
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# How many numbers are drawn at once, which limits the memory needed.
BLOCK = 4_000_000


@dataclass(frozen=True)
class Resampling:
    """How documents are resampled.

    n (int): How often; 0 for no intervals and tests.
    seed (int): The same seed gives the same numbers.
    confidence (float): How many of such intervals have the true score in them, as a share.
    """

    n: int = 1000
    seed: int = 0
    confidence: float = 0.95

    def __post_init__(self) -> None:
        if self.n < 0:
            raise ValueError(f"the number of resamples is {self.n}; expected 0 or more")
        if not 0 < self.confidence < 1:
            raise ValueError(f"confidence is {self.confidence}; expected a share between 0 and 1, such as 0.95")
        if self.seed < 0:
            raise ValueError(f"seed is {self.seed}; expected 0 or more")


def precision_recall_f(counts: NDArray) -> Floats:
    """The three scores, as spaCy computes them; NaN where there is nothing that they could be a share of: precision
    without mentions found, recall and F without gold mentions.

    counts (NDArray): The last axis has the four counts.
    RETURNS (Floats): The last axis has the three scores.
    """
    gold, gold_found, found, right = np.moveaxis(np.asarray(counts, dtype="float64"), -1, 0)
    precision, recall = _share(right, found), _share(gold_found, gold)
    p = np.nan_to_num(precision)
    both = p + recall
    f = np.where(both > 0, 2 * p * recall / np.where(both > 0, both, 1), both)
    return np.stack([precision, recall, f], axis=-1)


def bootstrap_intervals(counts: NDArray, resampling: Resampling) -> Floats:
    """Intervals of precision, recall and F between percentiles of what they are on documents drawn with replacement.

    counts (NDArray): Documents, rows of a table, and the four counts.
    RETURNS (Floats): Rows, scores, and the lower and upper end. NaN where fewer than two documents have anything that
        the score depends on: to draw one document again and again says nothing about others.
    """
    samples = [precision_recall_f(_weighted(weights, counts)) for weights in _draws(counts, resampling)]
    gold, _, found, _ = np.moveaxis(counts > 0, -1, 0)
    enough = np.stack([found.sum(axis=0), gold.sum(axis=0), (gold | found).sum(axis=0)], axis=-1) > 1
    return np.where(enough[..., None], _percentiles(samples, resampling, counts.shape[1:-1]), np.nan)


def paired_bootstrap(one: NDArray, other: NDArray, resampling: Resampling) -> Floats:
    """Intervals of the difference in F between two pipelines on the same documents, which are drawn together.

    one, other (NDArray): As in `bootstrap_intervals`.
    RETURNS (Floats): Rows, and the lower and upper end; NaN where fewer than two documents have mentions.
    """
    samples = [
        precision_recall_f(_weighted(weights, one))[..., 2:] - precision_recall_f(_weighted(weights, other))[..., 2:]
        for weights in _draws(one, resampling)
    ]
    ends = _percentiles(samples, resampling, one.shape[1:-1])[..., 0, :]
    return np.where(_in_several(one + other)[:, None], ends, np.nan)


def randomization_test(one: NDArray, other: NDArray, resampling: Resampling) -> Floats:
    """How probable a difference in F as large as this one is, in either direction, if it did not matter which of two
    pipelines has processed which document: approximate randomization, which swaps their results at random.

    one, other (NDArray): As in `bootstrap_intervals`.
    RETURNS (Floats): One p-value per row; NaN where fewer than two documents have mentions.
    """
    total, swapped = one.sum(axis=0) + other.sum(axis=0), other - one
    observed = _difference(one.sum(axis=0), other.sum(axis=0))
    as_large = np.zeros(observed.shape)
    random = np.random.default_rng(resampling.seed)
    for size in _blocks(one, resampling.n):
        mine = one.sum(axis=0) + _weighted(random.integers(2, size=(size, len(one))), swapped)
        # The same difference, computed from other numbers, may be off by a rounding error.
        as_large += (np.abs(_difference(mine, total - mine)) >= np.abs(observed) - 1e-12).sum(axis=0)
    usable = ~np.isnan(observed) & _in_several(one + other) & (resampling.n > 0)
    return np.where(usable, (1 + as_large) / (1 + resampling.n), np.nan)


def _in_several(counts: NDArray) -> NDArray[np.bool_]:
    """For every row, whether at least two documents have mentions."""
    several: NDArray[np.bool_] = (counts.sum(axis=-1) > 0).sum(axis=0) > 1
    return several


def _difference(one: NDArray, other: NDArray) -> Floats:
    difference: Floats = precision_recall_f(one)[..., 2] - precision_recall_f(other)[..., 2]
    return difference


def _share(part: Floats, whole: Floats) -> Floats:
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1), np.nan)


def _draws(counts: NDArray, resampling: Resampling) -> Iterator[NDArray]:
    """How often each document is drawn, in as many rows as there are resamples, block by block."""
    random = np.random.default_rng(resampling.seed)
    n_documents = len(counts)
    for size in _blocks(counts, resampling.n):
        drawn = random.integers(n_documents, size=(size, n_documents))
        drawn += n_documents * np.arange(size)[:, None]
        yield np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape)


def _blocks(counts: NDArray, n: int) -> Iterator[int]:
    """How many resamples to make at a time."""
    size = max(1, BLOCK // max(1, len(counts), counts[:1].size))
    return (min(size, n - begin) for begin in range(0, n, size))


def _weighted(weights: NDArray, counts: NDArray) -> Floats:
    """Counts in sum over the documents, each as often as its weight. Whole numbers stay exact."""
    flat = counts.reshape(len(counts), prod(counts.shape[1:])).astype("float64")
    return (weights.astype("float64") @ flat).reshape(len(weights), *counts.shape[1:])


def _percentiles(samples: list[Floats], resampling: Resampling, rows: tuple[int, ...]) -> Floats:
    """The ends of intervals, on a new last axis. Resamples in which a score is not defined are left out."""
    tail = (1 - resampling.confidence) / 2
    if not samples:
        return np.full((*rows, 3, 2), np.nan)
    with warnings.catch_warnings():  # a score that no resample defines stays NaN
        warnings.filterwarnings("ignore", "All-NaN slice", RuntimeWarning)
        ends = np.nanquantile(np.concatenate(samples), [tail, 1 - tail], axis=0)
    return np.moveaxis(ends, 0, -1)
