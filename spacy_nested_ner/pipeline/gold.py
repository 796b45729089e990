"""The gold annotation that a component can learn from."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from typing import NamedTuple

import numpy as np
from spacy.tokens import Doc, Span
from spacy.training import Example

from ..annotation import INCOMPLETE, Segment, as_mention, by_segment
from ..decoders import Decoder, Mention
from ..decoders.mention import sort_mentions
from .incomplete import Incomplete
from .lost import Lost

# What is known of a segment: its mentions if it is annotated in full, and None if nothing is known.
Known = list[Mention] | Incomplete | None


class AlignedGold(NamedTuple):
    """The gold mentions of an example.

    mentions (list[Mention]): On the tokens of the predicted doc, sorted.
    misaligned (list[str]): Labels of those that do not begin and end with such a token.
    n_gold (int): How many there are in the gold doc.
    """

    mentions: list[Mention]
    misaligned: list[str]
    n_gold: int


def align(example: Example, spans_key: str) -> AlignedGold:
    """The gold mentions of an example on the tokens of its predicted doc."""
    gold = {as_mention(span): span for span in example.reference.spans.get(spans_key, [])}
    aligned = on_predicted(example, gold.values())
    misaligned = Counter(mention.label for mention in gold) - Counter(mention.label for mention in aligned)
    return AlignedGold(sort_mentions(set(aligned)), list(misaligned.elements()), len(gold))


@dataclass(frozen=True)
class GoldReader:
    """Reads what a component with these settings can learn from examples.

    key (str): The mentions are in `doc.spans[key]`.
    incorrect_key (str): Spans that are known not to be mentions.
    labels (Sequence[str]): The known labels; a mention has the number of its label.
    span_limit (int | None): Tokens of the longest mention.
    missing_rate (float): For docs that are marked incomplete without saying how much is missing.
    label_counts (Mapping[str, int]): Mentions of every label in the training data. Where a search space cannot keep
        all mentions, it keeps those with rarer labels.
    """

    key: str
    incorrect_key: str
    labels: Sequence[str]
    span_limit: int | None = None
    missing_rate: float = 0.5
    label_counts: Mapping[str, int] = field(default_factory=dict)

    def read(
        self, example: Example, segments: list[Segment], decoder: Decoder, lost: Lost | None = None
    ) -> list[Known]:
        """What is known of every segment of the predicted doc, as `crf_loss` takes it.

        segments (list[Segment]): Where they begin and end.
        decoder (Decoder): The search space.
        lost (Lost | None): Counts mentions that are not learned.
        """
        if not self.is_annotated(example.reference):
            return [None] * len(segments)
        rate = self.check(example.reference)
        lost = Lost() if lost is None else lost
        placed = self.place(align(example, self.key), segments, lost)
        known = [self._numbered(self.project(inside, length, decoder, lost)) for inside, length in placed]
        if rate is None:
            return list(known)
        incorrect = self._incorrect(example, segments)
        return [Incomplete(mentions, wrong, rate) for mentions, wrong in zip(known, incorrect)]

    def is_annotated(self, reference: Doc) -> bool:
        return self.key in reference.spans or self.incorrect_key in reference.spans

    def check(self, reference: Doc) -> float | None:
        """The share of mentions missing from a doc, None if it is annotated in full; an error for annotation that
        contradicts itself."""
        labeled_spans(reference, self.key)
        check_contradictions(reference, self.key, self.incorrect_key)
        return missing_rate_of(reference, self.key, self.missing_rate)

    def place(self, gold: AlignedGold, segments: list[Segment], lost: Lost) -> list[tuple[list[Mention], int]]:
        """The mentions that any search space could keep: of every segment, with its number of tokens.

        lost (Lost): Counts the others.
        """
        lost.n_gold += gold.n_gold
        lost.add("tokens", gold.misaligned)
        lost.add("label", (m.label for m in gold.mentions if m.label not in self._numbers))
        inside, across = by_segment((m for m in gold.mentions if m.label in self._numbers), segments)
        lost.add("sentence", (m.label for m in across))
        result = []
        for (start, end), mentions in zip(segments, inside):
            scored = [m for m in mentions if self._is_scored(m)]
            if len(scored) < len(mentions):
                too_long = [m for m in mentions if not self._is_scored(m)]
                lost.add("length", (m.label for m in too_long))
                lost.longest = max(lost.longest, *(m.end - m.start for m in too_long))
            result.append((scored, end - start))
        return result

    def project(self, mentions: list[Mention], n_tokens: int, decoder: Decoder, lost: Lost) -> list[Mention]:
        """The mentions of a segment that a search space keeps.

        lost (Lost): Counts the others.
        """
        kept = decoder.project(mentions, n_tokens, counts=self.label_counts)
        if len(kept) < len(mentions):
            in_space = set(kept)
            lost.add("space", (m.label for m in mentions if m not in in_space))
            lost.conflicts.append((mentions, n_tokens))
        return kept

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {label: number for number, label in enumerate(self.labels)}

    def _numbered(self, mentions: list[Mention]) -> list[Mention]:
        return [Mention(m.start, m.end, self._numbers[m.label]) for m in mentions]

    def _is_scored(self, mention: Mention) -> bool:
        return self.span_limit is None or mention.end - mention.start <= self.span_limit

    def _incorrect(self, example: Example, segments: list[Segment]) -> list[list[Mention]]:
        """The mentions of every segment that are known to be wrong. A span without a label means all labels.

        Spans that cannot be predicted are left out: they do not begin and end with a token, cross a sentence
        boundary, are too long, or have an unknown label.
        """
        numbers = {label: [number] for label, number in self._numbers.items()} | {"": list(range(len(self.labels)))}
        spans = on_predicted(example, example.reference.spans.get(self.incorrect_key, []))
        inside, _ = by_segment(spans, segments)
        return [
            [
                Mention(m.start, m.end, number)
                for m in mentions
                if self._is_scored(m)
                for number in numbers.get(m.label, ())
            ]
            for mentions in inside
        ]


def labeled_spans(reference: Doc, spans_key: str) -> list[Span]:
    """The gold mentions of a doc; an error if one has no label."""
    spans = list(reference.spans.get(spans_key, []))
    for span in spans:
        if not span.label:
            raise ValueError(
                f"the doc {_shortened(reference.text)!r} has {span.text!r} (tokens {span.start} to {span.end}) without "
                f"a label in doc.spans[{spans_key!r}]; expected a label of at least one character"
            )
    return spans


def on_predicted(example: Example, spans: Iterable[Span]) -> list[Mention]:
    """Spans of the gold doc on the tokens of the predicted one; those that do not align are left out."""
    spans = list(spans)
    if have_same_tokens(example):
        return [as_mention(span) for span in spans if len(span)]
    for span in spans:
        # spaCy looks labels up in the vocab of the other doc, which may be another one.
        example.predicted.vocab.strings.add(span.label_)
    return list(map(as_mention, example.get_aligned_spans_y2x(spans, allow_overlap=True)))


def have_same_tokens(example: Example) -> bool:
    """Whether every token of the gold doc is one of the predicted doc. spaCy aligns such docs letter by letter, too,
    and again in every update, which takes longer than all the rest of reading gold."""
    words = example.predicted.to_array("ORTH")
    # An empty word has no letter to align, so that spaCy's alignment leaves it out.
    return np.array_equal(words, example.reference.to_array("ORTH")) and bool(words.all())


def missing_rate_of(reference: Doc, spans_key: str, default: float) -> float | None:
    """The probability that a mention of a doc was not annotated; None if all of them were.

    default (float): For docs that are marked incomplete without saying how much is missing.
    """
    if spans_key not in reference.spans:
        return default
    value = reference.spans[spans_key].attrs.get(INCOMPLETE)
    if value is None or value is False:
        return None
    if value is True:
        return default
    if not isinstance(value, Real) or not 0 < float(value) <= 1:
        raise ValueError(
            f"doc.spans[{spans_key!r}].attrs[{INCOMPLETE!r}] of the doc {_shortened(reference.text)!r} is {value!r}; "
            f"expected True, False, or a number above 0 and up to 1, the share of its mentions that are missing"
        )
    return float(value)


def check_contradictions(reference: Doc, spans_key: str, incorrect_spans_key: str) -> None:
    """An error if a mention is both right and wrong."""
    incorrect = set(map(as_mention, reference.spans.get(incorrect_spans_key, [])))
    if not incorrect:
        return
    for span in reference.spans.get(spans_key, []):
        for label in (span.label_, ""):
            if (span.start, span.end, label) in incorrect:
                raise ValueError(_contradiction(span, label, spans_key, incorrect_spans_key))


def _contradiction(span: Span, label: str, spans_key: str, incorrect_spans_key: str) -> str:
    other = "too" if label else "without a label, which means all labels"
    return (
        f"the doc {_shortened(span.doc.text)!r} has {span.text!r} (tokens {span.start} to {span.end}) with label "
        f"{span.label_!r} in doc.spans[{spans_key!r}], so it is a mention, and in "
        f"doc.spans[{incorrect_spans_key!r}] {other}, so it is not; remove it from one of them"
    )


def _shortened(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
