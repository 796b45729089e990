"""What mentions a corpus has: how long, how deep, which label in which, seen before or not."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from ..annotation import mentions_by_segment, mentions_of
from ..corpus.documents import Record
from ..decoders.nesting import Pair, depths, relations, second_longest_children

# Upper ends of the ranges in which lengths are counted, in words.
MENTION_LENGTHS = (1, 2, 3, 4, 5, 10, 20, 50)
CHILD_LENGTHS = (1, 2, 3, 5, 10)
SENTENCE_LENGTHS = (5, 10, 15, 20, 25, 30, 40, 50, 100)


class LongMention(NamedTuple):
    """The longest mention of a corpus, and where it is."""

    words: int = 0
    where: str = ""
    label: str = ""
    text: str = ""


@dataclass
class Statistics:
    """The statistics of the documents added to this.

    name (str): What to call the documents in tables.
    documents (int): How many there are.
    sentence_lengths (Counter[int]): Sentences by their number of words.
    labels (Counter[str]): Mentions by label.
    lengths (Counter[int]): Mentions by their number of words.
    depths (Counter[int]): Mentions by their depth, 1 for those inside no other.
    inside (Counter[tuple[str, str]]): Labels of mentions and of those directly inside them.
    same_span (Counter[tuple[str, str]]): Labels of mentions on one span.
    crossing (Counter[tuple[str, str]]): Labels of mentions that cross.
    second_children (Counter[int]): Spans with two or more children, by the length of the
        second longest.
    texts (Counter[tuple[str, str]]): Mentions by label and text.
    across (int): Mentions that reach into another sentence.
    longest (LongMention): The longest mention, and where it is.
    """

    name: str
    documents: int = 0
    across: int = 0
    sentence_lengths: Counter[int] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    lengths: Counter[int] = field(default_factory=Counter)
    depths: Counter[int] = field(default_factory=Counter)
    inside: Counter[tuple[str, str]] = field(default_factory=Counter)
    same_span: Counter[tuple[str, str]] = field(default_factory=Counter)
    crossing: Counter[tuple[str, str]] = field(default_factory=Counter)
    second_children: Counter[int] = field(default_factory=Counter)
    texts: Counter[tuple[str, str]] = field(default_factory=Counter)
    longest: LongMention = field(default_factory=LongMention)

    @property
    def sentences(self) -> int:
        return self.sentence_lengths.total()

    @property
    def words(self) -> int:
        return sum(length * n for length, n in self.sentence_lengths.items())

    @property
    def mentions(self) -> int:
        return self.labels.total()

    @property
    def nested(self) -> int:
        """Mentions inside another: the denominator of nested recall."""
        return self.mentions - self.depths[1]

    def add(self, record: Record, spans_key: str = "sc") -> None:
        """Count a document."""
        doc, where = record
        mentions = mentions_of(doc, spans_key)
        segments, across = mentions_by_segment(doc, spans_key)
        found = relations(mentions)
        self.documents += 1
        self.across += len(across)
        self.sentence_lengths.update(end - start for start, end, _ in segments)
        self.labels.update(mention.label for mention in mentions)
        self.lengths.update(mention.end - mention.start for mention in mentions)
        self.depths.update(depths(mentions))
        self.inside.update(map(_labels, found.inside))
        self.same_span.update(map(_labels, found.same_span))
        self.crossing.update(map(_labels, found.crossing))
        self.second_children.update(second_longest_children(found.inside))
        words = [token.text for token in doc]
        for start, end, label in mentions:
            text = " ".join(words[start:end])
            self.texts[label, text] += 1
            if end - start > self.longest.words:
                self.longest = LongMention(end - start, where, label, text)

    def seen_in(self, other: "Statistics") -> float:
        """The share of mentions that another corpus has too, with the same text and label."""
        seen = sum(n for mention, n in self.texts.items() if mention in other.texts)
        return seen / self.mentions if self.mentions else 0.0

    def as_dict(self) -> dict[str, Any]:
        """All numbers, as they go into a JSON file."""
        return {
            "documents": self.documents,
            "sentences": self.sentences,
            "words": self.words,
            "mentions": self.mentions,
            "nested": self.nested,
            "across_sentences": self.across,
            "longest_mention": self.longest._asdict(),
            "labels": dict(self.labels.most_common()),
            "mention_lengths": dict(sorted(self.lengths.items())),
            "sentence_lengths": dict(sorted(self.sentence_lengths.items())),
            "depths": dict(sorted(self.depths.items())),
            "second_longest_children": dict(sorted(self.second_children.items())),
            "inside": _nested_dict(self.inside),
            "same_span": _nested_dict(self.same_span),
            "crossing": _nested_dict(self.crossing),
        }


def collect_statistics(records: Iterable[Record], name: str = "all", *, spans_key: str = "sc") -> Statistics:
    """The statistics of some documents.

    records (Iterable[Record]): The documents, with mentions in `doc.spans[spans_key]`.
    name (str): What to call them in tables.
    spans_key (str): The key of the mentions.
    RETURNS (Statistics): The statistics.
    """
    statistics = Statistics(name)
    for record in records:
        statistics.add(record, spans_key)
    return statistics


def merge(parts: Iterable[Statistics], name: str = "all") -> Statistics:
    """Several corpora as one."""
    whole = Statistics(name)
    for part in parts:
        for attribute in {item.name for item in fields(Statistics)} - {"name", "longest"}:
            setattr(whole, attribute, getattr(whole, attribute) + getattr(part, attribute))
        whole.longest = max(whole.longest, part.longest, key=lambda mention: mention.words)
    return whole


def overlap(parts: list[Statistics]) -> dict[str, dict[str, float]]:
    """For every corpus, the share of its mentions seen in each of the others."""
    return {part.name: {other.name: part.seen_in(other) for other in parts if other is not part} for part in parts}


def in_ranges(counts: Counter[int], ends: tuple[int, ...]) -> dict[str, int]:
    """Counts by length as counts by ranges of lengths; the last range has no end."""
    result: dict[str, int] = {}
    start = 1
    for end in ends:
        name = str(end) if start == end else f"{start}-{end}"
        result[name] = sum(counts[length] for length in range(start, end + 1))
        start = end + 1
    result[f"{start}+"] = sum(n for length, n in counts.items() if length >= start)
    return result


def _labels(pair: Pair) -> tuple[str, str]:
    return pair[0].label, pair[1].label


def _nested_dict(pairs: Counter[tuple[str, str]]) -> dict[str, dict[str, int]]:
    result: dict[str, dict[str, int]] = {}
    for (first, second), n in pairs.most_common():
        result.setdefault(first, {})[second] = n
    return result
