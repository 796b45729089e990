"""Which spans are worth scoring for some gold mentions: a single outlier must not make everything slow."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from .auto import MIN_COVERAGE, Segments, share_kept

# Spans of up to this many tokens are always scored: on GENIA, a limit of 12 is not measurably faster than one of 18.
ALWAYS_SCORED = 20
# The limit if there is no mention to choose by.
WITHOUT_MENTIONS = 10
# The share of mentions to keep of every label. Rare labels with long mentions would be lost otherwise.
_OF_EVERY_LABEL = 0.9


class LimitChoice(NamedTuple):
    """A span limit that was chosen for some mentions. Printed, it gives the reason.

    limit (int): Tokens of the longest span that is scored.
    mentions (int): How many mentions there are.
    kept (int): How many of them are no longer than the limit.
    longest (int): Tokens of the longest mention.
    """

    limit: int
    mentions: int
    kept: int
    longest: int

    @property
    def coverage(self) -> float:
        """The share of mentions that are no longer than the limit."""
        return self.kept / self.mentions

    def __str__(self) -> str:
        share = share_kept(self.kept, self.mentions)
        kept = f"max_span_length = {self.limit} keeps {share} of {self.mentions:,} gold mentions"
        return f"{kept} (the longest has {self.longest} tokens)" if self.kept < self.mentions else kept


def choose_limit(lengths: Mapping[Any, Counter[int]]) -> LimitChoice | None:
    """The shortest limit that keeps 99.9 % of the mentions and 90 % of those of every label. Mentions of up to 20
    tokens are always kept, and all mentions if there are fewer than 1,000.

    lengths (Mapping[Any, Counter[int]]): For every label, how many mentions have how many tokens (`lengths_of`).
    RETURNS (LimitChoice | None): None if there are no mentions.
    """
    every: Counter[int] = sum(lengths.values(), Counter())
    if not every:
        return None
    longest = max(every)
    enough = _shortest(every, MIN_COVERAGE)
    for_labels = (_shortest(of_label, _OF_EVERY_LABEL) for of_label in lengths.values())
    limit = max(min(ALWAYS_SCORED, longest), enough, *for_labels)
    kept = sum(n for length, n in every.items() if length <= limit)
    return LimitChoice(limit, every.total(), kept, longest)


def lengths_of(segments: Segments) -> dict[Any, Counter[int]]:
    """For every label, how many mentions have how many tokens."""
    lengths: dict[Any, Counter[int]] = {}
    for mentions, _ in segments:
        for start, end, label in set(mentions):
            lengths.setdefault(label, Counter())[end - start] += 1
    return lengths


def _shortest(lengths: Counter[int], share: float) -> int:
    """The shortest limit that keeps a share of some mentions."""
    kept = 0
    for length, n in sorted(lengths.items()):
        kept += n
        if kept >= share * lengths.total():
            return length
    return 0
