"""Views as drawings. Long texts are drawn in parts, so that only what has changed is drawn again."""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from threading import Lock
from typing import NamedTuple

from ...annotation import Segment
from ...decoders import Mention
from ..colors import color_classes
from ..drawing import Drawing, DrawnMention
from ..drawing_html import draw_html
from .view import View, cut, joined

# Tokens of a text that is drawn as one, and of a part of a longer one.
WHOLE, PART = 300, 100
# How many drawings are kept.
KEPT = 2000


class Part(NamedTuple):
    """A part of a text, drawn.

    start, end (int): Its tokens.
    drawing (str): HTML, with tokens counted from the first one of the part.
    """

    start: int
    end: int
    drawing: str


class Artist:
    """Draws views with the one drawing of the project. It may be used from several threads.

    labels (Sequence[str]): Those of the component. They have the same colors in all drawings.
    """

    def __init__(self, labels: Sequence[str]):
        self.colors = color_classes(labels)
        self._kept: OrderedDict[object, str] = OrderedDict()
        self._lock = Lock()

    def whole(self, view: View) -> list[Part]:
        """The text of a view with its mentions and its gold. Something happens if mentions are clicked."""
        drawing = Drawing.of_doc(view.doc, view.spans_key, gold=view.scored.gold)
        if drawing.gold is not None:
            gold = [row._replace(probability=view.probability(Mention(*row[:3]))) for row in drawing.gold]
            drawing = replace(drawing, gold=gold)
        n = len(drawing.words)
        bounds: list[Segment] = [(0, n)]
        if n > WHOLE:
            spans = [*drawing.mentions, *(drawing.gold or ())]
            bounds = joined(cut(view.scored.doc, bounds, PART), [(span.start, span.end) for span in spans])
        return [Part(start, end, self._draw(_sliced(drawing, start, end), "button")) for start, end in bounds]

    def part(self, view: View, start: int, end: int, mentions: Iterable[Mention] | None = None) -> str:
        """A stretch of a view with the mentions that were found, or with others."""
        drawing = Drawing.of_doc(view.part(start, end, mentions), view.spans_key)
        return self._draw(drawing, "img")

    def _draw(self, drawing: Drawing, role: str) -> str:
        mentions, gold = tuple(drawing.mentions), drawing.gold and tuple(drawing.gold)
        key = (tuple(drawing.words), tuple(drawing.spaces), mentions, gold, role)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        others = {mention.label for mention in drawing.gold or ()} - self.colors.keys()
        html = draw_html(drawing, self.colors | color_classes(others) if others else self.colors, role=role)
        with self._lock:
            self._kept[key] = html
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return html


def _sliced(drawing: Drawing, start: int, end: int) -> Drawing:
    """Some tokens of a drawing, with the mentions among them."""
    if (start, end) == (0, len(drawing.words)):
        return drawing
    return replace(
        drawing,
        words=drawing.words[start:end],
        spaces=drawing.spaces[start:end],
        mentions=_shifted(drawing.mentions, start, end),
        sentences=[(0, end - start)],
        gold=None if drawing.gold is None else _shifted(drawing.gold, start, end),
    )


def _shifted(mentions: Sequence[DrawnMention], start: int, end: int) -> list[DrawnMention]:
    numbers = [number for number, mention in enumerate(mentions) if start <= mention.start and mention.end <= end]
    new = {number: place for place, number in enumerate(numbers)}
    return [
        row._replace(
            start=row.start - start,
            end=row.end - start,
            parent=None if row.parent is None else new.get(row.parent),
        )
        for row in (mentions[number] for number in numbers)
    ]
