"""Markdown."""

import re
from collections.abc import Sequence


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table: names on the left, numbers on the right."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


def fill(document: str, name: str, text: str) -> str:
    """Put a table between its markers, which the document must have."""
    start, end = f"<!-- {name} -->\n", "<!-- end -->"
    pattern = re.compile(f"{re.escape(start)}.*?{end}", re.DOTALL)
    filled, n = pattern.subn(lambda match: f"{start}{text}\n{end}", document)
    if n != 1:
        raise ValueError(f"{n} places for the table {name!r}; expected one, between {start.strip()!r} and {end!r}")
    return filled
