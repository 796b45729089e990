"""How far one system is ahead of another on the same documents, with the interval of that lead.

Documents are drawn with replacement, together for both systems and all seeds. The mean over several corpora draws from
each of them. The folds of a corpus count as one: the documents of all their test parts.
"""

from typing import NamedTuple

import numpy as np
from accuracy import weights
from markup import markdown, percent
from numpy.typing import NDArray
from results import Result

from spacy_nested_ner.evaluation.resampling import precision_recall_f

SAMPLES = 2000


class Pair(NamedTuple):
    """Two systems on the same data: their runs, one per seed."""

    before: list[Result]
    after: list[Result]


def pair_of(before: list[Result], after: list[Result]) -> Pair:
    """Both systems on the seeds that both have."""
    by_seed = [{run["seed"]: run for run in runs} for runs in (before, after)]
    seeds = sorted(by_seed[0].keys() & by_seed[1].keys())
    return Pair(*([runs[seed] for seed in seeds] for runs in by_seed))


# The pairs of its folds; a corpus that is not divided has one.
Folds = list[Pair]


class Lead(NamedTuple):
    """A difference in F, and the ends of its 95 % interval."""

    mean: float
    low: float
    high: float


def lead(corpora: list[Folds]) -> Lead:
    """The mean over corpora of the lead of the second system over the first: test F with the threshold that is best on
    dev."""
    counts = [_counts_of_folds(folds) for folds in corpora]
    observed = np.mean([_difference(of_corpus.sum(axis=0)) for of_corpus in counts])
    random = np.random.default_rng(0)
    drawn = np.mean([_samples(of_corpus, random) for of_corpus in counts], axis=0)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Lead(float(observed), float(low), float(high))


def short_lead_table(corpora: dict[str, Folds], before: str, after: str) -> str:
    """One row per corpus, by its title, that is not divided: seeds, test F of both, and the lead."""
    rows = [
        [
            title,
            str(len(pair.before)),
            *map(percent, _f(_counts_of_folds([pair]).sum(axis=0))),
            show_lead(lead([[pair]])),
        ]
        for title, (pair,) in corpora.items()
    ]
    return markdown(["", "seeds", before, after, "lead"], rows)


def lead_table(corpora: dict[str, Folds], before: str, after: str) -> str:
    """One row per corpus, by its title, and one for the mean over them. NR is the recall of nested mentions, at the
    precision of the first system.

    before (str), after (str): The names of the systems.
    """
    rows, f = [], []
    for title, folds in corpora.items():
        f.append(_f(_counts_of_folds(folds).sum(axis=0)))
        nested = np.mean([nested_recalls(pair) for pair in folds], axis=0)
        shown = [*map(percent, f[-1]), show_lead(lead([folds])), *map(percent, nested)]
        rows.append([title, str(len(folds)), str(len(folds[0].before)), *shown])
    if len(rows) > 1:
        means = map(percent, np.mean(f, axis=0))
        rows.append(["mean", "", "", *means, show_lead(lead(list(corpora.values()))), "", ""])
    names = [before, after]
    return markdown(
        ["", "folds", "seeds", *(f"{name} F" for name in names), "lead", *(f"{name} NR" for name in names)], rows
    )


def nested_recalls(pair: Pair) -> tuple[float, float]:
    """The recall of nested mentions at equal precision: that of the first system at its threshold, and that of the
    second one between the thresholds where its precision is above and below; means over seeds. NaN if there are none.
    """
    before, after = [], []
    for one, other in zip(*pair):
        at, points = _last(one)["tuned"]["test"], _last(other)["curve"]
        before.append(at["nested_r"])
        precisions, recalls = zip(*sorted(zip(points["p"], points["nested_r"])))
        after.append(float(np.interp(at["p"], precisions, recalls, left=np.nan, right=np.nan)))
    return float(np.mean(before)), float(np.mean(after))


def _last(run: Result) -> Result:
    point: Result = weights(run)["points"][str(run["updates"][-1])]
    return point


def show_lead(found: Lead) -> str:
    return f"{100 * found.mean:+.1f} ({100 * found.low:+.1f} to {100 * found.high:+.1f})"


def _counts(runs: list[Result]) -> NDArray:
    """Documents, seeds, and the four counts of `evaluation.resampling`."""
    last = [_last(run)["tuned"]["test"]["documents"] for run in runs]
    gold, found, right = np.moveaxis(np.array(last), -1, 0)
    return np.stack([gold, right, found, right], axis=-1).swapaxes(0, 1)


def _counts_of_folds(folds: Folds) -> NDArray:
    """Documents, systems, seeds, and the four counts."""
    return np.concatenate([np.stack([_counts(before), _counts(after)], axis=1) for before, after in folds])


def _f(counts: NDArray) -> NDArray:
    """F of both systems, mean over seeds. The last three axes are systems, seeds and counts."""
    of_systems: NDArray = precision_recall_f(counts)[..., 2].mean(axis=-1)
    return of_systems


def _difference(counts: NDArray) -> NDArray:
    """The lead of the second system."""
    of_before, of_after = np.moveaxis(_f(counts), -1, 0)
    difference: NDArray = of_after - of_before
    return difference


def _samples(counts: NDArray, random: np.random.Generator) -> NDArray:
    n = len(counts)
    times = random.multinomial(n, np.full(n, 1 / n), size=SAMPLES)
    return _difference(np.tensordot(times, counts, axes=1))
