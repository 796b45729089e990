"""Pieces that the page is made of."""

from collections.abc import Iterable, Sequence
from html import escape


def html_table(header: Sequence[str], body: Iterable[str], *, left: int = 1) -> str:
    """A table, which is scrolled sideways where it has no room.

    body (Iterable[str]): Rows, as HTML.
    left (int): How many names of columns are aligned on the left; the others are aligned on the right.
    """
    names = (
        f"<th{' class=left' if i < left else ''}>{escape(name)}</th>" if name else "<td></td>"
        for i, name in enumerate(header)
    )
    head = f"<thead><tr>{''.join(names)}</tr></thead>"
    return f'<div class="wide"><table>{head}<tbody>{"".join(body)}</tbody></table></div>'


def figure(svg: str, caption: str) -> str:
    """A plot with its caption, which is HTML."""
    return f"<figure>{svg}<figcaption>{caption}</figcaption></figure>"


def legend(keys: Iterable[tuple[str, str]]) -> str:
    """What the colors of a plot mean.

    keys (Iterable[tuple[str, str]]): Names and colors.
    """
    items = (f'<span><span class="key" style="background:{color}"></span>{escape(name)}</span>' for name, color in keys)
    return f'<span class="keys">{" &nbsp; ".join(items)}</span>'
