"""One analysis of a text, and everything the scores say about it."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp
from typing import Any, Literal, NamedTuple

import numpy as np
from spacy.tokens import Doc, Span, SpanGroup

from ...annotation import Segment
from ...corpus.pieces import piece
from ...decoders import Mention, PackedScores, SpanLayout
from ...decoders.mention import sort_mentions
from ...evaluation.error_types import MentionError, classify_errors
from ...pipeline.prediction import Distribution, Prediction
from .scoring import RefusedError, Scored, Scorer
from .settings import ViewSettings

# Tokens of a stretch that is looked into at once: at least, at most, and joined with another because of a mention.
SHORTEST_STRETCH, LONGEST_STRETCH, MOST_JOINED = 12, 60, 120
# Probabilities below this are not sent.
SMALLEST = 0.001
# How probable something must be to be named as an alternative.
LIKELY = 0.01

Relation = Literal["same span", "inside", "around", "crosses"]

_ENDS = frozenset(".!?…。！？؟")


class Cell(NamedTuple):
    """A span of the heat map.

    start, end (int): Its tokens.
    probabilities (dict[str, float]): Of its labels, the most probable one first.
    """

    start: int
    end: int
    probabilities: dict[str, float]


class Alternative(NamedTuple):
    """A mention that competes with a span.

    relation (Relation): Where it is, seen from the span.
    found (bool): Whether it is part of the analysis.
    """

    mention: Mention
    probability: float
    relation: Relation
    found: bool


class Competitor(NamedTuple):
    """An analysis of a stretch of the text.

    share (float): Of the samples.
    """

    mentions: list[Mention]
    probability: float
    share: float


@dataclass(frozen=True, eq=False)
class View:
    """A text, decoded with some settings.

    scored (Scored): The text and its scores.
    settings (ViewSettings): With what it is decoded.
    labels (Sequence[str]): The names of labels.
    spans_key (str): Where a doc has the mentions.
    max_span_length (int | None): Of the decoder.
    """

    scored: Scored
    settings: ViewSettings
    labels: Sequence[str]
    spans_key: str = "sc"
    max_span_length: int | None = None

    @classmethod
    def of(cls, scorer: Scorer, scored: Scored, settings: ViewSettings) -> "View":
        return cls(scored, settings, scorer.labels, scorer.spans_key, scorer.pipe.decoder.max_span_length)

    @cached_property
    def distribution(self) -> Distribution:
        decoder = self.settings.make_decoder(self.max_span_length)
        return Distribution(decoder, self.scored.scores, [self.scored.segments], self.settings.temperature)

    @cached_property
    def prediction(self) -> Prediction:
        """With the numbers of labels."""
        (prediction,) = self.distribution.predict(self.settings.threshold)
        return prediction

    @cached_property
    def mentions(self) -> dict[Mention, float]:
        """What is found, with its probabilities."""
        return dict(zip(self.named(self.prediction.mentions), self.prediction.probabilities))

    def named(self, mentions: Iterable[Mention]) -> list[Mention]:
        """Mentions with the names of their labels."""
        return [Mention(m.start, m.end, self.labels[m.label]) for m in mentions]

    @cached_property
    def doc(self) -> Doc:
        """A doc with the mentions and their probabilities."""
        prediction = self.prediction
        facts = {"log_probability": prediction.log_probability, "entropy": prediction.entropy}
        return with_mentions(self.scored.doc, self.mentions, self.spans_key, facts)

    # ---- gold ----

    @cached_property
    def errors(self) -> list[MentionError]:
        """Where the analysis differs from the gold; none without gold."""
        return [] if self.scored.gold is None else classify_errors(self.scored.gold, self.mentions)

    @cached_property
    def gold_doc(self) -> Doc | None:
        """A doc with the gold mentions and the probabilities that the pipeline gives them; None without gold."""
        if self.scored.gold is None:
            return None
        return with_mentions(self.scored.doc, {m: self.probability(m) for m in self.scored.gold}, self.spans_key)

    # ---- all spans ----

    def probability(self, mention: Mention) -> float:
        """The marginal of any mention; 0 for what cannot be found, because of its label, its length or a boundary."""
        layout = self.scored.scores.layout
        segment = self._segment_of(mention.start, mention.end)
        limit = layout.max_span_length
        if segment is None or mention.label not in self.labels or (limit and mention.end - mention.start > limit):
            return 0.0
        begin = self.scored.segments[segment][0]
        cell = layout.cell(segment, mention.start - begin, mention.end - begin)
        return float(self.distribution.marginals.values[self.labels.index(mention.label), cell])

    def heat_map(self, start: int, end: int) -> list[Cell]:
        """The probable spans of a stretch."""
        self._check_span(start, end)
        return self._cells(lambda starts, ends: (starts >= start) & (ends <= end), SMALLEST)

    def alternatives(self, start: int, end: int, most: int = 12) -> list[Alternative]:
        """What else was likely where a span is: its other labels, and mentions that overlap, most probable first."""
        self._check_span(start, end)
        cells = self._cells(lambda starts, ends: (starts < end) & (ends > start), LIKELY)
        found = [
            Alternative(mention, probability, _relation(mention, start, end), mention in self.mentions)
            for cell in cells
            for label, probability in cell.probabilities.items()
            for mention in [Mention(cell.start, cell.end, label)]
        ]
        return sorted(found, key=lambda other: (-other.probability, other.mention))[:most]

    def _cells(self, choose: Any, smallest: float) -> list[Cell]:
        """The spans with a label at least as probable as this. Segments have no gaps: tokens of the batch are those of
        the doc."""
        marginals = self.distribution.marginals
        starts, ends = marginals.layout.starts_and_ends
        numbers = np.flatnonzero(choose(starts, ends + 1))
        values = marginals.values[:, numbers]
        kept = np.flatnonzero(values.max(axis=0, initial=0) >= smallest)
        cells = []
        for column in kept.tolist():
            number = numbers[column]
            of_label = sorted(((-p, k) for k, p in enumerate(values[:, column].tolist()) if p >= smallest))
            probabilities = {self.labels[k]: -p for p, k in of_label}
            cells.append(Cell(int(starts[number]), int(ends[number]) + 1, probabilities))
        return cells

    # ---- other analyses ----

    def competitors(self, start: int, end: int, *, n_samples: int = 1000, most: int = 8) -> list[Competitor]:
        """The most probable analyses of a stretch among exact samples; the one that is shown is the first.

        A stretch that is less than its segment is taken on its own: probabilities are those given that no mention
        crosses its borders.
        """
        self._check_span(start, end)
        if end - start > MOST_JOINED:
            raise RefusedError(f"The stretch has {end - start} tokens; expected at most {MOST_JOINED}.")
        scores, begins = self._scores_of(start, end)
        decoder = self.distribution.decoder
        tempered = scores.at(self.settings.temperature)
        drawn = decoder.sample(tempered, n_samples=n_samples, seed=0)
        counts = Counter(tuple(self._joined(sample, begins)) for sample in zip(*drawn))
        shown = tuple(m for m in self.prediction.mentions if start <= m.start and m.end <= end)
        total = sum(decoder.log_partition(tempered))
        found = [
            Competitor(self.named(mentions), exp(self._weight(mentions) - total), counts[mentions] / n_samples)
            for mentions in counts.keys() | {shown}
        ]
        first = self.named(shown)
        found.sort(key=lambda other: (other.mentions != first, -other.probability, other.mentions))
        return found[:most]

    def _scores_of(self, start: int, end: int) -> tuple[PackedScores, list[int]]:
        """The scores of a stretch, and where the segments that it consists of begin."""
        scores = self.scored.scores
        parts: list[Segment] = []
        cells: list[np.ndarray] = []
        for number, (first, last) in enumerate(self.scored.segments):
            begin, stop = max(first, start), min(last, end)
            if begin < stop:
                own = SpanLayout([stop - begin], scores.layout.max_span_length)
                starts, ends = own.starts_and_ends
                shift = begin - first
                cells.append(scores.layout.cells(np.array(number), starts + shift, ends + 1 + shift))
                parts.append((begin, stop))
        layout = SpanLayout([stop - begin for begin, stop in parts], scores.layout.max_span_length)
        return PackedScores(scores.values[:, np.concatenate(cells)], layout), [begin for begin, _ in parts]

    def _joined(self, sample: Sequence[Sequence[Mention]], begins: Sequence[int]) -> list[Mention]:
        """One sample of every segment of a stretch, on the tokens of the doc."""
        return [Mention(m.start + begin, m.end + begin, m.label) for begin, part in zip(begins, sample) for m in part]

    def _weight(self, mentions: Iterable[Mention]) -> float:
        """The sum of the scores of mentions that are in the search space, divided by the temperature."""
        layout, total = self.scored.scores.layout, 0.0
        for m in mentions:
            segment = self._segment_of(m.start, m.end)
            assert segment is not None
            begin = self.scored.segments[segment][0]
            total += float(self.scored.scores.values[m.label, layout.cell(segment, m.start - begin, m.end - begin)])
        return total / self.settings.temperature

    # ---- places ----

    @cached_property
    def stretches(self) -> list[Segment]:
        """The text in parts that are short enough to look into: segments, or parts of long ones."""
        return self.stretches_around(self.mentions)

    def stretches_around(self, mentions: Iterable[Mention]) -> list[Segment]:
        """The same, so that no part ends inside one of some mentions, unless that makes it too long."""
        parts = cut(self.scored.doc, self.scored.segments)
        return cut(self.scored.doc, joined(parts, [(m.start, m.end) for m in mentions]), MOST_JOINED)

    def part(self, start: int, end: int, mentions: Iterable[Mention] | None = None) -> Doc:
        """A stretch as a doc, with the mentions found in it or with others."""
        doc = self.doc
        if mentions is not None:
            doc = with_mentions(doc, {m: self.probability(m) for m in mentions}, self.spans_key)
        return piece(doc, start, end)

    def _segment_of(self, start: int, end: int) -> int | None:
        number = bisect_right(self.scored.segments, start, key=lambda segment: segment[0]) - 1
        return number if number >= 0 and end <= self.scored.segments[number][1] else None

    def _check_span(self, start: int, end: int) -> None:
        n = len(self.scored.doc)
        if not 0 <= start < end <= n:
            raise RefusedError(f"The span is {start}:{end}; expected 0 <= start < end <= {n}, the tokens of the text.")


def cut(doc: Doc, segments: Iterable[Segment], longest: int = LONGEST_STRETCH) -> list[Segment]:
    """Segments, and parts of those that are longer: cut where a line or a sentence ends, if there is such a place.

    It does not depend on mentions: parts stay the same when settings change.
    """
    result: list[Segment] = []
    for start, end in segments:
        while end - start > longest:
            room = range(start + longest, start + SHORTEST_STRETCH - 1, -1)
            lines = [place for place in room if doc[place - 1].is_space]
            sentences = [place for place in room if doc[place - 1].text[-1] in _ENDS]
            place = (lines or sentences or [start + longest])[0]
            result.append((start, place))
            start = place
        result.append((start, end))
    return result


def joined(parts: Iterable[Segment], spans: Iterable[Segment]) -> list[Segment]:
    """Parts, joined where a span is in both of them.

    parts (Iterable[Segment]): In order and without gaps.
    """
    ends: dict[int, int] = {}
    for start, end in spans:
        ends[start] = max(end, ends.get(start, 0))
    result: list[Segment] = []
    reach = 0
    for start, end in parts:
        begin = result.pop()[0] if result and reach > start else start
        result.append((begin, end))
        reach = max([reach, *(ends.get(place, 0) for place in range(start, end))])
    return result


def with_mentions(
    doc: Doc, mentions: dict[Mention, float], spans_key: str, facts: dict[str, float] | None = None
) -> Doc:
    """A copy of the tokens of a doc, with mentions."""
    copy = piece(doc, 0, len(doc)) if len(doc) else Doc(doc.vocab)
    in_order = sort_mentions(mentions)
    spans = [Span(copy, m.start, m.end, m.label) for m in in_order]
    attrs: dict[str, Any] = {"scores": [mentions[m] for m in in_order], **(facts or {})}
    copy.spans[spans_key] = SpanGroup(copy, name=spans_key, spans=spans, attrs=attrs)
    return copy


def _relation(mention: Mention, start: int, end: int) -> Relation:
    if (mention.start, mention.end) == (start, end):
        return "same span"
    if start <= mention.start and mention.end <= end:
        return "inside"
    return "around" if mention.start <= start and end <= mention.end else "crosses"
