"""Mentions that do not cross, as trees."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .mention import Mention


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


class Forest(NamedTuple):
    """Spans by who is inside whom.

    roots (list[Node]): The first-level spans, with all others inside them.
    crossing (tuple[Node, Node] | None): Two spans that cross; there are no trees then.
    """

    roots: list[Node]
    crossing: tuple[Node, Node] | None = None


def plant(mentions: list[Mention]) -> Forest:
    """The trees of mentions that are sorted as by `check_mentions`."""
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
            return Forest([], (path[-1], node))
        (path[-1].children if path else roots).append(node)
        path.append(node)
    return Forest(roots)


def walk(nodes: Iterable[Node]) -> Iterator[Node]:
    """All spans of a forest, the outer ones before those inside them, and from right to left."""
    stack = list(nodes)
    while stack:
        node = stack.pop()
        yield node
        stack.extend(node.children)
