"""Mentions as bars below or above a text: where each one is, and what is said about it."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from .drawing import Drawing, DrawnMention, probability_text, visible
from .layout import FULL, covered, is_break, lanes, text_width

# Of a text that is read aloud, in characters.
SPOKEN = 120


class Bar(NamedTuple):
    """A mention in its lane.

    name (str): Different for all bars of a drawing: "p" for the prediction or "g" for gold, and the number of the
        mention.
    head, last (int): The tokens where it is drawn first and last.
    label_end (int): The token after the last one above its label.
    lack (int): By how many characters its label is longer than its text.
    percent (str): Its probability, if it is shown.
    """

    mention: DrawnMention
    name: str
    lane: int
    head: int
    last: int
    label_end: int
    lack: int
    percent: str

    def in_lane(self, lane: int) -> "Bar":
        """The same in a lane, where it may be cut off after its label."""
        return self._replace(lane=lane, last=self.last if lane < FULL else self.label_end - 1)

    @property
    def is_cut(self) -> bool:
        """Whether it is shorter than its mention."""
        return self.lane >= FULL and self.last + 1 < self.mention.end

    @property
    def widens(self) -> bool:
        """Whether a single word is as wide as its label."""
        return self.lack > 0 and self.label_end == self.head + 1

    @property
    def heading(self) -> str:
        """Label, probability and status."""
        status = f", {self.mention.status}" if self.mention.status else ""
        return f"{visible(self.mention.label)} {self.percent}".rstrip() + status


# The bars at one token, by their lanes.
Row = list[Bar | None]


def make_bars(drawing: Drawing, *, gold: bool, scores: bool) -> list[Bar]:
    """The mentions that were found, or the gold."""
    words = drawing.words
    breaks = [i for i, word in enumerate(words) if is_break(word)]
    bars = []
    for number, mention in enumerate(_side(drawing, gold)):
        if mention.start >= mention.end:
            continue
        # Nothing is drawn where a line of the text ends, unless there is nothing else.
        head, last = mention.start, mention.end - 1
        while head < last and is_break(words[head]):
            head += 1
        while last > head and is_break(words[last]):
            last -= 1
        following = bisect_right(breaks, head)
        end_of_line = min([last + 1, *breaks[following : following + 1]])
        percent = probability_text(mention.probability) if scores else ""
        width = text_width(mention.label) + 0.8 * len(percent) + 2
        label = covered(words, drawing.spaces, head, end_of_line, width)
        bars.append(Bar(mention, f"{'g' if gold else 'p'}{number}", 0, head, last, *label, percent))
    found = lanes([(bar.head, bar.last + 1, bar.label_end) for bar in bars])
    return [bar.in_lane(lane) for bar, lane in zip(bars, found)]


def rows_of(bars: Sequence[Bar], n_tokens: int) -> list[Row]:
    """The bars at every token."""
    rows: list[Row] = [[] for _ in range(n_tokens)]
    for bar in bars:
        for row in rows[bar.head : bar.last + 1]:
            row.extend([None] * (bar.lane + 1 - len(row)))
            row[bar.lane] = bar
    return rows


def spoken(drawing: Drawing, bar: Bar) -> str:
    """What a screen reader says: label, probability, text and parent."""
    gold = bar.name.startswith("g")
    text = f"{'Gold ' if gold else ''}{bar.heading}: {_short(drawing, bar.mention)}"
    if bar.mention.parent is None:
        return text
    parent = _side(drawing, gold)[bar.mention.parent]
    return f"{text}; inside {visible(parent.label)}: {_short(drawing, parent)}"


def _side(drawing: Drawing, gold: bool) -> Sequence[DrawnMention]:
    return (drawing.gold or ()) if gold else drawing.mentions


def _short(drawing: Drawing, mention: DrawnMention) -> str:
    text = visible(" ".join(drawing.text(mention.start, min(mention.end, mention.start + SPOKEN)).split()))
    return text if len(text) <= SPOKEN and mention.end <= mention.start + SPOKEN else f"{text[:SPOKEN].rstrip()}…"
