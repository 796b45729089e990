"""Offsets that other programs count in other ways, corrected by the text that comes with them."""

from collections.abc import Sequence
from typing import NamedTuple

from ..conversion_report import FormatError, shown


class Quote(NamedTuple):
    """A piece of a text as a program noted it.

    start, end (int): Its offsets, in whatever way the program counts.
    text (str | None): What it says that the piece is.
    """

    start: int
    end: int
    text: str | None


class Counting:
    """A text, and the way in which the offsets into it are most likely counted.

    quotes (Sequence[Quote]): All that is known about the offsets.
    fitting (int): How many of them can be found in the text.
    """

    def __init__(self, text: str, quotes: Sequence[Quote]) -> None:
        self.text = text
        self._ways = _ways_to_count(text)
        fitting = [sum(self._find(quote, way) is not None for quote in quotes) for way in self._ways]
        self.fitting = max(fitting)
        # The sort is stable: characters as Python counts them come first, unless others explain more.
        self._order = sorted(range(len(self._ways)), key=lambda number: -fitting[number])

    def find(self, quote: Quote, where: str) -> tuple[int, int]:
        """Where a piece is, in characters."""
        found = (self._find(quote, self._ways[number]) for number in self._order)
        place = next((place for place in found if place is not None), None)
        if place is None:
            start, end, text = quote
            n = len(self.text)
            if not 0 <= start < end <= n:
                reason = f"the region {start}:{end} is not in a text of {n} characters"
                raise FormatError(where, f"{reason}; expected 0 <= start < end <= {n}")
            reason = f"the region {start}:{end} says {shown(text)}, but the text there is {shown(self.text[start:end])}"
            raise FormatError(where, f"{reason}; correct one of them")
        return place

    def _find(self, quote: Quote, places: Sequence[int]) -> tuple[int, int] | None:
        """Where a piece is, if it is counted in some way."""
        if not 0 <= quote.start < quote.end < len(places):
            return None
        start, end = places[quote.start], places[quote.end]
        if start < 0 or end < 0:
            return None
        said = quote.text is None or _squeeze(quote.text) == _squeeze(self.text[start:end])
        return (start, end) if said else None


def _ways_to_count(text: str) -> list[Sequence[int]]:
    """For each way to count, the number of the character at every offset, or -1 inside of one: characters as in Python;
    16-bit units, as in JavaScript; and both with a line break of Windows as one."""
    ways: list[Sequence[int]] = [range(len(text) + 1)]
    wide, breaks = any(character > "\uffff" for character in text), "\r\n" in text
    ways += [_places(text, wide=True)] if wide else []
    ways += [_places(text, breaks=True)] if breaks else []
    ways += [_places(text, wide=True, breaks=True)] if wide and breaks else []
    return ways


def _places(text: str, *, wide: bool = False, breaks: bool = False) -> list[int]:
    places = []
    for place, character in enumerate(text):
        if breaks and character == "\n" and text[place - 1 : place] == "\r":
            continue
        places += [place, -1] if wide and character > "\uffff" else [place]
    return [*places, len(text)]


def _squeeze(text: str) -> str:
    """A text without whitespace, which some programs shorten, and without line breaks that were written as escapes."""
    return "".join(text.replace("\\n", " ").split())
