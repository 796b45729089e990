"""From packed scores to analyses with their probabilities. Arrays only."""

from collections.abc import Iterator

import numpy as np

from ..decoders import Decoder, Mention, PackedScores


class Prediction:
    """The analysis of a doc or of a segment of it.

    mentions (list[Mention]): With label numbers.
    probabilities (list[float]): The marginal of every mention.
    log_probability (float): Of the whole analysis.
    entropy (float): Of the distribution it was taken from, in nats.
    """

    __slots__ = ("entropy", "log_probability", "mentions", "probabilities")

    def __init__(self, mentions: list[Mention], probabilities: list[float], log_probability: float, entropy: float):
        self.mentions = mentions
        self.probabilities = probabilities
        self.log_probability = log_probability
        self.entropy = entropy

    @classmethod
    def empty(cls) -> "Prediction":
        return cls([], [], 0.0, 0.0)

    @classmethod
    def of_doc(cls, segments: list[tuple[int, "Prediction"]]) -> "Prediction":
        """Segments are independent: log-probabilities and entropies add up."""
        result = cls.empty()
        for start, part in segments:
            result.mentions += [Mention(m.start + start, m.end + start, m.label) for m in part.mentions]
            result.probabilities += part.probabilities
            result.log_probability += part.log_probability
            result.entropy += part.entropy
        return result


def analyse(decoder: Decoder, scores: PackedScores, threshold: float | None) -> Iterator[Prediction]:
    """One analysis a segment: the most probable one, or with a threshold the one for which the sum
    of (probability - threshold) over its mentions is highest, which is again in the search space."""
    totals, marginals = decoder.log_partition_and_marginals(scores)
    if threshold is None:
        analyses = decoder.decode(scores)
    else:
        analyses = decoder.decode(marginals.like(marginals.values - np.float32(threshold)))
    expected = expected_weights(scores, marginals)
    for number, mentions in enumerate(analyses):
        cells = [scores.layout.cell(number, m.start, m.end) for m in mentions]
        labels = [m.label for m in mentions]
        weight = float(scores.values[labels, cells].sum(dtype="float64")) if mentions else 0.0
        yield Prediction(
            mentions,
            marginals.values[labels, cells].tolist() if mentions else [],
            min(0.0, weight - totals[number]),
            max(0.0, totals[number] - expected[number]),
        )


def expected_weights(scores: PackedScores, marginals: PackedScores) -> list[float]:
    """The mean weight of an analysis of every segment; log Z less this is the entropy."""
    products = np.multiply(
        scores.values, marginals.values, out=np.zeros_like(scores.values), where=marginals.values > 0
    ).sum(axis=0, dtype="float64")
    running = np.concatenate([[0.0], np.cumsum(products)])
    return np.diff(running[scores.layout.offsets]).tolist()
