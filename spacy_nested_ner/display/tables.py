"""Tables for the terminal."""

from collections.abc import Sequence

from wasabi import table

# Characters that a column may have before it is out of line.
MAX_WIDTH = 100
# What stands for zero in tables of counts, so that the other numbers are seen.
NOTHING = "-"


def render_table(rows: Sequence[Sequence[str]], header: Sequence[str]) -> str:
    """Names left, numbers right."""
    aligns = ["l", *"r" * (len(header) - 1)]
    return table(rows, header=header, aligns=aligns, divider=True, max_col=MAX_WIDTH).strip("\n")


def count(number: int) -> str:
    return f"{number:,}" if number else NOTHING


def percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f}"
