"""Tokens of a running text, found in a time that grows with its length only.

spaCy's tokenizer splits off the punctuation at the edges of a piece of text one character at a time, and looks at the
whole piece each time: 20,000 opening parentheses take half a minute. Here such a run is shortened before, and its
tokens are repeated after.
"""

import re
from collections import deque
from itertools import islice, takewhile
from typing import NamedTuple

from spacy.language import Language
from spacy.tokens import Doc

# The first character of a token, and the one after its last.
Edges = tuple[int, int]

# How often a unit must be repeated to be shortened, and how often it is repeated then.
REPEATED = 64
KEPT = 32

_LONG_PIECE = re.compile(r"\S{500,}")
_RUN = re.compile(rf"(\S{{1,4}}?)\1{{{REPEATED - 1},}}")


class _Cut(NamedTuple):
    """A place in the short text where something is missing.

    at (int): The place in the short text.
    unit (int): The length of what is repeated.
    removed (int): How many characters are missing: some units.
    """

    at: int
    unit: int
    removed: int


def tokenize(nlp: Language, text: str) -> list[Edges]:
    """The tokens of a text by characters, including those of whitespace."""
    short, cuts = _shorten(text)
    # Not nlp.make_doc, which refuses texts that are too long for a parser.
    edges = [(token.idx, token.idx + len(token)) for token in nlp.tokenizer(short)]
    return _lengthen(edges, cuts) if cuts else edges


def make_doc(nlp: Language, text: str) -> Doc:
    """The same as `nlp.make_doc`."""
    if not _shorten(text)[1]:
        return nlp.make_doc(text)
    words, spaces = words_and_spaces(text, tokenize(nlp, text))
    return Doc(nlp.vocab, words=words, spaces=spaces)


def words_and_spaces(text: str, edges: list[Edges]) -> tuple[list[str], list[bool]]:
    """The words of a text, and whether a space that is not a token follows each one."""
    starts = {start for start, _ in edges}
    return [text[start:end] for start, end in edges], [
        text[end : end + 1] == " " and end not in starts for _, end in edges
    ]


def _shorten(text: str) -> tuple[str, list[_Cut]]:
    """A text with shorter runs, and where they were cut."""
    parts: list[str] = []
    cuts: list[_Cut] = []
    reached = length = 0
    for piece in _LONG_PIECE.finditer(text):
        for run in _RUN.finditer(text, piece.start(), piece.end()):
            unit = len(run[1])
            at = run.start() + unit * (KEPT // 2)
            removed = unit * ((run.end() - run.start()) // unit - KEPT)
            parts.append(text[reached:at])
            length += at - reached
            cuts.append(_Cut(length, unit, removed))
            reached = at + removed
    return "".join([*parts, text[reached:]]), cuts


def _lengthen(edges: list[Edges], cuts: list[_Cut]) -> list[Edges]:
    """Tokens with those of the missing characters."""
    result: list[Edges] = []
    shift = 0
    cuts_left = deque(cuts)
    for i, (start, end) in enumerate(edges):
        if cuts_left and cuts_left[0].at <= start:
            cut = cuts_left.popleft()
            result += _missing(edges, i, cut, shift)
            shift += cut.removed
        first = start + shift
        while cuts_left and cuts_left[0].at < end:  # inside this token
            shift += cuts_left.popleft().removed
        result.append((first, end + shift))
    return result


def _missing(edges: list[Edges], i: int, cut: _Cut, shift: int) -> list[Edges]:
    """The tokens at a cut before token i: like the tokens of the unit after it, or else one token."""
    inside = list(takewhile(lambda token: token[1] <= cut.at + cut.unit, islice(edges, i, i + cut.unit)))
    if sum(end - start for start, end in inside) != cut.unit:
        return [(cut.at + shift, cut.at + shift + cut.removed)]
    offsets = range(shift, shift + cut.removed, cut.unit)
    return [(start + offset, end + offset) for offset in offsets for start, end in inside]
