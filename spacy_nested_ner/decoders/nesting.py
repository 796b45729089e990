"""How mentions lie to each other. All functions take sorted mentions, which may cross."""

from typing import NamedTuple

from .mention import Mention

Pair = tuple[Mention, Mention]


class Relations(NamedTuple):
    """Pairs of mentions, the outer or earlier one first.

    inside (list[Pair]): The second is directly inside the first: no other is between them.
    same_span (list[Pair]): Two labels on one span.
    crossing (list[Pair]): The second begins inside the first and ends after it.
    """

    inside: list[Pair]
    same_span: list[Pair]
    crossing: list[Pair]


def nesting_levels(mentions: list[Mention]) -> list[int]:
    """1 for a mention inside no other, 2 for one directly inside such a mention, and so on.

    Of two labels on one span the second counts as inside the first.
    """
    levels: list[int] = []
    open_ones: list[tuple[Mention, int]] = []
    for mention in mentions:
        open_ones = [(other, level) for other, level in open_ones if other.end > mention.start]
        # Sorted by start: one that ends no earlier is around this one.
        around = [level for other, level in open_ones if other.end >= mention.end]
        level = 1 + max(around, default=0)
        levels.append(level)
        open_ones.append((mention, level))
    return levels


def relations(mentions: list[Mention]) -> Relations:
    """All pairs of mentions that overlap, but for those inside one another at a distance."""
    found = Relations([], [], [])
    open_ones: list[Mention] = []
    for mention in mentions:
        open_ones = [other for other in open_ones if other.end > mention.start]
        around: list[Mention] = []
        for other in open_ones:
            if other[:2] == mention[:2]:
                found.same_span.append((other, mention))
            elif other.end >= mention.end:
                around.append(other)
            else:
                found.crossing.append((other, mention))
        found.inside.extend((other, mention) for other in around if not any(_is_inside(o, other) for o in around))
        open_ones.append(mention)
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


def _is_inside(one: Mention, other: Mention) -> bool:
    return other.start <= one.start and one.end <= other.end and one[:2] != other[:2]
