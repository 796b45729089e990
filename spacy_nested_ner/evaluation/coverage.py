"""Which gold mentions a decoder could find at best: the maximum recall of every search space.

Exact, by the projection of gold mentions into search spaces that training uses, too.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, NamedTuple

from ..annotation import mentions_by_segment
from ..corpus import Loss, Record
from ..corpus.documents import describe
from ..decoders import Mention
from ..decoders.auto import Fate, NamedSpace, all_spaces, cheapest, check_min_coverage, fates_of
from ..decoders.brackets import bracket_words
from ..decoders.space import clusters

# Words shown before and after the mentions of an example.
AROUND = 8


class Example(NamedTuple):
    """A mention, and its sentence with the mention in { } and those around and in it in [ ]."""

    where: str
    mention: str
    sentence: str


class _Segment(NamedTuple):
    """A segment of which some space may lose mentions."""

    where: str
    words: list[str]
    mentions: list[Mention]


class _Fates(NamedTuple):
    """What becomes of all mentions.

    labels (dict[Fate, Counter[str]]): Mentions by fate and label.
    examples (dict[Fate, list[Example]]): Some of those that are lost in some space.
    """

    labels: dict[Fate, Counter[str]]
    examples: dict[Fate, list[Example]]


@dataclass
class Coverage:
    """What each space keeps of the documents added to this.

    Of mentions that exclude each other, a space keeps as many as it can. Where that leaves a choice, it keeps mentions
    with rarer labels, counted over all documents, then those whose labels come first in the alphabet; so does training.

    use_sentences (bool): Every sentence is a segment of its own; mentions that cross a sentence boundary are lost in
        all spaces. Otherwise a document is one segment.
    max_span_length (int | None): Longer mentions are lost in all spaces.
    min_coverage (float): The share of mentions that the recommended space must keep.
    n_examples (int): How many examples to keep of each kind of loss.
    across (Loss): Mentions that cross a sentence boundary.
    too_long (int): Mentions of more tokens than `max_span_length`.
    mentions (Counter[str]): All mentions by label.
    """

    spans_key: str = "sc"
    use_sentences: bool = True
    max_span_length: int | None = None
    min_coverage: float = 0.999
    n_examples: int = 3
    across: Loss = field(default_factory=Loss)
    too_long: int = 0
    mentions: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        check_min_coverage(self.min_coverage)
        self.spaces = all_spaces(self.max_span_length)
        # Mentions lost in all spaces and kept by all, which depend on nothing else.
        self._certain: dict[bool, Counter[str]] = {False: Counter(), True: Counter()}
        # What the other ones depend on: which labels are rare is known only when all documents have been read.
        self._segments: list[_Segment] = []
        self._settled: _Fates | None = None

    def add(self, record: Record) -> None:
        """Count the mentions of a document."""
        doc, where = record
        self._settled = None
        segments, across = mentions_by_segment(doc, self.spans_key, use_sentences=self.use_sentences)
        for mention in across:
            self.across.add(f"{where}: {describe(doc, mention)}")
        self._count(across, kept=False)
        flat = self.spaces[0].decoder
        for number, (start, end, mentions) in enumerate(segments, 1):
            if flat.contains(mentions, end - start):
                self._count(mentions, kept=True)  # all other spaces contain the flat one
                continue
            self.mentions.update(mention.label for mention in mentions)
            if self.max_span_length is not None:
                self.too_long += sum(mention.end - mention.start > self.max_span_length for mention in mentions)
            words = [token.text for token in doc[start:end]]
            place = f"{where}, sentence {number}" if self.use_sentences else where
            self._segments.append(_Segment(place, words, mentions))

    def _count(self, mentions: Iterable[Mention], *, kept: bool) -> None:
        labels = [mention.label for mention in mentions]
        self.mentions.update(labels)
        self._certain[kept].update(labels)

    @property
    def _fates(self) -> _Fates:
        """Computed on first use, after the last document."""
        if self._settled is None:
            everywhere = {(kept,) * len(self.spaces): labels.copy() for kept, labels in self._certain.items()}
            self._settled = _Fates(everywhere, {})
            for segment in self._segments:
                self._settle(segment, self._settled)
        return self._settled

    def _settle(self, segment: _Segment, result: _Fates) -> None:
        where, words, mentions = segment
        fates = fates_of(mentions, len(words), self.spaces, self.mentions)
        for mention, fate in zip(mentions, fates):
            result.labels.setdefault(fate, Counter())[mention.label] += 1
        # The first of each kind: one example per sentence is enough.
        for fate, mention in dict(zip(reversed(fates), reversed(mentions))).items():
            examples = result.examples.setdefault(fate, [])
            if not all(fate) and len(examples) < self.n_examples:
                text = " ".join(words[mention.start : mention.end])
                examples.append(Example(where, f"{mention.label} {text!r}", show(words, mentions, mention)))

    def kept(self, space: NamedSpace) -> Counter[str]:
        """The mentions by label that a space keeps."""
        i = self.spaces.index(space)
        return sum((labels for fate, labels in self._fates.labels.items() if fate[i]), Counter())

    def recall(self, space: NamedSpace, label: str | None = None) -> float:
        """The share of mentions that a space keeps; 1 if there are none."""
        kept, mentions = self.kept(space), self.mentions
        if label is not None:
            return kept[label] / mentions[label] if mentions[label] else 1.0
        return kept.total() / mentions.total() if mentions else 1.0

    def recommend(self) -> NamedSpace:
        """The cheapest space that keeps `min_coverage`; if none does, the best one."""
        recalls = [self.recall(space) for space in self.spaces]
        return cheapest(self.spaces, recalls, self.min_coverage, self.max_span_length)

    def lost(self, space: NamedSpace, kept_by: NamedSpace | None = None) -> list[Example]:
        """Examples of what a space loses, or of what it loses and another keeps."""
        i = self.spaces.index(space)
        j = None if kept_by is None else self.spaces.index(kept_by)
        examples = self._fates.examples
        kinds = [fate for fate in examples if not fate[i] and (j is None or fate[j])]
        return list(islice(chain.from_iterable(examples[fate] for fate in kinds), self.n_examples))

    def as_dict(self) -> dict[str, Any]:
        """All numbers, as they go into a JSON file."""
        return {
            "mentions": self.mentions.total(),
            "labels": dict(self.mentions.most_common()),
            "across_sentences": self.across.count,
            "too_long": self.too_long,
            "use_sentences": self.use_sentences,
            "min_coverage": self.min_coverage,
            "recommended": self._describe(self.recommend()),
            "spaces": [self._describe(space) for space in self.spaces],
        }

    def _describe(self, space: NamedSpace) -> dict[str, Any]:
        kept = self.kept(space)
        return {
            **space.decoder.settings(),
            "kept": kept.total(),
            "recall": self.recall(space),
            "recall_by_label": {label: kept[label] / n for label, n in self.mentions.most_common()},
            "lost": [example._asdict() for example in self.lost(space)],
        }


def measure_coverage(records: Iterable[Record], **settings: Any) -> Coverage:
    """What each search space keeps of some documents; settings are those of `Coverage`."""
    coverage = Coverage(**settings)
    for record in records:
        coverage.add(record)
    return coverage


def show(words: list[str], mentions: list[Mention], lost: Mention) -> str:
    """A mention in its sentence, with the mentions that may be in its way."""
    cluster = next(cluster for cluster in clusters(mentions) if lost in cluster)
    pieces = bracket_words(words, cluster, marked=lost)
    first = max(0, cluster[0].start - AROUND)
    last = max(mention.end for mention in cluster) + AROUND
    pieces = ["…"] * (first > 0) + pieces[first:last] + ["…"] * (last < len(words))
    return " ".join(" ".join(pieces).split())  # a word may be a line break
