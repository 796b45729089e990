"""From the scores of some docs to analyses with their probabilities: scored once, decoded as often as needed."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..annotation import Segment
from ..decoders import Analyses, Decoder, Mention, PackedScores
from .checks import check_temperature, check_threshold


class Prediction(NamedTuple):
    """The analysis of a doc.

    mentions (list[Mention]): With label numbers.
    probabilities (list[float]): The marginal of every mention.
    log_probability (float): Of the whole analysis.
    entropy (float): Of the distribution it was taken from, in nats.
    """

    mentions: list[Mention]
    probabilities: list[float]
    log_probability: float
    entropy: float


@dataclass(frozen=True)
class Distribution:
    """The probability distribution over the analyses of some docs.

    decoder (Decoder): The search space.
    scores (PackedScores): Of all segments.
    segments (list[list[Segment]]): For every doc, where its segments begin and end.
    """

    decoder: Decoder
    scores: PackedScores
    segments: list[list[Segment]]

    @cached_property
    def _sums(self) -> tuple[list[float], PackedScores]:
        return self.decoder.log_partition_and_marginals(self.scores)

    @property
    def log_partitions(self) -> list[float]:
        """One per segment."""
        return self._sums[0]

    @property
    def marginals(self) -> PackedScores:
        """The probability of every mention."""
        return self._sums[1]

    @cached_property
    def entropies(self) -> list[float]:
        """One per segment, in nats."""
        return self.decoder.entropy_from(self.scores, *self._sums)

    def predict(self, threshold: float | None = None) -> list[Prediction]:
        """One analysis per doc.

        threshold (float | None): None for the most probable analysis. With a number, the analysis for which the sum
            of (probability - threshold) over its mentions is highest; it is inside the search space, too.
        """
        check_threshold(threshold)
        scores = self.scores
        if threshold is not None:
            scores = self.marginals.like(self.marginals.values - np.float32(threshold))
        return self._predictions(self.decoder.decode_arrays(scores))

    def _predictions(self, found: Analyses) -> list[Prediction]:
        layout = self.scores.layout
        counts = np.diff(found.offsets)
        number = np.repeat(np.arange(len(layout)), counts)  # the segment of every mention
        cells = layout.cells(number, found.starts, found.ends)
        probabilities = self.marginals.values[found.labels, cells].tolist()
        weights = np.bincount(number, self.scores.values[found.labels, cells], minlength=len(layout))
        starts = np.repeat([start for of_doc in self.segments for start, _ in of_doc], counts).astype(np.int64)
        mentions = list(
            map(
                Mention._make,
                zip((starts + found.starts).tolist(), (starts + found.ends).tolist(), found.labels.tolist()),
            )
        )
        log_probabilities = np.minimum(0.0, weights - self.log_partitions).tolist()
        predictions = []
        segment = 0
        for of_doc in self.segments:
            last = segment + len(of_doc)
            inside = slice(int(found.offsets[segment]), int(found.offsets[last]))
            # Segments are independent: log-probabilities and entropies add up.
            log_probability = sum(log_probabilities[segment:last], 0.0)
            entropy = sum(self.entropies[segment:last], 0.0)
            predictions.append(Prediction(mentions[inside], probabilities[inside], log_probability, entropy))
            segment = last
        return predictions


@dataclass(frozen=True)
class ScoredDocs:
    """What the network made of some docs.

    decoder (Decoder): The search space.
    scores (PackedScores): Of all segments, as the network gave them.
    segments (list[list[Segment]]): For every doc, where its segments begin and end.
    """

    decoder: Decoder
    scores: PackedScores
    segments: list[list[Segment]]

    def at(self, temperature: float) -> Distribution:
        """The distribution over analyses when scores are divided by a temperature."""
        check_temperature(temperature)
        return Distribution(self.decoder, self.packed(temperature), self.segments)

    def packed(self, temperature: float = 1.0) -> PackedScores:
        """The scores, divided by a temperature."""
        return self.scores if temperature == 1 else self.scores.like(self.scores.values / np.float32(temperature))

    def predict(self, *, threshold: float | None, temperature: float) -> list[Prediction]:
        """One analysis per doc."""
        return self.at(temperature).predict(threshold)
