"""From scores and gold mentions to the loss and its gradient: the negative log-likelihood of a CRF."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..decoders import Decoder, Mention, PackedScores, SpanLayout
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
    targets = [smoothed_target(scores, complete, label_smoothing)]
    incomplete = {number: known for number, known in enumerate(gold) if isinstance(known, Incomplete)}
    if incomplete:
        listed = [known.known if isinstance(known, Incomplete) else None for known in gold]
        targets.append(smoothed_target(scores, listed, 0.0 if decoder.multi_label else label_smoothing))
    # The only array of all spans besides the scores: the marginals become the gradient.
    gradient = marginals.values
    loss = sum(totals[number] for number in annotated)
    for target in targets:
        target.subtract_from(gradient)
        loss -= target.weight(scores.values)
    if incomplete:
        gain, d_gain = gain_of_unlisted(decoder, scores, incomplete, totals)
        loss -= gain
        for place, number in enumerate(incomplete):
            gradient[:, scores.layout.cells_of(number)] -= d_gain.of_segment(place)
    for number in set(range(len(gold))).difference(annotated):
        gradient[:, scores.layout.cells_of(number)] = 0
    gradient /= len(annotated)
    return float(loss) / len(annotated), gradient


class Target(NamedTuple):
    """The marginals of a perfect model. Those that are not listed are 0, and those listed twice add up.

    labels (np.ndarray): Rows of packed scores.
    cells (np.ndarray): Columns of packed scores.
    shares (np.ndarray): How much of a mention each of them is.
    """

    labels: np.ndarray
    cells: np.ndarray
    shares: np.ndarray

    def subtract_from(self, values: np.ndarray) -> None:
        np.subtract.at(values, (self.labels, self.cells), self.shares.astype(values.dtype))

    def weight(self, values: np.ndarray) -> float:
        """The weight of a (smoothed) analysis. Mentions outside it do not count, even if they weigh -inf."""
        return float(values[self.labels, self.cells].astype(np.float64) @ self.shares)


def smoothed_target(scores: PackedScores, gold: Sequence[Sequence[Mention] | None], label_smoothing: float) -> Target:
    """What the marginals of scores should be.

    gold (Sequence[Sequence[Mention] | None]): The mentions of every segment. Duplicates count once.
    label_smoothing (float): The share of a mention that goes to the other labels of the same span.
    """
    labels, cells = _places(scores.layout, gold)
    n_labels = len(scores.values)
    if n_labels == 1 or not label_smoothing:
        return Target(labels, cells, np.ones(len(cells)))
    others = label_smoothing / (n_labels - 1)
    all_labels = np.tile(np.arange(n_labels), len(cells))
    shares = np.where(all_labels == np.repeat(labels, n_labels), 1 - label_smoothing, others)
    return Target(all_labels, np.repeat(cells, n_labels), shares)


def _places(layout: SpanLayout, gold: Sequence[Sequence[Mention] | None]) -> tuple[np.ndarray, np.ndarray]:
    """The labels and cells of mentions in packed scores."""
    found = dict.fromkeys(
        (label, layout.cell(number, start, end))
        for number, mentions in enumerate(gold)
        for start, end, label in mentions or ()
    )
    labels, cells = np.array(list(found), dtype=int).reshape(-1, 2).T
    return labels, cells
