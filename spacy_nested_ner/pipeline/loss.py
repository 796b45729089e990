"""Scores and gold mentions to loss and gradient: the negative log-likelihood of a CRF."""

from collections.abc import Sequence

import numpy as np

from ..decoders import Decoder, Mention, PackedScores
from .incomplete import Incomplete, gain_of_unlisted


def crf_loss(
    decoder: Decoder,
    scores: PackedScores,
    gold: Sequence[Sequence[Mention] | Incomplete | None],
    *,
    label_smoothing: float = 0.0,
) -> tuple[float, np.ndarray]:
    """The mean over segments of the negative log-likelihood of what is known of them, and its gradient.

    Of a segment that is annotated in full that is log Z minus the weight of the gold analysis. Of an
    incomplete one it is log Z minus the logarithm of the sum over all analyses that agree with what is known,
    each times missing_rate for every mention that is not among the known ones.

    decoder (Decoder): The search space.
    scores (PackedScores): Of the segments.
    gold (Sequence): Mentions of every segment, with label numbers, inside the search space
        (`Decoder.project`); Incomplete where others may be right as well; None where nothing is known,
        which gives no gradient.
    label_smoothing (float): The share of a gold mention that goes to the other labels of the same
        span. The smoothed target is then still a mixture of analyses, so that the loss has a lowest value.
        Incomplete segments are not smoothed if the decoder is multi_label: the other labels of a
        known mention are unknown then, and there would be no lowest value.
    RETURNS (tuple[float, np.ndarray]): Loss, and gradient of the shape of the scores.
    """
    annotated = [number for number, mentions in enumerate(gold) if mentions is not None]
    if not annotated:
        return 0.0, np.zeros_like(scores.values)
    incomplete = {number: mentions for number, mentions in enumerate(gold) if isinstance(mentions, Incomplete)}
    totals, marginals = decoder.log_partition_and_marginals(scores)
    complete = [None if number in incomplete else mentions for number, mentions in enumerate(gold)]
    target = smoothed_target(scores, complete, label_smoothing)
    if incomplete:
        known = [incomplete[number].known if number in incomplete else None for number in range(len(gold))]
        target += smoothed_target(scores, known, 0.0 if decoder.multi_label else label_smoothing)
    gradient = marginals.values
    gradient -= target
    loss = sum(totals[number] for number in annotated) - _weight(scores.values, target)
    if incomplete:
        gain, of_gain = gain_of_unlisted(decoder, scores, incomplete, totals)
        loss -= gain
        for place, number in enumerate(incomplete):
            gradient[:, scores.layout.cells_of(number)] -= of_gain.of_segment(place)
    for number in set(range(len(gold))).difference(annotated):
        gradient[:, scores.layout.cells_of(number)] = 0
    gradient /= len(annotated)
    return float(loss) / len(annotated), gradient


def smoothed_target(
    scores: PackedScores, gold: Sequence[Sequence[Mention] | None], label_smoothing: float
) -> np.ndarray:
    """What the marginals of a perfect model would be, in packed order."""
    target = np.zeros_like(scores.values)
    n_labels = len(target)
    cells, labels = gold_cells(scores, gold)
    if n_labels > 1 and label_smoothing:
        others = label_smoothing / (n_labels - 1)
        np.add.at(target.T, cells, others)
        np.add.at(target, (labels, cells), 1 - label_smoothing - others)
    else:
        target[labels, cells] = 1
    return target


def gold_cells(scores: PackedScores, gold: Sequence[Sequence[Mention] | None]) -> tuple[np.ndarray, np.ndarray]:
    """Where gold mentions are in packed scores: their cells and labels. A mention that is named twice is one."""
    found = dict.fromkeys(
        (scores.layout.cell(number, start, end), label)
        for number, mentions in enumerate(gold)
        for start, end, label in mentions or ()
    )
    cells, labels = zip(*found) if found else ((), ())
    return np.array(cells, dtype=int), np.array(labels, dtype=int)


def _weight(values: np.ndarray, target: np.ndarray) -> float:
    """The weight of a (smoothed) analysis. Forbidden mentions have no part in it."""
    rows, columns = np.nonzero(target)
    return float((values[rows, columns].astype(np.float64) * target[rows, columns]).sum())
