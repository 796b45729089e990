"""The drawing as text for a terminal: brackets in the text, and a list by depth below it."""

import os
import re
import shutil
import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple
from unicodedata import category, east_asian_width

from wasabi import color
from wasabi.util import supports_ansi

from ..annotation import Segment
from ..decoders.brackets import bracket_words, separate_crossing
from ..decoders.mention import Mention
from .colors import terminal_colors
from .drawing import MISSED, Drawing, DrawnMention, probability_text, visible
from .layout import clings, may_part

MARGIN = "    "
# The width of the narrowest column that text is broken in, in characters.
NARROW = 16
# Levels that are indented even if there is little room.
SHALLOW = 8
# Lines of a mention in the list; the whole text is above it.
LONGEST = 3

_STYLE = re.compile("\x1b\\[[0-9;]*m")
_NEWLINE = re.compile("\r\n|\r|\n")


class _Chunk(NamedTuple):
    """What stays on one line.

    space (str): What is written after it, unless the line is broken there.
    """

    text: str
    space: str


class TextDrawer:
    """Draws the sentences of texts.

    width (int | None): Of the terminal, in characters; None for the width it has. Lines are broken between words only:
        a longer word is a line.
    colored (bool | None): Whether to use colors; None to use them on terminals, unless NO_COLOR is set.
    colors (Mapping[str, str] | None): Colors of some labels, in hexadecimal.
    labels (Iterable[str]): Labels of other drawings, which have colors of their own.
    scores (bool): Whether to write probabilities.
    """

    def __init__(
        self,
        *,
        width: int | None = None,
        colored: bool | None = None,
        colors: Mapping[str, str] | None = None,
        labels: Iterable[str] = (),
        scores: bool = True,
    ):
        self.width = shutil.get_terminal_size().columns if width is None else width
        self.colored = _is_colored() if colored is None else colored
        self.scores = scores
        self._own_colors = colors
        self._labels = set(labels)
        self._colors: dict[str, int] = {}

    def draw(self, drawing: Drawing) -> Iterator[str]:
        """Every sentence of a drawing. Mentions that cross an earlier one or a sentence boundary, and gold mentions
        that were missed, are only in the list.

        YIELDS (str): The lines of a sentence.
        """
        self._labels.update(mention.label for mention in (*drawing.mentions, *(drawing.gold or ())))
        self._colors = terminal_colors(self._labels, self._own_colors)
        starts = [start for start, _ in drawing.sentences]
        rows = _rows(drawing.mentions, starts)
        rows += [row for row in _rows(drawing.gold or (), starts) if row.mention.status == MISSED]
        by_sentence: list[list[_Row]] = [[] for _ in drawing.sentences]
        for row in sorted(rows, key=_in_reading_order):
            by_sentence[row.sentence].append(row)
        for segment, found in zip(drawing.sentences, by_sentence):
            yield "\n".join([*self._bracketed(drawing, segment, found), *self._list(drawing, found)])

    def _bracketed(self, drawing: Drawing, segment: Segment, rows: Sequence["_Row"]) -> list[str]:
        first, last = segment
        found = [row.mention for row in rows if row.mention.end <= last and row.mention.status != MISSED]
        words = bracket_words(
            _words(drawing, first, last),
            separate_crossing(Mention(m.start - first, m.end - first, m.label) for m in found)[0],
            escape=visible,
            paint=lambda bracket, mention: self._paint(bracket, mention.label),
        )
        return _wrap(_chunks(drawing, words, first), self.width)

    def _list(self, drawing: Drawing, rows: Sequence["_Row"]) -> list[str]:
        """One mention per line: label, probability, status and text, indented by how many of the others it is
        inside."""
        room = max((cell_width(visible(row.mention.label)) for row in rows), default=0)
        scored = self.scores and any(row.mention.probability is not None for row in rows)
        lines: list[str] = []
        for mention, level, _ in rows:
            label = visible(mention.label)
            head = MARGIN + self._paint(label, mention.label) + " " * (room - cell_width(label))
            head += f"  {probability_text(mention.probability):>4}" if scored else ""
            head += f"  {mention.status:<8}" if mention.status else ""
            head += "  " + self._indent(level, cell_width(head) + 2)
            indent = cell_width(head)
            room_for_text = max(NARROW, self.width - indent)
            words = _words(drawing, mention.start, min(mention.end, mention.start + LONGEST * room_for_text))
            body = _wrap(_chunks(drawing, words, mention.start, joined=True), room_for_text)
            if len(body) > LONGEST:
                body = [*body[: LONGEST - 1], f"{body[LONGEST - 1]} …"]
            lines += [(head if place == 0 else " " * indent) + line for place, line in enumerate(body or [""])]
        return lines

    def _indent(self, level: int, used: int) -> str:
        """By two spaces per level, while there is room; beyond that, the depth is written."""
        most = max(SHALLOW, (self.width - used - NARROW) // 2)
        return "  " * level if level <= most else "  " * (most - 3) + f"({level + 1}) "

    def _paint(self, text: str, label: str) -> str:
        return color(text, fg=self._colors[label], bold=True) if self.colored else text


class _Row(NamedTuple):
    """A line of the list.

    level (int): How many of the mentions around it are in the same list.
    """

    mention: DrawnMention
    level: int
    sentence: int


def _rows(mentions: Sequence[DrawnMention], starts: Sequence[int]) -> list[_Row]:
    """Mentions with the numbers of the sentences where they begin.

    starts (Sequence[int]): The first tokens of sentences.
    """
    rows: list[_Row] = []
    for mention in mentions:
        sentence = bisect_right(starts, mention.start) - 1
        parent = None if mention.parent is None else rows[mention.parent]
        level = parent.level + 1 if parent is not None and parent.sentence == sentence else 0
        rows.append(_Row(mention, level, sentence))
    return rows


def _in_reading_order(row: _Row) -> tuple[int, int, str]:
    return row.mention.start, -row.mention.end, row.mention.label


def _is_colored() -> bool:
    """https://no-color.org"""
    return sys.stdout.isatty() and not os.getenv("NO_COLOR") and os.getenv("TERM") != "dumb" and supports_ansi()


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


# ---- lines ----


def _words(drawing: Drawing, start: int, end: int) -> list[str]:
    """Tokens of whitespace are drawn as the space between the words around them."""
    return ["" if word.isspace() else visible(word) for word in drawing.words[start:end]]


def _chunks(drawing: Drawing, drawn: Sequence[str], start: int, *, joined: bool = False) -> list[_Chunk]:
    """Words, joined where a line must not be broken.

    drawn (Sequence[str]): The words from the token `start` on, as they are drawn.
    joined (bool): As one paragraph; otherwise, spaces and newlines are as they are written.
    """
    chunks: list[_Chunk] = []
    text = ""
    words, last = drawing.words, start + len(drawn) - 1
    for i, word in enumerate(drawn, start):
        text += word
        after = words[i + 1] if i < last else None
        space = after is not None and bool(drawing.spaces[i] or words[i].isspace() or after.isspace())
        if space and text and after is not None and clings(words[i], after):
            text += " "
        # A bracket that opens before a token of whitespace ends with a space, too.
        if text and not text.endswith(" ") and (after is None or space or may_part(words[i], after)):
            written = _space_after(drawing, i, last) if space else ""
            chunks.append(_Chunk(text, " " if space and (joined or not written) else written))
            text = ""
    if text:  # punctuation that opens before whitespace, at the end
        chunks.append(_Chunk(text.rstrip(" "), ""))
    return chunks


def _space_after(drawing: Drawing, i: int, last: int) -> str:
    """All spaces and newlines after a token."""
    space = drawing.spaces[i]
    while i < last and drawing.words[i + 1].isspace():
        i += 1
        space += drawing.words[i] + drawing.spaces[i]
    return space


def _wrap(chunks: Sequence[_Chunk], width: int) -> list[str]:
    """Lines of at most this width, if no chunk is longer, and those that are written."""
    lines: list[str] = []
    line, space = "", ""
    for chunk in chunks:
        *ended, space = _NEWLINE.split(space)
        if ended:
            lines += [line, *[""] * (len(ended) - 1)]
            line = ""
        elif line and cell_width(line + space + chunk.text) > width:
            lines.append(line)
            line, space = "", ""
        line += visible(space, keep="\t").expandtabs(4) + chunk.text
        space = chunk.space
    return [*lines, line] if line else lines
