"""The one derivation of an analysis under the deduction rules of the paper.

Every analysis in a search space is derived in exactly one way; that is what makes
sums over derivations sums over analyses. The order of steps is that of the paper's
trace tables: mentions from the innermost out and from left to right, the first level
last. With `max_short_child` above 1 the rules (j), (k), (l) and (o) take a short child
of any length up to that; several labels on one span are antecedents of one rule (g).
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from .forest import Node, walk

AXIOM = "Axiom"
PREFIX, OPEN, CLOSED, LEFTWARD = "→", "↦", "↔", "↤"


class Item(NamedTuple):
    """An item of the deduction system.

    kind (Any): An arrow or a label.
    posts (tuple[int, ...]): Fenceposts, the places between tokens.
    """

    kind: Any
    posts: tuple[int, ...]

    def __str__(self) -> str:
        return f"[{', '.join(map(str, (self.kind, *self.posts)))}]"


class Step(NamedTuple):
    """One line of a derivation.

    number (int): Counted from 1.
    item (Item): What is derived.
    rule (str): The letter of the rule in the paper, or "Axiom".
    antecedents (tuple[int, ...]): Numbers of the steps the rule is applied to.
    """

    number: int
    item: Item
    rule: str
    antecedents: tuple[int, ...]

    def __str__(self) -> str:
        using = f" with {' & '.join(map(str, self.antecedents))}" if self.antecedents else ""
        rule = self.rule if self.rule == AXIOM else f"({self.rule})"
        return f"{self.number:>4}. {self.item!s:<16} {rule}{using}"


class Derivation(list[Step]):
    """The steps of a derivation; prints as a table."""

    def __str__(self) -> str:
        return "\n".join([f"{'':>4}  {'Item':<16} Rule", *map(str, self)])

    def add(self, kind: Any, posts: Iterable[int], rule: str, *antecedents: int) -> int:
        self.append(Step(len(self) + 1, Item(kind, tuple(posts)), rule, antecedents))
        return len(self)

    def add_labels(self, node: Node) -> list[int]:
        return [self.add(label, (node.start, node.end), AXIOM) for label in node.labels]


def derive_flat(roots: list[Node], n_tokens: int) -> Derivation:
    """Rules (a) and (b)."""
    steps = Derivation()
    prefix = steps.add(PREFIX, [0], AXIOM)
    starts = {node.start: node for node in roots}
    position = 0
    while position < n_tokens:
        if position in starts:
            node = starts[position]
            labels = steps.add_labels(node)
            position = node.end
            prefix = steps.add(PREFIX, [position], "a", prefix, *labels)
        else:
            position += 1
            prefix = steps.add(PREFIX, [position], "b", prefix)
    return steps


def derive_nested(roots: list[Node], n_tokens: int, short_child: int | None) -> Derivation:
    """Rules (c)-(i), or with a limit on children (d)-(p)."""
    steps = Derivation()
    closed = _close_all(steps, roots, short_child)
    first_level = {node.start: node for node in roots}
    prefix = steps.add(PREFIX, [0], AXIOM)
    position = 0
    while position < n_tokens:
        if position in first_level:
            node = first_level[position]
            position = node.end
            prefix = steps.add(PREFIX, [position], "h", prefix, closed[node.start, node.end])
        else:
            position += 1
            prefix = steps.add(PREFIX, [position], "i", prefix)
    return steps


def _close_all(steps: Derivation, roots: list[Node], short_child: int | None) -> dict[tuple[int, int], int]:
    """Derive all mentions with everything inside them; the numbers of their [↔, i, j]."""
    closed: dict[tuple[int, int], int] = {}
    # `walk` goes from the outermost in and from right to left. No recursion: mentions can be nested deeply.
    for node in reversed(list(walk(roots))):
        children = {child.start: (child.end, closed[child.start, child.end]) for child in node.children}
        inside = _read_inside(steps, node, children, short_child)
        labels = steps.add_labels(node)
        closed[node.start, node.end] = steps.add(CLOSED, (node.start, node.end), "g", inside, *labels)
    return closed


def _read_inside(steps: Derivation, node: Node, children: dict[int, tuple[int, int]], short_child: int | None) -> int:
    """Derive [↦, i, j] of a mention from its closed children (start: end, step number)."""
    after_open, after_closed = ("c", "e") if short_child is None else ("j", "k")
    long = next((c for c in node.children if short_child is not None and len(c) > short_child), None)
    is_closed = False
    if long is not None and long.start > node.start:
        last, position = _read_leftward(steps, node, children, long)
    elif node.start in children:
        position, last = children[node.start]
        is_closed = True
    else:
        position, last = node.start, steps.add(OPEN, (node.start, node.start), AXIOM)
    while position < node.end:
        if position in children:
            position, child = children[position]
            last = steps.add(OPEN, (node.start, position), after_closed if is_closed else after_open, last, child)
        else:
            position += 1
            last = steps.add(OPEN, (node.start, position), "f" if is_closed else "d", last)
        is_closed = False
    return last


def _read_leftward(steps: Derivation, node: Node, children: dict[int, tuple[int, int]], long: Node) -> tuple[int, int]:
    """From the long child to the left edge of its parent: the step number of [↦, i, k], and k."""
    ends = {end: (start, child) for start, (end, child) in children.items()}
    end, last = children[long.start]
    position, is_closed = long.start, True
    while position > node.start:
        if position in ends:
            position, child = ends[position]
            last = steps.add(LEFTWARD, (position, end), "l" if is_closed else "o", child, last)
        else:
            position -= 1
            last = steps.add(LEFTWARD, (position, end), "m" if is_closed else "n", last)
        is_closed = False
    return steps.add(OPEN, (node.start, end), "p", last), end
