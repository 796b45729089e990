"""What a decoder finds."""

import numbers
from collections.abc import Iterable
from typing import Any, NamedTuple


class Mention(NamedTuple):
    """A labeled span of tokens.

    start (int): The first token.
    end (int): The token after the last one, as in spaCy.
    label (Any): What the span is labeled with. Decoders find numbers, the last
        index of their scores; `project`, `contains` and `derivation` take any label
        that can be compared with the others.
    """

    start: int
    end: int
    label: Any


# What is taken for a mention: start, end and label.
AnyMention = tuple[int, int, Any]


def sort_mentions(mentions: Iterable[Mention]) -> list[Mention]:
    """By start, then longest first, then label: a parent comes before its children."""
    return sorted(mentions, key=lambda m: (m.start, -m.end, m.label))


def check_mentions(mentions: Iterable[AnyMention], n_tokens: int) -> list[Mention]:
    """Mentions, checked and in order. Anything that is not a span of the sentence is an error.

    mentions (Iterable[AnyMention]): Mentions, or tuples of start, end and label.
    n_tokens (int): The length of the sentence.
    RETURNS (list[Mention]): Sorted, without duplicates.
    """
    if not _is_whole(n_tokens) or n_tokens < 0:
        raise ValueError(f"n_tokens is {n_tokens!r}; expected a whole number, 0 or more")
    result = set()
    for mention in mentions:
        try:
            start, end, label = mention
        except (TypeError, ValueError):
            raise TypeError(f"{mention!r} is not a mention; expected (start, end, label)") from None
        # Almost all are plain integers, and the other question takes several times as long.
        plain = type(start) is int is type(end)
        if not plain and not (_is_whole(start) and _is_whole(end)):
            raise TypeError(f"mention {mention!r}: start and end must be whole numbers")
        if not 0 <= start < end <= n_tokens:
            raise ValueError(
                f"mention {tuple(mention)!r} is not a span of {n_tokens} tokens; "
                f"expected 0 <= start < end <= {n_tokens}"
            )
        result.add(mention if type(mention) is Mention and plain else Mention(int(start), int(end), label))
    return sort_mentions(result)


def _is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)
