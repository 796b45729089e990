"""Sentences with their mentions as text for a terminal: brackets in the sentence, and a list by depth below it."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple
from unicodedata import category, east_asian_width

from spacy.tokens import Doc, Span, Token
from wasabi import color

from ..annotation import sentence_bounds
from ..decoders.brackets import bracket_words, separate_crossing
from ..decoders.mention import Mention
from ..export import mentions

# Of 256 colors, those of labels: legible on black and on white. If there are more labels, they share them.
COLORS = (33, 166, 34, 133, 160, 37, 136, 63, 168, 70, 130, 244)
MARGIN = "    "
# The width of the narrowest column that text is broken in, in characters.
NARROW = 16

_STYLE = re.compile("\x1b\\[[0-9;]*m")
# Characters that would move the cursor are drawn as pictures; those that turn the direction of the rest of the line
# are left out.
_VISIBLE: dict[int, str | None] = {
    **{code: chr(0x2400 + code) for code in range(32)},
    **dict.fromkeys(range(0x7F, 0xA0), "\ufffd"),
    **dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)]),
}

_Row = dict[str, Any]


class _Chunk(NamedTuple):
    """What stays on one line.

    space (bool): A space follows, unless the line is broken after it.
    """

    text: str
    space: bool


class SentenceText:
    """Draws sentences. A label has the same color in all of them.

    width (int): Of the terminal, in characters. Lines are broken between words only: a longer word is a line.
    colored (bool): Whether to use colors.
    """

    def __init__(self, *, width: int, colored: bool):
        self.width = width
        self.colored = colored
        self._colors: dict[str, int] = {}

    def draw(self, doc: Doc, spans_key: str = "sc") -> Iterator[str]:
        """Every sentence of a Doc.

        doc (Doc): With mentions in `doc.spans[spans_key]`. Mentions that cross an earlier one or a sentence boundary
            are only in the list.
        YIELDS (str): The lines of a sentence.
        """
        segments = sentence_bounds(doc)
        starts = [start for start, _ in segments]
        rows: list[dict[int, _Row]] = [{} for _ in segments]
        for number, row in enumerate(mentions(doc, spans_key)):
            rows[bisect_right(starts, row["start"]) - 1][number] = row
        for (start, end), found in zip(segments, rows):
            yield "\n".join([*self._bracketed(doc[start:end], found.values()), *self._list(doc, found)])

    def _bracketed(self, sentence: Span, rows: Iterable[_Row]) -> list[str]:
        first, last = sentence.start, sentence.end
        found = [Mention(row["start"] - first, row["end"] - first, row["label"]) for row in rows if row["end"] <= last]
        words = bracket_words(
            _words(sentence),
            separate_crossing(found)[0],
            escape=_visible,
            paint=lambda bracket, mention: self._paint(bracket, mention.label),
        )
        return _wrap(_chunks(words, sentence), self.width)

    def _list(self, doc: Doc, rows: dict[int, _Row]) -> list[str]:
        """One mention per line: label, probability and text, indented by how many of the others it is inside."""
        labels = {number: _visible(row["label"]) for number, row in rows.items()}
        room = max(map(cell_width, labels.values()), default=0)
        scored = any(row["probability"] is not None for row in rows.values())
        level: dict[int | None, int] = {}
        lines: list[str] = []
        for number, row in rows.items():
            level[number] = level.get(row["parent"], -1) + 1
            padding = " " * (room - cell_width(labels[number]))
            score = f"  {probability_text(row['probability']):>4}" if scored else ""
            head = f"{MARGIN}{self._paint(labels[number], row['label'])}{padding}{score}  {'  ' * level[number]}"
            span = doc[row["start"] : row["end"]]
            indent = cell_width(head)
            body = _wrap(_chunks(_words(span), span), max(NARROW, self.width - indent))
            lines += [(head if place == 0 else " " * indent) + line for place, line in enumerate(body or [""])]
        return lines

    def _paint(self, text: str, label: str) -> str:
        if not self.colored:
            return text
        number = self._colors.setdefault(label, len(self._colors))
        return color(text, fg=COLORS[number % len(COLORS)], bold=True)


def probability_text(probability: float | None) -> str:
    """In percent; only what is certain is 100%."""
    if probability is None:
        return ""
    if 0.995 <= probability < 1:
        return ">99%"
    return "<1%" if 0 < probability < 0.005 else f"{probability:.0%}"


def cell_width(text: str) -> int:
    """How many characters wide a terminal draws a text: two for East Asian ones and emoji, none for marks that are
    drawn on the character before."""
    width = 0
    joined = False  # to the emoji before
    for character in _STYLE.sub("", text):
        if not (joined or category(character) in ("Mn", "Me", "Cf") or "\U0001f3fb" <= character <= "\U0001f3ff"):
            width += 2 if east_asian_width(character) in "WF" else 1
        joined = character == "\u200d"
    return width


def _visible(text: str) -> str:
    return text.translate(_VISIBLE)


def _words(span: Span) -> list[str]:
    """Tokens of whitespace are drawn as the space between the words around them."""
    return ["" if token.is_space else _visible(token.text) for token in span]


def _chunks(words: Sequence[str], span: Span) -> list[_Chunk]:
    """Words, joined where a line must not be broken.

    words (Sequence[str]): As many as there are tokens.
    """
    chunks: list[_Chunk] = []
    text = ""
    for word, token, after in zip_longest(words, span, span[1:]):
        text += word
        space = after is not None and bool(token.whitespace_ or token.is_space or after.is_space)
        if space and text and _stay_together(token, after):
            text += " "
        # A bracket that opens before a token of whitespace ends with a space, too.
        if text and not text.endswith(" ") and (after is None or space or _may_part(token, after)):
            chunks.append(_Chunk(text, space))
            text = ""
    return chunks


def _stay_together(token: Token, after: Token) -> bool:
    """Whether a line must not be broken at a space: next to the punctuation of tokenized data."""
    opens, closes = token.is_left_punct and not token.is_quote, after.is_punct and not after.is_left_punct
    return opens or (closes and not after.is_quote)


def _may_part(token: Token, after: Token) -> bool:
    """Whether a line may be broken between two tokens without a space: between East Asian ones, which have none."""
    return not after.is_punct and "W" in (east_asian_width(token.text[-1]), east_asian_width(after.text[0]))


def _wrap(chunks: Sequence[_Chunk], width: int) -> list[str]:
    """Lines of at most this width, if no chunk is longer."""
    lines: list[str] = []
    line, space = "", ""
    for chunk in chunks:
        if line and cell_width(line + space + chunk.text) > width:
            lines.append(line)
            line, space = "", ""
        line += space + chunk.text
        space = " " if chunk.space else ""
    return [*lines, line] if line else lines
