"""Which threshold has the highest F, and whether that is more than chance. Arrays only."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .resampling import Resampling, paired_bootstrap, precision_recall_f
from .scores import Estimate


class ThresholdScore(NamedTuple):
    """The scores at a threshold, as `spacy evaluate` computes them.

    threshold (float | None): None for the most probable analysis.
    p, r, f (float): Precision, recall and F.
    """

    threshold: float | None
    p: float
    r: float
    f: float


class ThresholdChoice(NamedTuple):
    """Which threshold was chosen, and why.

    before (ThresholdScore): With the settings that the pipeline had.
    after (ThresholdScore): With the threshold that was chosen.
    best (ThresholdScore): The one with the highest F. It is chosen only if its gain is more than chance.
    gain (Estimate): How much higher its F is than without a threshold. There is no interval if fewer than two documents
        have mentions.
    scores (list[ThresholdScore]): Without a threshold, and at all that were tried.
    """

    before: ThresholdScore
    after: ThresholdScore
    best: ThresholdScore
    gain: Estimate
    scores: list[ThresholdScore]


def choose_threshold(thresholds: Sequence[float], counts: NDArray, before: ThresholdScore) -> ThresholdChoice:
    """Choose the threshold with the highest F, if the 95 % interval of its gain over the most probable analysis is
    above 0: that of the paired bootstrap by document, as in `difference_table`. Otherwise, choose none.

    The best of many thresholds is often the luckiest one. Where there is little to gain, and on few documents, taking
    it lowers F on other data; where there is much to gain, the interval is soon above 0 (numbers are in
    experiments/notes.md). A gain that cannot be told from chance is not worth a setting.

    thresholds (Sequence[float]): What was tried. Of two with the same F, the first is better.
    counts (NDArray): Documents; no threshold and all `thresholds`; and the four counts of `precision_recall_f`.
    before (ThresholdScore): With the settings that the pipeline had.
    """
    scores = [threshold_score(*each) for each in zip([None, *thresholds], np.moveaxis(counts, 1, 0))]
    none, best = scores[0], max(scores[1:], key=lambda score: score.f)
    place = scores.index(best)
    ((low, high),) = paired_bootstrap(counts[:, [place]], counts[:, [0]], Resampling()).tolist()
    gain = Estimate(best.f - none.f, *(None if np.isnan(end) else end for end in (low, high)))
    return ThresholdChoice(before, best if low > 0 and best.f > none.f else none, best, gain, scores)


def threshold_score(threshold: float | None, counts: NDArray) -> ThresholdScore:
    """The scores of some documents.

    counts (NDArray): Documents, and the four counts of `precision_recall_f`.
    """
    p, r, f = np.nan_to_num(precision_recall_f(counts.sum(axis=0))).tolist()
    return ThresholdScore(threshold, p, r, f)
