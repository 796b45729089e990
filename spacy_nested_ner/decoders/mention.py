"""What a decoder finds."""

from collections.abc import Iterable
from typing import Any, NamedTuple


class Mention(NamedTuple):
    """A labelled span of tokens.

    start (int): The first token.
    end (int): The token after the last one, as in spaCy.
    label (Any): What the span is labelled with. Decoders find numbers, the last
        index of their scores; `project`, `contains` and `derivation` take any label
        that can be compared with the others.
    """

    start: int
    end: int
    label: Any


def sort_mentions(mentions: Iterable[Mention]) -> list[Mention]:
    """By start, then longest first, then label: a parent comes before its children."""
    return sorted(mentions, key=lambda m: (m.start, -m.end, m.label))
