"""How mentions relate to each other: how deep each one is, and which are inside, on top of or across others.

Mentions may cross. Depth is defined here and nowhere else: `analyze`, `convert` and nested recall count the same
mentions.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from .mention import Mention

Pair = tuple[Mention, Mention]

# With how many of the labels before it on the same span a label is paired: all pairs of thousands would be millions.
MAX_PAIRED = 100


class Relations(NamedTuple):
    """Pairs of mentions, the outer or earlier one first.

    inside (list[Pair]): The second is directly inside the first: no other is between them.
    same_span (list[Pair]): Two labels on one span. Of more than a hundred, only those next to each other are paired.
    crossing (list[Pair]): The second begins inside the first and ends after it.
    """

    inside: list[Pair]
    same_span: list[Pair]
    crossing: list[Pair]


class Place(NamedTuple):
    """Where a mention is among others.

    depth (int): One more than the number of other spans that contain its span. A mention of depth 1 is on the first
        level, any other is nested. All labels on one span have the same depth, and spans that cross are not inside each
        other.
    parent (int | None): The number of the mention with the shortest span that contains its span; the one that begins
        first if there are two, the first one given if that span has several labels. None on the first level.
    """

    depth: int
    parent: int | None


def places(mentions: Sequence[Mention]) -> list[Place]:
    """Depth and parent of every mention.

    mentions (Sequence[Mention]): In any order.
    """
    first: dict[tuple[int, int], int] = {}
    for number, mention in enumerate(mentions):
        first.setdefault((mention.start, mention.end), number)
    place_of: dict[tuple[int, int], Place] = {}
    # The ends of open spans, negative so that the outermost comes first. Without crossing spans, this is a stack.
    open_ends: list[int] = []
    # The shortest of the open spans up to each one: its length, its start, and the number of its first mention.
    shortest: list[tuple[int, int, int]] = []
    for start, negative_end in sorted((start, -end) for start, end in first):
        while open_ends and -open_ends[-1] <= start:
            open_ends.pop()
            shortest.pop()
        # Open spans begin no later than this one: those that end no earlier contain it.
        around = bisect_right(open_ends, negative_end)
        end = -negative_end
        place_of[start, end] = Place(1 + around, shortest[around - 1][2] if around else None)
        own = end - start, start, first[start, end]
        open_ends.insert(around, negative_end)
        shortest.insert(around, min(own, shortest[around - 1]) if around else own)
        for later in range(around + 1, len(shortest)):  # spans that cross this one
            shortest[later] = min(shortest[later], own)
    return [place_of[mention.start, mention.end] for mention in mentions]


def depths(mentions: Sequence[Mention]) -> list[int]:
    """The depth of every mention (see `Place`).

    mentions (Sequence[Mention]): In any order.
    """
    return [place.depth for place in places(mentions)]


def relations(mentions: Iterable[Mention]) -> Relations:
    """All pairs of mentions that overlap, except those with another mention between them.

    mentions (Iterable[Mention]): Sorted, as by `sort_mentions`.
    """
    found = Relations([], [], [])
    open_spans: list[list[Mention]] = []  # all labels of a span together
    is_chain = True  # each open span is inside the one before it
    for mention in mentions:
        while open_spans and open_spans[-1][0].end <= mention.start:
            open_spans.pop()
        if not is_chain:
            open_spans = [span for span in open_spans if span[0].end > mention.start]
            is_chain = all(outer[0].end >= inner[0].end for outer, inner in pairwise(open_spans))
        same = open_spans.pop() if open_spans and open_spans[-1][0][:2] == mention[:2] else []
        found.same_span.extend((other, mention) for other in same[-MAX_PAIRED:])
        if is_chain and (not open_spans or open_spans[-1][0].end >= mention.end):
            # Only the innermost one matters. Without this, a chain of n mentions would take quadratic time.
            around = open_spans[-1:]
        else:
            around = []
            for span in open_spans:
                if span[0].end >= mention.end:
                    around.append(span)
                else:
                    found.crossing.extend((other, mention) for other in span)
                    is_chain = False
            around = _innermost(around)
        found.inside.extend((other, mention) for span in around for other in span)
        same.append(mention)
        open_spans.append(same)
    return found


def second_longest_children(inside: list[Pair]) -> list[int]:
    """For every span with two or more spans directly inside it, the length of the second longest.

    A quadratic decoder needs a `max_short_child` as large as that.
    """
    children: dict[tuple[int, int], set[tuple[int, int]]] = {}
    for outer, inner in inside:
        children.setdefault(outer[:2], set()).add(inner[:2])
    lengths = (sorted(end - start for start, end in spans) for spans in children.values())
    return [some[-2] for some in lengths if len(some) > 1]


def _innermost(spans: list[list[Mention]]) -> list[list[Mention]]:
    """Of sorted spans around a token, those that contain no other of them."""
    result: list[list[Mention]] = []
    for span in reversed(spans):
        # What comes later in the order and ends no later is inside; the last one kept has the earliest end.
        if not result or span[0].end < result[-1][0].end:
            result.append(span)
    return result[::-1]
