"""From the scores of some docs to analyses with their probabilities: scored once, decoded as often as needed."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np

from ..annotation import Segment
from ..decoders import Decoder, Mention, PackedScores, ScoredAnalyses
from ..decoders.decoder import check_temperature


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
    scores (PackedScores): Of all segments, as the network gave them.
    segments (list[list[Segment]]): For every doc, where its segments begin and end.
    temperature (float): What scores are divided by.
    """

    decoder: Decoder
    scores: PackedScores
    segments: list[list[Segment]]
    temperature: float = 1.0

    @cached_property
    def _best(self) -> ScoredAnalyses:
        return self.decoder.analyze(self.scores, temperature=self.temperature)

    @property
    def log_partitions(self) -> list[float]:
        """One per segment."""
        return list(self._best.log_partitions.tolist())

    @property
    def entropies(self) -> list[float]:
        """One per segment, in nats."""
        return list(self._best.entropies.tolist())

    @cached_property
    def marginals(self) -> PackedScores:
        """The probability of every mention."""
        return self.decoder.marginals(self.scores.at(self.temperature))

    def predict(self, threshold: float | None = None) -> list[Prediction]:
        """One analysis per doc.

        threshold (float | None): None for the most probable analysis. With a number, the analysis for which the sum
            of (probability - threshold) over its mentions is highest; it is inside the search space, too.
        """
        if threshold is None:
            return _predictions(self._best, self.segments)
        found = self.decoder.analyze(self.scores, threshold=threshold, temperature=self.temperature)
        return _predictions(found, self.segments)


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
        return Distribution(self.decoder, self.scores, self.segments, temperature)

    def packed(self, temperature: float = 1.0) -> PackedScores:
        """The scores, divided by a temperature."""
        return self.scores.at(temperature)

    def predict(self, *, threshold: float | None, temperature: float) -> list[Prediction]:
        """One analysis per doc."""
        return self.at(temperature).predict(threshold)


def _predictions(found: ScoredAnalyses, segments: Sequence[Sequence[Segment]]) -> list[Prediction]:
    """One per doc, from analyses of segments."""
    n_segments = [len(of_doc) for of_doc in segments]
    begins = np.array([start for of_doc in segments for start, _ in of_doc], dtype=np.int64)
    mentions = found.all_mentions(begins)
    probabilities = found.probabilities.tolist()
    # Segments are independent: log-probabilities and entropies add up.
    doc_of = np.repeat(np.arange(len(segments)), n_segments)
    log_probabilities = np.bincount(doc_of, found.log_probabilities, minlength=len(segments)).tolist()
    entropies = np.bincount(doc_of, found.entropies, minlength=len(segments)).tolist()
    rows = found.offsets[list(accumulate(n_segments, initial=0))].tolist()
    return [
        Prediction(mentions[first:last], probabilities[first:last], log_probability, entropy)
        for (first, last), log_probability, entropy in zip(pairwise(rows), log_probabilities, entropies)
    ]
