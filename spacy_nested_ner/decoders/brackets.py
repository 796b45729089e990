"""Mentions as brackets in a text: `[PER Fabian from [GPE Bonn]] sings`."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .mention import Mention


def bracket_words(
    words: Sequence[str],
    mentions: Iterable[Mention],
    *,
    escape: Callable[[Any], str] = str,
    marked: Mention | None = None,
    paint: Callable[[str, Mention], str] = lambda bracket, _: bracket,
) -> list[str]:
    """Every word with the brackets that open before it and close after it; join them with spaces to get the text.

    mentions (Iterable[Mention]): Sorted. Mentions that cross get their brackets too, but a reader can no longer tell
        which bracket closes which mention; see `separate_crossing`.
    escape (Callable[[Any], str]): How a word or a label is written.
    marked (Mention | None): The mention to enclose in { } instead of [ ].
    paint (Callable[[str, Mention], str]): What to make of a bracket, with its label, for a terminal.
    RETURNS (list[str]): As many strings as there are words.
    """
    opening: list[list[str]] = [[] for _ in words]
    closing: list[list[str]] = [[] for _ in words]
    for mention in mentions:
        left, right = ("{", "}") if mention == marked else ("[", "]")
        opening[mention.start].append(paint(f"{left}{escape(mention.label)}", mention) + " ")
        closing[mention.end - 1].append(paint(right, mention))
    # The last mention to open is the innermost one, so it closes first.
    return ["".join([*opening[i], escape(word), *reversed(closing[i])]) for i, word in enumerate(words)]


def separate_crossing(mentions: Iterable[Mention]) -> tuple[list[Mention], list[Mention]]:
    """Sorted mentions without those that cross an earlier one, so that brackets can be read back.

    RETURNS (tuple[list[Mention], list[Mention]]): The mentions to keep, and the others.
    """
    kept: list[Mention] = []
    crossing: list[Mention] = []
    open_ones: list[Mention] = []  # each inside the one before it
    for mention in mentions:
        while open_ones and open_ones[-1].end <= mention.start:
            open_ones.pop()
        if open_ones and open_ones[-1].end < mention.end:
            crossing.append(mention)
        else:
            kept.append(mention)
            open_ones.append(mention)
    return kept, crossing
