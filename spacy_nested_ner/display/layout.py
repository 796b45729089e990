"""Where things go in a drawing in HTML: in which lane a bar is, what stays on one line, and in which direction it
reads."""

from collections.abc import Iterable, Sequence
from itertools import count
from math import ceil
from unicodedata import bidirectional, east_asian_width

from spacy.lang.lex_attrs import is_left_punct, is_punct, is_quote

LTR, RTL = "ltr", "rtl"
_STRONG = {"L": LTR, "R": RTL, "AL": RTL}
# Lanes from here on are thin, so that deep nesting fits on a page.
DEEP = 8
# Lanes before this one have whole bars.
FULL = 16
# What stays together below a label is no longer than this, in characters.
LONGEST = 40
# The widest padding of a column, in characters.
WIDEST = 24


def lanes(spans: Sequence[tuple[int, int, int]]) -> list[int]:
    """How far from the text the bar of each mention is: further than those of the mentions around it. From `FULL` on,
    bars are no longer than their labels, so that they leave room for others.

    spans (Sequence[tuple[int, int, int]]): For every mention in reading order, its start, its end, and the token after
        its label.
    """
    result: list[int] = []
    open_ones: list[tuple[int, int, int]] = []  # where mentions end, their lanes, and where their bars end
    for start, end, label_end in spans:
        open_ones = [one for one in open_ones if one[0] > start]
        least = min(FULL, 1 + max((lane for other, lane, _ in open_ones if other >= end), default=-1))
        taken = {lane for _, lane, drawn in open_ones if drawn > start}
        lane = next(lane for lane in count(least) if lane not in taken)
        result.append(lane)
        if lane < FULL or label_end > start:
            open_ones.append((end, lane, end if lane < FULL else label_end))
    return result


def is_break(word: str) -> bool:
    """Whether a token ends a line of the text."""
    return word.isspace() and ("\n" in word or "\r" in word)


def lines(words: Sequence[str]) -> list[tuple[int, int]]:
    """The tokens of every line of the text, with those that end it."""
    ends = [number + 1 for number, word in enumerate(words) if is_break(word)]
    if not ends or ends[-1] < len(words):
        ends.append(len(words))
    return list(zip([0, *ends], ends))


# ---- direction ----


def has_right_to_left(words: Iterable[str]) -> bool:
    """Whether any part of a text reads from right to left."""
    characters = set().union(*words)
    return any(_STRONG.get(bidirectional(character)) == RTL for character in characters if character > "\u058f")


def direction(words: Iterable[str]) -> str | None:
    """The direction of the first letter; None if there is none."""
    found = (_STRONG.get(bidirectional(character)) for word in words for character in word)
    return next(filter(None, found), None)


def directions(words: Sequence[str]) -> list[str]:
    """The direction of every token. Those without letters have that of the tokens around them, if these agree; or that
    of the whole."""
    base = direction(words) or LTR
    own = [direction([word]) for word in words]
    before, after = _last_known(own), _last_known(own[::-1])[::-1]
    return [this or (one if one and one == other else base) for this, one, other in zip(own, before, after)]


def _last_known(values: Sequence[str | None]) -> list[str | None]:
    """Each value, or the last one before it that is known."""
    known: list[str | None] = []
    for value in values:
        known.append(value or (known[-1] if known else None))
    return known


def joins(one: str, other: str) -> bool:
    """Whether the last letter of a token and the first one of the next are written as one, as in Arabic."""
    return bool(one and other) and bidirectional(one[-1]) == bidirectional(other[0]) == "AL"


# ---- line breaks ----


def may_part(one: str, other: str) -> bool:
    """Whether a line may be broken between two tokens without a space: between East Asian ones, which have none."""
    return not is_punct(other) and "W" in (east_asian_width(one[-1]), east_asian_width(other[0]))


def clings(word: str, after: str) -> bool:
    """Whether a line must not be broken at the space between two tokens: next to the punctuation of tokenized data."""
    opens, closes = is_left_punct(word) and not is_quote(word), is_punct(after) and not is_left_punct(after)
    return opens or (closes and not is_quote(after))


def stay_together(words: Sequence[str], spaces: Sequence[str], labels: Iterable[tuple[int, int]]) -> list[bool]:
    """For every token, whether the next one is on the same line: if there is no space between them, if a label is
    written below both, or if one of them is punctuation.

    labels (Iterable[tuple[int, int]]): The first token below each label, and the token after the last one.
    """
    wanted = [False] * len(words)
    for start, end in labels:
        wanted[start : end - 1] = [True] * max(0, end - 1 - start)
    together = [False] * len(words)
    length = 0
    for number, (word, space) in enumerate(zip(words[:-1], spaces)):
        after = words[number + 1]
        length += len(word) + len(space)
        if is_break(word) or is_break(after):
            length = 0
        elif space == "" and not word.isspace() and not after.isspace():
            together[number] = length < 2 * LONGEST and not may_part(word, after)
        else:
            wish = wanted[number] or (not word.isspace() and clings(word, after))
            together[number] = wish and length + len(after) <= LONGEST
        if not together[number]:
            length = 0
    return together


def covered(words: Sequence[str], spaces: Sequence[str], start: int, end: int, width: float) -> tuple[int, int]:
    """The token after the last one above a label, and by how many characters the label is longer than all of them.

    start, end (int): The tokens of its mention that are on one line of the text.
    width (float): Of the label, in characters.
    """
    total = 0
    for number in range(start, end):
        total += text_width(words[number])
        if total >= width:
            return number + 1, 0
        total += len(spaces[number]) if number + 1 < end else 0
    return end, ceil(width - total)


def text_width(text: str) -> int:
    """About how wide a text is, in Latin letters."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)
