"""`render`: the drawing of nested mentions, wherever it is to be seen."""

from collections.abc import Callable, Mapping
from functools import partial
from html import escape
from typing import Any

from spacy.tokens import Doc

from .colors import check_colors, color_classes
from .drawing import MISSED, RIGHT, SPURIOUS, Drawing, Gold
from .drawing_html import draw_html
from .drawing_style import PAGE, stylesheet
from .drawing_text import TextDrawer

STYLES = ("html", "text")


class Rendered(str):
    """A drawing. As a string, it is what was asked for: HTML, a page or text. Jupyter displays it as HTML, unless text
    was asked for, and a Python console as text."""

    _text: Callable[[], str]
    _html: str | None

    def __new__(cls, content: str, text: Callable[[], str], html: str | None) -> "Rendered":
        self = super().__new__(cls, content)
        self._text, self._html = text, html
        return self

    def __reduce__(self) -> tuple[Any, ...]:  # to copy and pickle it
        return Rendered, (str(self), self._text, self._html)

    def __repr__(self) -> str:
        return self._text()

    def _repr_html_(self) -> str | None:
        return self._html


def render(
    doc: Doc,
    style: str = "html",
    *,
    page: bool = False,
    colors: Mapping[str, str] | None = None,
    scores: bool = True,
    gold: Gold | None = None,
    spans_key: str = "sc",
) -> str:
    """Draw the mentions of a Doc: every mention is a bar below its words, and what is inside it is below that bar. The
    text is as it is written, and lines break where there is no more room.

    Call it at the end of a cell in Jupyter, or in a Python console, and you see the drawing. In a program, use what it
    returns: `print(render(doc, style="text"))`, or write `render(doc, page=True)` to a file.

    doc (Doc): Processed by a pipeline, or with gold mentions.
    style (str): "html", or "text" for a terminal, with colors if it has them and NO_COLOR is not set.
    page (bool): A whole page, which needs no other file and no network; otherwise an element of a page, with its style
        sheet. Only in HTML.
    colors (Mapping[str, str] | None): Colors of labels, in CSS; labels without one get a color that is still free. In a
        terminal, those in hexadecimal are used.
    scores (bool): Whether to write the probabilities.
    gold (Doc | Iterable[Span] | Iterable[Mention] | None): What should have been found: a Doc with the same text, spans
        or mentions. They are drawn above the words. What was missed and what is spurious is marked.
    spans_key (str): The mentions are in `doc.spans[spans_key]`, also those of a gold Doc.
    RETURNS (str): The drawing. It displays itself in Jupyter.
    """
    if style not in STYLES:
        raise ValueError(f"style is {style!r}; expected one of {', '.join(map(repr, STYLES))}")
    if page and style != "html":
        raise ValueError(f"page is {page!r} with style {style!r}; a page is HTML: leave out style or page")
    check_colors(colors)
    drawing = Drawing.of_doc(doc, spans_key, gold)
    text = partial(_text, drawing, colors, scores)
    if style == "text":
        return Rendered(text(), text, None)
    labels = {mention.label for mention in (*drawing.mentions, *(drawing.gold or ()))}
    element = draw_html(drawing, color_classes(labels, colors), scores=scores) + _caption(drawing)
    html = f"<style>\n{stylesheet(colors)}</style>\n{element}\n"
    return Rendered(_page(doc, element, colors) if page else html, text, html)


def _text(drawing: Drawing, colors: Mapping[str, str] | None, scores: bool) -> str:
    return "\n\n".join(TextDrawer(colors=colors, scores=scores).draw(drawing))


def _caption(drawing: Drawing) -> str:
    """What is above and below the text, and how many mentions are right."""
    if drawing.gold is None:
        return ""
    states = [mention.status for mention in drawing.mentions] + [m.status for m in drawing.gold if m.status == MISSED]
    right, missed, spurious = map(states.count, (RIGHT, MISSED, SPURIOUS))
    counts = f"{right:,} right, {missed:,} missed (dashed), {spurious:,} spurious (framed)"
    return f'<p class="nested-mentions-key">Gold above the text, prediction below: {counts}.</p>'


def _page(doc: Doc, element: str, colors: Mapping[str, str] | None) -> str:
    given = doc.user_data.get("title")  # as for displaCy
    title = escape(str(given or " ".join(doc.text.split())[:60] or "Nested mentions"))
    heading = f"<h1>{title}</h1>" if given else f'<h1 class="unseen">{title}</h1>'
    return "\n".join(
        [
            "<!DOCTYPE html>",
            f'<html lang="{escape(doc.lang_ or "en")}">',
            f'<head><meta charset="utf-8"><title>{title}</title>',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            # Nothing in a text can run or load anything.
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            f"<style>\n{stylesheet(colors)}{PAGE}</style></head>",
            f'<body class="nested-mentions-page"><main>{heading}{element}</main></body>',
            "</html>\n",
        ]
    )
