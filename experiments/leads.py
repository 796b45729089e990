"""How far one system is ahead of another on the same documents, with the interval of that lead.

Documents are drawn with replacement, together for both systems and all seeds. The mean over several corpora draws from
each of them.
"""

from typing import NamedTuple

import numpy as np
from accuracy import weights
from numpy.typing import NDArray
from results import Result

from spacy_nested_ner.evaluation.resampling import precision_recall_f

SAMPLES = 2000


class Lead(NamedTuple):
    """A difference in F, and the ends of its 95 % interval."""

    mean: float
    low: float
    high: float


def lead(corpora: list[tuple[list[Result], list[Result]]]) -> Lead:
    """The mean over corpora of the lead of the second list of runs over the first.

    corpora (list[tuple[list[Result], list[Result]]]): For every corpus, the runs of both systems, seed by seed. Test F
        with the threshold that is best on dev.
    """
    counts = [np.stack([_counts(before), _counts(after)], axis=1) for before, after in corpora]
    observed = np.mean([_difference(of_corpus.sum(axis=0)) for of_corpus in counts])
    random = np.random.default_rng(0)
    drawn = np.mean([_samples(of_corpus, random) for of_corpus in counts], axis=0)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Lead(float(observed), float(low), float(high))


def show_lead(found: Lead) -> str:
    return f"{100 * found.mean:+.1f} ({100 * found.low:+.1f} to {100 * found.high:+.1f})"


def _counts(runs: list[Result]) -> NDArray:
    """Documents, seeds, and the four counts of `evaluation.resampling`."""
    last = [weights(run)["points"][str(run["updates"][-1])]["tuned"]["test"]["documents"] for run in runs]
    gold, found, right = np.moveaxis(np.array(last), -1, 0)
    return np.stack([gold, right, found, right], axis=-1).swapaxes(0, 1)


def _difference(counts: NDArray) -> NDArray:
    """The lead of the second system: mean over seeds. The last three axes are systems, seeds and counts."""
    of_before, of_after = np.moveaxis(precision_recall_f(counts)[..., 2].mean(axis=-1), -1, 0)
    difference: NDArray = of_after - of_before
    return difference


def _samples(counts: NDArray, random: np.random.Generator) -> NDArray:
    n = len(counts)
    times = random.multinomial(n, np.full(n, 1 / n), size=SAMPLES)
    return _difference(np.tensordot(times, counts, axes=1))
