"""Tables as text, and the numbers in them."""

from collections.abc import Sequence
from typing import Any

from wasabi import table

# The maximum width of a column, in characters.
MAX_WIDTH = 100
# Written for zero in tables of counts, so that the other numbers stand out.
NOTHING = "-"
# Written where there is no score.
UNDEFINED = "–"

Cells = Sequence[Sequence[str]]


def render_table(rows: Cells, header: Sequence[str]) -> str:
    """A table for the terminal: names on the left, numbers aligned on the right."""
    aligns = ["l", *"r" * (len(header) - 1)]
    return table(rows, header=header, aligns=aligns, divider=True, max_col=MAX_WIDTH).strip("\n")


def markdown_table(rows: Cells, header: Sequence[str]) -> str:
    """A table for a page in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def count(number: int) -> str:
    """A number with separators for thousands."""
    return f"{number:,}" if number else NOTHING


def percent(share: float, digits: int = 1) -> str:
    """A share in percent, without the sign."""
    return f"{100 * share:.{digits}f}"


def score_cells(row: dict[str, Any]) -> list[str]:
    """Precision, recall and F in percent. Without gold mentions there is no recall, and without mentions found there is
    no precision; spaCy counts them as 0."""
    p = percent(row["p"]) if row["predicted"] else UNDEFINED
    r = percent(row["r"]) if row["gold"] else UNDEFINED
    return [p, r, percent(row["f"]) if row["gold"] else UNDEFINED]
