"""Which gold mentions a decoder could find at best: the maximum recall of every search space.

Exact, by the projection of gold mentions into search spaces that training uses, too. The recommended decoder is the one
that AutoDecoder chooses when a component with the same settings is trained on the same data.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, Literal, NamedTuple

from ..annotation import Segment, by_segment, mentions_of, sentence_bounds
from ..corpus import Loss, Record
from ..corpus.documents import describe
from ..decoders import Mention
from ..decoders.auto import Fate, NamedSpace, all_spaces, by_cost, cheapest, check_min_coverage, fates_of
from ..decoders.brackets import bracket_words
from ..decoders.space import clusters
from ..decoders.span_limit import ALWAYS_SCORED, WITHOUT_MENTIONS, LimitChoice, choose_limit

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

    spans_key (str): The mentions are in `doc.spans[spans_key]`.
    use_sentences (bool): Every sentence is a segment of its own; mentions that cross a sentence boundary are lost in
        all spaces. Otherwise a document is one segment, as in a pipeline that sets no sentence boundaries.
    max_span_length (int | "auto" | None): Longer mentions are lost in all spaces. "auto" for what the component
        chooses (`choose_limit`), None for no limit. It also decides which space is the cheapest.
    min_coverage (float): The share of mentions that the recommended space must keep, of those that the widest space
        keeps.
    n_examples (int): How many examples to keep of each kind of loss.
    across (Loss): Mentions that cross a sentence boundary.
    mentions (Counter[str]): All mentions by label.
    longest (int): Tokens of the longest mention.
    """

    spans_key: str = "sc"
    use_sentences: bool = False
    max_span_length: int | Literal["auto"] | None = "auto"
    min_coverage: float = 0.999
    n_examples: int = 3
    across: Loss = field(default_factory=Loss)
    mentions: Counter[str] = field(default_factory=Counter)
    longest: int = 0

    def __post_init__(self) -> None:
        check_min_coverage(self.min_coverage)
        self.spaces = all_spaces(None if self.max_span_length == "auto" else self.max_span_length)
        # Mentions lost in all spaces and kept by all, which depend on nothing else.
        self._certain: dict[bool, Counter[str]] = {False: Counter(), True: Counter()}
        # What the other ones depend on: which labels are rare is known only when all documents have been read.
        self._segments: list[_Segment] = []
        self._settled: _Fates | None = None
        # Of the mentions that do not cross a segment boundary: for every label, how many have how many tokens.
        self._lengths: dict[str, Counter[int]] = {}

    def add(self, record: Record) -> None:
        """Count the mentions of a document."""
        doc, where = record
        self._settled = None
        mentions = mentions_of(doc, self.spans_key)
        sentences = sentence_bounds(doc)
        segments = sentences if self.use_sentences else _joined(sentences, mentions)
        by_sentence, across = by_segment(mentions, segments)
        for mention in across:
            self.across.add(f"{where}: {describe(doc, mention)}")
        self._certain[False].update(self._count(across))
        has_sentences = doc.has_annotation("SENT_START")
        places = {
            start: f"{where}, sentence {number}" if has_sentences else where
            for number, (start, _) in enumerate(sentences, 1)
        }
        for (start, end), inside in zip(segments, by_sentence):
            for mention in inside:
                self._lengths.setdefault(mention.label, Counter())[mention.end - mention.start] += 1
            labels = self._count(inside)
            if self._is_kept_by_all(inside, end - start):
                self._certain[True].update(labels)
                continue
            words = [token.text for token in doc[start:end]]
            self._segments.append(_Segment(places[start], words, inside))

    def _is_kept_by_all(self, mentions: list[Mention], n_tokens: int) -> bool:
        """Whether mentions are kept whatever documents follow. Which limit "auto" chooses is not known yet."""
        if self.max_span_length == "auto" and any(m.end - m.start > ALWAYS_SCORED for m in mentions):
            return False
        return self.spaces[0].decoder.contains(mentions, n_tokens)  # all other spaces contain the flat one

    def _count(self, mentions: list[Mention]) -> list[str]:
        """Count mentions, and return their labels."""
        self.longest = max([self.longest, *(mention.end - mention.start for mention in mentions)])
        labels = [mention.label for mention in mentions]
        self.mentions.update(labels)
        return labels

    @property
    def _fates(self) -> _Fates:
        """Computed on first use, after the last document."""
        if self._settled is None:
            everywhere = {(kept,) * len(self.spaces): labels.copy() for kept, labels in self._certain.items()}
            self._settled = _Fates(everywhere, {})
            limit = self.limit
            for segment in self._segments:
                self._settle(segment, self._settled, limit)
        return self._settled

    def _settle(self, segment: _Segment, result: _Fates, limit: int | None) -> None:
        where, words, mentions = segment
        scored = [m for m in mentions if limit is None or m.end - m.start <= limit]
        known = dict(zip(scored, fates_of(scored, len(words), self.spaces, self.mentions)))
        fates = [known.get(mention, (False,) * len(self.spaces)) for mention in mentions]
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
        return sum(self._kept(space), Counter())

    def _kept(self, space: NamedSpace) -> Iterator[Counter[str]]:
        """The same in parts: there may be thousands of labels, which are not to be added up for each of them."""
        i = self.spaces.index(space)
        return (labels for fate, labels in self._fates.labels.items() if fate[i])

    def recall(self, space: NamedSpace, label: str | None = None) -> float:
        """The share of mentions that a space keeps; 1 if there are none."""
        mentions = self.mentions
        if label is not None:
            return sum(part[label] for part in self._kept(space)) / mentions[label] if mentions[label] else 1.0
        return self.kept(space).total() / mentions.total() if mentions else 1.0

    def recommend(self) -> NamedSpace:
        """The cheapest space that keeps `min_coverage` of what the widest one keeps."""
        kept = [self.kept(space).total() for space in self.spaces]
        return cheapest(self.spaces, kept, self.min_coverage, self.limit)

    def next_cheaper(self, space: NamedSpace) -> NamedSpace | None:
        """The space that costs a little less; None for the cheapest one."""
        spaces = by_cost(self.spaces, self.limit)
        place = spaces.index(space)
        return spaces[place - 1] if place else None

    @property
    def limit(self) -> int | None:
        """Tokens of the longest mention that is kept; None for no limit."""
        if self.max_span_length != "auto":
            return self.max_span_length
        choice = self.limit_choice
        return choice.limit if choice else WITHOUT_MENTIONS

    @property
    def limit_choice(self) -> LimitChoice | None:
        """What max_span_length = "auto" chooses; None if there is no mention to choose by."""
        return choose_limit(self._lengths)

    @property
    def too_long(self) -> int:
        """Mentions of more tokens than the limit."""
        limit = self.limit
        return sum(n for lengths in self._lengths.values() for length, n in lengths.items() if limit and length > limit)

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
            "longest": self.longest,
            "max_span_length": self.limit,
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
    """What each search space keeps of some documents.

    records (Iterable[Record]): The documents, with gold mentions.
    settings (Any): The settings of `Coverage`, such as `max_span_length` and `min_coverage`.
    RETURNS (Coverage): What each space keeps.
    """
    coverage = Coverage(**settings)
    for record in records:
        coverage.add(record)
    return coverage


def _joined(sentences: list[Segment], mentions: list[Mention]) -> list[Segment]:
    """Sentences, joined where a mention crosses their boundary.

    A space keeps of them what it keeps of the document as a whole: mentions with a gap between them do not exclude
    each other.
    """
    _, across = by_segment(mentions, sentences)
    starts = [start for start, _ in sentences if not any(m.start < start < m.end for m in across)]
    ends = [*starts[1:], *(end for _, end in sentences[-1:])]
    return list(zip(starts, ends))


def show(words: list[str], mentions: list[Mention], lost: Mention) -> str:
    """A mention in its sentence, with the mentions that may be in its way."""
    cluster = next(cluster for cluster in clusters(mentions) if lost in cluster)
    pieces = bracket_words(words, cluster, marked=lost)
    first = max(0, cluster[0].start - AROUND)
    last = max(mention.end for mention in cluster) + AROUND
    pieces = ["…"] * (first > 0) + pieces[first:last] + ["…"] * (last < len(words))
    return " ".join(" ".join(pieces).split())  # a word may be a line break
