"""Segments that are not annotated in full: what is known of them, and how probable that is."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..decoders import Decoder, Mention, PackedScores

# All analyses without a known mention have e^-32 of the weight of those with every one, at most: the last digits
# of doubles. More would only take more segments beyond what the decoders do in plain numbers.
_MARGIN = 32.0


class Incomplete(NamedTuple):
    """What is known of a segment. Other mentions may be right or wrong.

    known (Sequence[Mention]): Mentions that are right, inside the search space.
    incorrect (Sequence[Mention]): Mentions that are wrong.
    missing_rate (float): The probability that a mention that is right was left out: above 0, up to 1.
    """

    known: Sequence[Mention]
    incorrect: Sequence[Mention] = ()
    missing_rate: float = 1.0


def gain_of_unlisted(
    decoder: Decoder, scores: PackedScores, segments: Mapping[int, Incomplete], log_partitions: Sequence[float]
) -> tuple[float, PackedScores]:
    """What the log-likelihood gains over that of the known mentions alone, because there may be others.

    That is the logarithm of the sum over all analyses that contain the known mentions and none of the
    incorrect ones, of exp(weight) * missing_rate ** (number of other mentions), less the weight of the known ones.

    segments (Mapping[int, Incomplete]): By their number in `scores`.
    log_partitions (Sequence[float]): Of all segments of `scores`, without constraints.
    RETURNS (tuple[float, PackedScores]): The gain, summed, and its gradient, of these segments in their order.
    """
    part = scores.select(segments)
    part = part.like(part.values.astype(np.float64))
    all_known = []
    taken_off = 0.0  # what is no gain: the known mentions, and the bonus that forces them
    for place, (number, (known, incorrect, missing_rate)) in enumerate(segments.items()):
        at_known = _where(part, place, known)
        weights = part.values[at_known]
        # All analyses together weigh Z, the known mentions alone exp(sum). So much more must a known mention
        # weigh that those without it do not count.
        bonus = log_partitions[number] - weights.sum() + _MARGIN
        part.of_segment(place)[...] += np.log(missing_rate)
        part.values[_where(part, place, incorrect)] = -np.inf
        part.values[at_known] = weights + bonus
        taken_off += weights.sum() + bonus * len(weights)
        all_known.append(at_known)
    totals, gradient = decoder.log_partition_and_marginals(part)
    for at_known in all_known:
        gradient.values[at_known] -= 1
    return sum(totals) - taken_off, gradient


def _where(scores: PackedScores, segment: int, mentions: Sequence[Mention]) -> tuple[list[int], list[int]]:
    """Rows and columns of mentions in packed scores."""
    return [m.label for m in mentions], [scores.layout.cell(segment, m.start, m.end) for m in mentions]
