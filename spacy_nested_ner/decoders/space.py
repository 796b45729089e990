"""Search spaces: which analyses are allowed, how other mentions are projected, and how one is derived."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._kernels import engine
from ._kernels.batch import Batch
from ._memory import check_memory
from ._settings import check_limit, check_whole
from .derivation import Derivation, derive_flat, derive_nested
from .forest import plant, walk
from .layout import SpanLayout
from .mention import AnyMention, Mention, check_mentions, sort_mentions


@dataclass(frozen=True)
class SearchSpace:
    """A set of analyses: sets of mentions that do not cross, within limits. Immutable.

    All spaces are closed under deletion: an analysis without one of its mentions is in the space too.

    max_short_child (int | None): 0: no mention inside another. c: a mention may have any number of children (mentions
        directly inside it) of up to c tokens, and one that is longer. None: any children.
    multi_label (bool): Allow any set of labels on a span, not just one label.
    max_span_length (int | None): Forbid mentions of more tokens than this.
    """

    max_short_child: int | None = 1
    multi_label: bool = False
    max_span_length: int | None = None

    def __post_init__(self) -> None:
        if self.max_short_child is not None:
            short = check_whole("max_short_child", self.max_short_child, 0, ", or None for any children")
            object.__setattr__(self, "max_short_child", short)
        if not isinstance(self.multi_label, bool):
            raise TypeError(f"multi_label is {self.multi_label!r}; expected True or False")
        object.__setattr__(self, "max_span_length", check_limit(self.max_span_length))

    def contains(self, mentions: Iterable[AnyMention], n_tokens: int) -> bool:
        """Whether an analysis is inside the search space.

        mentions (Iterable[Mention]): In any order. Labels may be of any type that sorts.
        n_tokens (int): Length of the segment.
        RETURNS (bool)
        """
        return self.violation(mentions, n_tokens) is None

    def violation(self, mentions: Iterable[AnyMention], n_tokens: int) -> str | None:
        """Why mentions are outside the search space.

        RETURNS (str | None): A reason that names the mentions, or None if they are inside.
        """
        return self.check(mentions, n_tokens)[1]

    def check(self, mentions: Iterable[AnyMention], n_tokens: int) -> tuple[list[Mention], str | None]:
        """Mentions as they are used, and why they are outside the search space.

        RETURNS (tuple[list[Mention], str | None]): What `check_mentions` and `violation` return.
        """
        checked = check_mentions(mentions, n_tokens)
        return checked, self._reason(checked)

    def project(
        self, mentions: Iterable[AnyMention], n_tokens: int, *, counts: Mapping[Any, int] | None = None
    ) -> list[Mention]:
        """The largest subset of mentions that is inside the search space.

        Training uses this subset: with gold mentions outside the space, the loss would have no minimum.

        Of several largest subsets, the one with the rarer labels is kept. The labels of conflicting mentions are
        ranked from the highest count to the lowest, and among equal counts in reverse order of their names; the sum
        of the ranks that are kept is the highest possible. The result does not depend on the numbering or order of
        labels, mentions or documents.

        counts (Mapping[Any, int] | None): How often every label occurs in the corpus; a label that is not there
            occurs 0 times.
        RETURNS (list[Mention]): Sorted, without duplicates.
        """
        kept = check_mentions(mentions, n_tokens)
        if self.max_span_length is not None:
            kept = [m for m in kept if m.end - m.start <= self.max_span_length]
        result: list[Mention] = []
        for cluster in clusters(kept):
            result += cluster if self._reason(cluster) is None else self._largest_subset(cluster, counts or {})
        return result

    def derivation(self, mentions: Iterable[AnyMention], n_tokens: int) -> Derivation:
        """The one derivation of an analysis under the rules of the paper.

        RETURNS (Derivation): A list of steps that prints as a table.
        """
        kept = check_mentions(mentions, n_tokens)
        reason = self._reason(kept)
        if reason is not None:
            raise ValueError(f"the analysis is outside the search space of {self!r}: {reason}; `project` it first")
        roots = plant(kept).roots
        if self.max_short_child == 0:
            return derive_flat(roots, n_tokens)
        return derive_nested(roots, n_tokens, self.max_short_child)

    def for_kernels(self) -> tuple[int, bool, int]:
        """Short children (-1 for any), multi_label, and the longest span (0 for any), as the kernels take them."""
        short = -1 if self.max_short_child is None else min(self.max_short_child, sys.maxsize)
        return short, self.multi_label, min(self.max_span_length or 0, sys.maxsize)

    def _reason(self, mentions: list[Mention]) -> str | None:
        roots, crossing = plant(mentions)
        if crossing is not None:
            return f"{crossing[0]} and {crossing[1]} cross"
        for node in walk(roots):
            if len(node.labels) > 1 and not self.multi_label:
                return f"{node} has {len(node.labels)} labels, and multi_label is off"
            if self.max_span_length is not None and len(node) > self.max_span_length:
                return f"{node} has {len(node)} tokens, and max_span_length is {self.max_span_length}"
            if self.max_short_child is None or not node.children:
                continue
            if self.max_short_child == 0:
                return f"{node.children[0]} is inside {node}, and mentions are flat"
            long = [child for child in node.children if len(child) > self.max_short_child]
            if len(long) > 1:
                return f"{node} has {len(long)} children longer than {self.max_short_child}: {long[0]} and {long[1]}"
        return None

    def _largest_subset(self, mentions: list[Mention], counts: Mapping[Any, int]) -> list[Mention]:
        """The best analysis when everything else is forbidden, and a mention weighs more than all ranks together."""
        first, last = mentions[0].start, max(m.end for m in mentions)
        labels, ranks = rank_labels(mentions, counts)
        layout = SpanLayout([last - first], max(m.end - m.start for m in mentions))
        check_memory(8.0 * len(labels) * layout.n_spans, last - first, layout.max_span_length or 0, False)
        values = np.full((len(labels), layout.n_spans), -np.inf)
        # Whole numbers, so that all sums are exact.
        base = len(labels) * (len(mentions) + 1)
        for start, end, label in mentions:
            values[ranks[label], layout.cell(0, start - first, end - first)] = base + ranks[label]
        short, multi_label, longest = self.for_kernels()
        batch = Batch.of_packed(values, layout.lengths, layout.max_span_length or 0, False, longest)
        starts, ends, numbers, _ = engine.decode(batch, short, multi_label)
        found = zip((starts + first).tolist(), (ends + first).tolist(), numbers.tolist())
        return sort_mentions(Mention(start, end, labels[number]) for start, end, number in found)


def rank_labels(mentions: Iterable[Mention], counts: Mapping[Any, int]) -> tuple[list[Any], dict[Any, int]]:
    """The labels of mentions, those to be dropped first in front, and the place of each of them."""
    labels = sorted({mention.label for mention in mentions}, reverse=True)
    labels.sort(key=lambda label: -counts.get(label, 0))
    return labels, {label: rank for rank, label in enumerate(labels)}


def clusters(mentions: list[Mention]) -> Iterator[list[Mention]]:
    """Split sorted mentions where no mention spans the gap: mentions of different clusters cannot conflict."""
    cluster: list[Mention] = []
    reach = 0
    for mention in mentions:
        if cluster and mention.start >= reach:
            yield cluster
            cluster, reach = [], 0
        cluster.append(mention)
        reach = max(reach, mention.end)
    if cluster:
        yield cluster
