"""The drawing as HTML: gold above the text, what was found below it.

A word inside a mention is a column. A mention is a bar across its columns, further from the text than the mentions
around it, so that lines may break anywhere and mentions may cross. Nothing is nested in the HTML, so mentions may be
nested as deep as they are. Text outside of mentions is plain text. Labels are drawn by the style sheet, from
attributes, so that the text of the element is the text of the Doc.
"""

import re
from collections.abc import Iterator, Mapping
from html import escape

from .bars import Bar, Row, make_bars, rows_of, spoken
from .drawing import Drawing, visible
from .layout import DEEP, LTR, WIDEST, direction, directions, has_right_to_left, is_break, joins, lines, stay_together

_AFTER_NEWLINE = re.compile("(?<=\n)|(?<=\r)(?!\n)")


def draw_html(drawing: Drawing, classes: Mapping[str, str], *, scores: bool = True, role: str = "img") -> str:
    """An element with the text and its mentions. It needs the style sheet of drawing_style.py; it has no style and no
    script of its own.

    classes (Mapping[str, str]): The CSS class of every label, for its color.
    scores (bool): Whether to write probabilities.
    role (str): Of mentions, for screen readers: "img", or "button" if something happens when they are clicked.
    """
    lang = f' lang="{escape(drawing.lang)}"' if drawing.lang else ""
    return f'<div class="nested-mentions"{lang}>{"".join(_Drawer(drawing, classes, scores, role).lines())}</div>'


def draw_tag(text: str, name: str) -> str:
    """A label, or a word about one, as bars look: for legends and tables.

    name (str): A CSS class: of a label, "missed" or "spurious".
    """
    return f'<span class="nested-mentions-tag {name}">{escape(visible(text))}</span>'


class _Drawer:
    """Draws one text."""

    def __init__(self, drawing: Drawing, classes: Mapping[str, str], scores: bool, role: str):
        self.drawing, self.classes, self.role = drawing, classes, escape(role)
        self.words, self.spaces = words, spaces = drawing.words, drawing.spaces
        found, gold = (make_bars(drawing, gold=side, scores=scores) for side in (False, True))
        self.below, self.above = rows_of(found, len(words)), rows_of(gold, len(words))
        bars = [*found, *gold]
        self.together = stay_together(words, spaces, [(bar.head, bar.label_end) for bar in bars])
        self.right_to_left = has_right_to_left(words)
        self.base = LTR
        self.directions = directions(words) if self.right_to_left else [LTR] * len(words)
        self.joined = [
            self.right_to_left and not space and joins(*pair) for space, *pair in zip(spaces, words, words[1:])
        ]
        self.column = self._columns(bars)
        # How much wider than its words the text below a label is, so that the label has room.
        self.padding: dict[int, int] = {}
        for bar in bars:
            if bar.lack and not bar.widens:
                self.padding[bar.label_end - 1] = max(bar.lack, self.padding.get(bar.label_end - 1, 0))

    def _columns(self, bars: list[Bar]) -> list[bool]:
        """Which tokens are columns. So are those whose letters join one: as plain text, they would not."""
        column = [bool(self.below[i] or self.above[i]) and not is_break(word) for i, word in enumerate(self.words)]
        for bar in bars:
            column[bar.head] = True
        for i in (*range(len(self.joined)), *reversed(range(len(self.joined)))):
            if self.joined[i] and (column[i] or column[i + 1]):
                column[i] = column[i + 1] = True
        return column

    def lines(self) -> Iterator[str]:
        """The lines of the text."""
        begun = ""
        for start, end in lines(self.words):
            self.base = direction(self.words[start:end]) or self.base
            ended = end > start and is_break(self.words[end - 1]) and not self.column[end - 1]
            body = begun + "".join(self._groups(start, end - ended))
            begun = ""
            if ended:
                newline, *blank, begun = _AFTER_NEWLINE.split(self.words[end - 1])
                begun += self.spaces[end - 1]
                body += newline
            if body:
                yield f'<div dir="{self.base}">{body}</div>'
            if ended:
                yield from (f"<div>{newline}</div>" for newline in blank)
        if begun:
            yield f"<div>{begun}</div>"

    def _groups(self, start: int, end: int) -> Iterator[str]:
        """Tokens that stay on one line together."""
        while start < end:
            stop = start + 1
            while stop < end and self.together[stop - 1]:
                stop += 1
            body = "".join(f"{self._token(i)}{self._space(i)}" for i in range(start, stop - 1)) + self._token(stop - 1)
            several = stop > start + 1 and any((*self.column[start:stop], *self.spaces[start : stop - 1]))
            yield f'<span class="k">{body}</span>' if several else body
            yield self._space(stop - 1)
            start = stop

    def _space(self, i: int) -> str:
        """The space after a token, if it is in no column."""
        return "" if self._goes_on(i) else self.spaces[i]

    def _goes_on(self, i: int) -> bool:
        """Whether a bar goes on after a token."""
        return self.column[i] and any(bar is not None and bar.last > i for bar in (*self.below[i], *self.above[i]))

    # ---- columns ----

    def _token(self, i: int) -> str:
        word = escape(visible(self.words[i], keep="\t\n\r"))
        if not self.column[i]:
            return word
        space = self.spaces[i] if self._goes_on(i) else ""
        names = ["before"] * (i > 0 and self.joined[i - 1]) + ["after"] * (i < len(self.joined) and self.joined[i])
        if i in self.padding:
            names.append(f"p{min(self.padding[i], WIDEST)}")
        name = f' class="{" ".join(names)}"' if names else ""
        if space and self.directions[i] != self.directions[i + 1]:
            # The space is between the words, which is not at the end of this one.
            gap = self._column(i, f"<b>{space}</b>", self.base, after=True)
            return self._column(i, f"<b{name}>{word}</b>", self.directions[i]) + gap
        return self._column(i, f"<b{name}>{word}{space}</b>", self.directions[i], spaced=bool(space))

    def _column(self, i: int, word: str, direction: str, *, spaced: bool = False, after: bool = False) -> str:
        """A word with its part of the bars.

        spaced (bool): The word ends with a space, which is not part of bars that end here.
        after (bool): It is not the token, but the space after it.
        """
        above = self._cells(self.above[i], i, spaced=spaced, after=after, gold=True)
        below = self._cells(self.below[i], i, spaced=spaced, after=after, gold=False)
        column = f'<span class="w">{"".join(reversed(above))}{word}{"".join(below)}</span>'
        # Columns have no direction by themselves.
        return f'<span class="r" dir="{direction}">{column}</span>' if self.right_to_left else column

    def _cells(self, row: Row, i: int, *, spaced: bool, after: bool, gold: bool) -> list[str]:
        cells = []
        for lane, bar in enumerate(row):
            names = ["g"] * gold + ["t"] * (lane >= DEEP)
            attributes = ""
            if bar is not None and not (after and i == bar.last):
                names += ["m", self.classes[bar.mention.label], *filter(None, [bar.mention.status])]
                if i == bar.last and self._is_edge(bar):
                    names += ["cut" if bar.is_cut else "end", *["gap"] * spaced]
                if i == bar.head and not after:
                    names += ["start", *["over"] * (not bar.widens)]
                    attributes = self._attributes(bar)
                else:
                    attributes = f' data-mention="{bar.name}" title="{escape(bar.heading)}"'
            name = f' class="{" ".join(names)}"' if names else ""
            cells.append(f"<i{name}{attributes}></i>")
        return cells

    def _is_edge(self, bar: Bar) -> bool:
        """Whether a bar ends where its last word ends; not if that word reads in another direction than the rest."""
        return self.directions[bar.last] in (self.directions[bar.head], self.base)

    def _attributes(self, bar: Bar) -> str:
        """Of the cell with the label, which stands for the mention."""
        start, end, label, probability, _, status = bar.mention
        text = spoken(self.drawing, bar)
        attributes = {
            "role": self.role,
            "tabindex": "0",
            "aria-label": text,
            "title": text,
            "data-mention": bar.name,
            "data-start": str(start),
            "data-end": str(end),
            "data-label": visible(label),
            "data-probability": "" if probability is None else f"{probability:.6g}",
            "data-percent": bar.percent,
            "data-status": status or "",
        }
        return "".join(f' {name}="{escape(value)}"' for name, value in attributes.items() if value)
