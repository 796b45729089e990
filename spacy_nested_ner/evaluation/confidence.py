"""How far probabilities can be trusted, and how well uncertainty points at errors. Arrays only."""

from collections.abc import Sequence
from math import pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

N_BINS = 10
# How often outcomes are drawn to see how large the calibration error of exact probabilities can be, and the share of
# the draws that stay below the limit.
N_DRAWS = 1000
BELOW_LIMIT = 0.99
# Errors below this are not worth a warning, however many mentions show that they are not due to chance.
NEGLIGIBLE_ERROR = 0.02
# Shares of the text at which a ranking is given.
SHARES = tuple(n / 100 for n in range(101))

Row = dict[str, Any]


def reliability(probabilities: ArrayLike, right: ArrayLike, n_bins: int = N_BINS) -> dict[str, Any]:
    """Mentions in bins of equal width by their probability: its mean, and the share of them that is right.

    The expected calibration error is the distance between the two in a bin, averaged over the mentions.

    probabilities (ArrayLike): One for each mention.
    right (ArrayLike): Whether the mention is right.
    n_bins (int): How many bins.
    RETURNS (dict[str, Any]): "ece"; "by_chance", the mean error that exact probabilities have; "chance_limit", which
        they exceed once in a hundred times; and "bins". All but the last are None if there is no mention.
    """
    # Rounded numbers of other components may be just above 1.
    p, r = np.clip(np.asarray(probabilities, dtype="float64"), 0, 1), np.asarray(right, dtype="float64")
    places = np.minimum(n_bins - 1, (p * n_bins).astype(int))
    rows: list[Row] = []
    error = 0.0
    for number in range(n_bins):
        inside = places == number
        row: Row = {"from": number / n_bins, "to": (number + 1) / n_bins, "mentions": int(inside.sum())}
        if row["mentions"]:
            row["probability"], row["correct"] = float(p[inside].mean()), float(r[inside].mean())
            error += row["mentions"] / len(p) * abs(row["probability"] - row["correct"])
        rows.append(row)
    return {
        "ece": error if len(p) else None,
        "by_chance": error_by_chance(rows),
        "chance_limit": chance_limit(rows),
        "bins": rows,
    }


def error_by_chance(bins: Sequence[Row]) -> float | None:
    """The calibration error that exact probabilities have, on average: the fewer mentions there are, the more the share
    that is right varies. Takes deviations to be normal, and the mean of a bin for every probability in it.

    bins (Sequence[dict[str, Any]]): The "bins" that `reliability` gives.
    RETURNS (float | None): The error; None if there is no mention.
    """
    filled = [(row["mentions"], row["probability"]) for row in bins if row["mentions"]]
    if not filled:
        return None
    deviations = [sqrt(2 / pi * n * p * (1 - p)) for n, p in filled]
    return sum(deviations) / sum(n for n, _ in filled)


def chance_limit(bins: Sequence[Row]) -> float | None:
    """The calibration error that exact probabilities exceed once in 100 times, by a parametric bootstrap: draws of
    mentions that are right with the mean probability of their bin. With the probability of each mention, the draws
    would vary a little less."""
    filled = [(row["mentions"], row["probability"]) for row in bins if row["mentions"]]
    if not filled:
        return None
    counts, means = (np.array(column) for column in zip(*filled))
    # A generator of its own, so that a report is the same whenever it is made again.
    right = np.random.default_rng(0).binomial(counts, means, size=(N_DRAWS, len(counts)))
    errors = np.abs(right - counts * means).sum(axis=1) / counts.sum()
    return float(np.quantile(errors, BELOW_LIMIT))


def is_miscalibrated(calibration: dict[str, Any]) -> bool:
    """Whether the calibration error is far above chance, and large enough to matter.

    calibration (dict[str, Any]): What `reliability` returns.
    """
    if calibration["ece"] is None:
        return False
    return bool(calibration["ece"] > max(calibration["chance_limit"], NEGLIGIBLE_ERROR))


def log_loss(probabilities: ArrayLike, right: ArrayLike) -> float:
    """The mean of -log of the probability of the actual outcome, in nats; 0 if there is no mention.

    probabilities (ArrayLike): One for each mention.
    right (ArrayLike): Whether the mention is right.
    RETURNS (float): The mean.
    """
    p, r = np.asarray(probabilities, dtype="float64"), np.asarray(right, dtype=bool)
    p = np.clip(p, 1e-6, 1 - 1e-6)
    return float(-np.log(np.where(r, p, 1 - p)).mean()) if len(p) else 0.0


def ranking(keys: ArrayLike, errors: ArrayLike, sizes: ArrayLike | None = None) -> dict[str, Any]:
    """How soon errors are found by someone who reads from the highest key down.

    keys (ArrayLike): One for each sentence, such as its entropy.
    errors (ArrayLike): The number of its mentions that are wrong or missed.
    sizes (ArrayLike | None): Its words, to measure how much is read in words; otherwise in sentences.
    RETURNS (dict[str, Any]): "curve", the share of errors found at the shares `SHARES` of the text; "area" below the
        curve, 0.5 for a random order; "half", the share of the text that has half of the errors. All are None if there
        is no error.
    """
    order = np.argsort(-np.asarray(keys, dtype="float64"), kind="stable")
    found = np.cumsum(np.asarray(errors, dtype="float64")[order])
    read = np.cumsum((np.ones(len(order)) if sizes is None else np.asarray(sizes, dtype="float64"))[order])
    if not len(order) or not found[-1]:
        return {"curve": None, "area": None, "half": None}
    x, y = np.r_[0, read / read[-1]], np.r_[0, found / found[-1]]
    return {
        "curve": np.interp(SHARES, x, y).tolist(),
        "area": float(((x[1:] - x[:-1]) * (y[1:] + y[:-1]) / 2).sum()),
        "half": float(x[np.searchsorted(y, 0.5)]),
    }
