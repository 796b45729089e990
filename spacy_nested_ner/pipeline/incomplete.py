"""Segments that are not fully annotated: what is known about them, and how likely that is."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..decoders import Decoder, Mention, PackedScores

# Analyses that lack a known mention together have at most e^-32 of the weight of those that contain all of them: the
# last digits of a double. A larger margin would only push more segments out of the range in which the decoders can
# use plain numbers.
_MARGIN = 32.0


class Incomplete(NamedTuple):
    """What is known about a segment. Mentions that are not listed may be right or wrong.

    known (Sequence[Mention]): Mentions that are right, inside the search space.
    incorrect (Sequence[Mention]): Mentions that are wrong.
    missing_rate (float): The probability that a correct mention was not annotated: above 0, up to 1.
    """

    known: Sequence[Mention]
    incorrect: Sequence[Mention] = ()
    missing_rate: float = 1.0


def gain_of_unlisted(
    decoder: Decoder, scores: PackedScores, segments: Mapping[int, Incomplete], log_partitions: Sequence[float]
) -> tuple[float, PackedScores]:
    """How much the log-likelihood exceeds that of the known mentions alone, because there may be others.

    Sum exp(weight) * missing_rate ** (number of other mentions) over all analyses that contain the known mentions and
    none of the incorrect ones. The gain is the logarithm of that sum minus the weight of the known mentions.

    decoder (Decoder): The search space.
    scores (PackedScores): The scores of all segments.
    segments (Mapping[int, Incomplete]): The incomplete segments, by their number in `scores`.
    log_partitions (Sequence[float]): Of all segments of `scores`, without constraints.
    RETURNS (tuple[float, PackedScores]): The sum of the gains, and its gradient for the incomplete segments in their
        order.
    """
    part = scores.select(segments)
    part = part.like(part.values.astype(np.float64))
    known_cells = []
    not_gained = 0.0  # the weight of the known mentions, and the bonus that forces them
    for place, (number, (known, incorrect, missing_rate)) in enumerate(segments.items()):
        at_known = _where(part, place, known)
        weights = part.values[at_known]
        # All analyses together weigh Z, the known mentions alone exp(sum). With this bonus per known mention, analyses
        # without it become negligible.
        bonus = log_partitions[number] - weights.sum() + _MARGIN
        part.of_segment(place)[...] += np.log(missing_rate)
        part.values[_where(part, place, incorrect)] = -np.inf
        part.values[at_known] = weights + bonus
        not_gained += weights.sum() + bonus * len(weights)
        known_cells.append(at_known)
    totals, gradient = decoder.log_partition_and_marginals(part)
    for at_known in known_cells:
        gradient.values[at_known] -= 1
    return sum(totals) - not_gained, gradient


def _where(scores: PackedScores, segment: int, mentions: Sequence[Mention]) -> tuple[list[int], list[int]]:
    """The rows and columns of mentions in packed scores."""
    return [m.label for m in mentions], [scores.layout.cell(segment, m.start, m.end) for m in mentions]
