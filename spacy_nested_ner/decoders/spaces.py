"""Search spaces as sets of mentions: who is inside whom, and what is not allowed.

Independent of the dynamic programs: these functions look at given mentions.
"""

import numbers
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .mention import Mention, sort_mentions


@dataclass
class Node:
    """A span with its labels and the spans directly inside it."""

    start: int
    end: int
    labels: list[Any] = field(default_factory=list)
    children: list["Node"] = field(default_factory=list)

    def __len__(self) -> int:
        return self.end - self.start

    def __str__(self) -> str:
        return f"{self.start}:{self.end} ({', '.join(map(str, self.labels))})"


def check_mentions(mentions: Iterable[Mention], n_tokens: int) -> list[Mention]:
    """Sorted, without duplicates; an error for what is no span of `n_tokens` tokens."""
    if not _is_whole(n_tokens) or n_tokens < 0:
        raise ValueError(f"n_tokens is {n_tokens!r}; expected a whole number, 0 or more")
    result = set()
    for mention in mentions:
        try:
            start, end, label = mention
        except (TypeError, ValueError):
            raise TypeError(f"{mention!r} is not a mention; expected (start, end, label)") from None
        if not _is_whole(start) or not _is_whole(end):
            raise TypeError(f"mention {mention!r}: start and end must be whole numbers")
        if not 0 <= start < end <= n_tokens:
            raise ValueError(
                f"mention {tuple(mention)!r} is not a span of {n_tokens} tokens; "
                f"expected 0 <= start < end <= {n_tokens}"
            )
        result.add(Mention(int(start), int(end), label))
    return sort_mentions(result)


def _is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def forest(mentions: list[Mention]) -> list[Node] | tuple[Node, Node]:
    """The first-level spans, with all others inside them; or two spans that cross.

    `mentions` is sorted as by `check_mentions`.
    """
    roots: list[Node] = []
    path: list[Node] = []
    for start, end, label in mentions:
        if path and (path[-1].start, path[-1].end) == (start, end):
            path[-1].labels.append(label)
            continue
        while path and path[-1].end <= start:
            path.pop()
        node = Node(start, end, [label])
        if path and path[-1].end < end:
            return path[-1], node
        (path[-1].children if path else roots).append(node)
        path.append(node)
    return roots


def walk(nodes: Iterable[Node]) -> Iterator[Node]:
    """All spans of a forest."""
    stack = list(nodes)
    while stack:
        node = stack.pop()
        yield node
        stack.extend(node.children)


def violation(
    mentions: list[Mention], *, short_child: int | None, multi_label: bool, max_span_length: int | None
) -> str | None:
    """Why sorted mentions are outside a search space, or None if they are inside.

    short_child (int | None): 0, nothing may stand inside a mention; c, at most one child
        longer than c tokens; None, any children.
    """
    roots = forest(mentions)
    if isinstance(roots, tuple):
        return f"{roots[0]} and {roots[1]} cross"
    for node in walk(roots):
        if len(node.labels) > 1 and not multi_label:
            return f"{node} has {len(node.labels)} labels, and multi_label is off"
        if max_span_length is not None and len(node) > max_span_length:
            return f"{node} has {len(node)} tokens, and max_span_length is {max_span_length}"
        if short_child is None or not node.children:
            continue
        if short_child == 0:
            return f"{node.children[0]} is inside {node}, and mentions are flat"
        long = [child for child in node.children if len(child) > short_child]
        if len(long) > 1:
            return f"{node} has {len(long)} children longer than {short_child}: {long[0]} and {long[1]}"
    return None


def clusters(mentions: list[Mention]) -> Iterator[list[Mention]]:
    """Cut sorted mentions where no mention reaches across: first-level mentions of
    different clusters cannot be in each other's way."""
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
