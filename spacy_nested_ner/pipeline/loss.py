"""From scores and gold mentions to the loss and its gradient: the negative log-likelihood of a CRF."""

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
    """The negative log-likelihood of what is known about the segments, averaged over them, and its gradient.

    For a fully annotated segment, it is log Z minus the weight of the gold analysis. For an incomplete one, it is log Z
    minus the logarithm of a sum over all analyses that agree with what is known, each weighted by missing_rate once
    per mention that is not among the known ones.

    decoder (Decoder): The search space.
    scores (PackedScores): The scores of the segments.
    gold (Sequence[Sequence[Mention] | Incomplete | None]): The mentions of every segment, with label numbers, inside
        the search space (`Decoder.project`); Incomplete if others may be right as well; None if nothing is known,
        which gives no gradient.
    label_smoothing (float): The share of a gold mention that goes to the other labels of the same span. The smoothed
        target is still a mixture of analyses, so the loss has a minimum. Incomplete segments are not smoothed if the
        decoder is multi_label: the other labels of a known mention are unknown then, and there would be no minimum.
    RETURNS (tuple[float, np.ndarray]): The loss, and the gradient in the shape of the scores.
    """
    annotated = [number for number, known in enumerate(gold) if known is not None]
    if not annotated:
        return 0.0, np.zeros_like(scores.values)
    totals, marginals = decoder.log_partition_and_marginals(scores)
    complete = [None if isinstance(known, Incomplete) else known for known in gold]
    target = smoothed_target(scores, complete, label_smoothing)
    incomplete = {number: known for number, known in enumerate(gold) if isinstance(known, Incomplete)}
    if incomplete:
        listed = [known.known if isinstance(known, Incomplete) else None for known in gold]
        target += smoothed_target(scores, listed, 0.0 if decoder.multi_label else label_smoothing)
    gradient = marginals.values
    gradient -= target
    loss = sum(totals[number] for number in annotated) - _weight(scores.values, target)
    if incomplete:
        gain, d_gain = gain_of_unlisted(decoder, scores, incomplete, totals)
        loss -= gain
        for place, number in enumerate(incomplete):
            gradient[:, scores.layout.cells_of(number)] -= d_gain.of_segment(place)
    for number in set(range(len(gold))).difference(annotated):
        gradient[:, scores.layout.cells_of(number)] = 0
    gradient /= len(annotated)
    return float(loss) / len(annotated), gradient


def smoothed_target(
    scores: PackedScores, gold: Sequence[Sequence[Mention] | None], label_smoothing: float
) -> np.ndarray:
    """The marginals of a perfect model, in packed order."""
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
    """The cells and labels of gold mentions in packed scores. Duplicates count once."""
    found = dict.fromkeys(
        (scores.layout.cell(number, start, end), label)
        for number, mentions in enumerate(gold)
        for start, end, label in mentions or ()
    )
    cells, labels = zip(*found) if found else ((), ())
    return np.array(cells, dtype=int), np.array(labels, dtype=int)


def _weight(values: np.ndarray, target: np.ndarray) -> float:
    """The weight of a (smoothed) analysis. Mentions outside it do not count, even if they weigh -inf."""
    rows, columns = np.nonzero(target)
    return float((values[rows, columns].astype(np.float64) * target[rows, columns]).sum())
