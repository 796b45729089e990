"""The statistics of corpora as text: one table per subject, one column per corpus."""

from collections import Counter
from collections.abc import Callable
from textwrap import shorten
from typing import Any

from ..evaluation.statistics import (
    CHILD_LENGTHS,
    MENTION_LENGTHS,
    SENTENCE_LENGTHS,
    Statistics,
    in_ranges,
    overlap,
)
from .tables import NOTHING, count, percent, render_table

# Labels in the matrix, and pairs of labels in a list. The JSON file has them all.
MAX_LABELS = 12
MAX_PAIRS = 10
# Characters of the longest mention.
MAX_TEXT = 200


def describe_statistics(parts: list[Statistics], whole: Statistics) -> str:
    """All tables that are not empty.

    parts (list[Statistics]): The corpora.
    whole (Statistics): All of them together.
    """
    columns = [*parts, whole] if len(parts) > 1 else parts
    sections = [
        _overview(columns),
        _counts("Labels", columns, lambda part: dict(part.labels.most_common())),
        _counts("Words in a mention", columns, lambda part: in_ranges(part.lengths, MENTION_LENGTHS)),
        _counts("Words in a sentence", columns, lambda part: in_ranges(part.sentence_lengths, SENTENCE_LENGTHS)),
        _counts("Depth of nesting", columns, lambda part: dict(sorted(part.depths.items()))),
        _counts(
            "Words in the second longest child", columns, lambda part: in_ranges(part.second_children, CHILD_LENGTHS)
        ),
        _matrix(whole),
        _pairs("Labels on one span", columns, lambda part: part.same_span),
        _pairs("Labels of mentions that cross", columns, lambda part: part.crossing),
        _seen(parts),
        f"Longest mention: {whole.longest.where}\n  {whole.longest.label} {shorten(whole.longest.text, MAX_TEXT)!r}",
    ]
    return "\n\n".join(section for section in sections if section)


def _overview(columns: list[Statistics]) -> str:
    numbers: dict[str, Callable[[Statistics], Any]] = {
        "Documents": lambda part: part.documents,
        "Sentences": lambda part: part.sentences,
        "Words": lambda part: part.words,
        "Mentions": lambda part: part.mentions,
        "  nested": lambda part: part.nested,
        "  nested, %": lambda part: percent(part.nested / part.mentions if part.mentions else 0.0),
        "  pairs on one span": lambda part: part.same_span.total(),
        "  pairs that cross": lambda part: part.crossing.total(),
        "  across sentences": lambda part: part.across,
        "Depth": lambda part: max(part.depths, default=0),
        "Longest mention": lambda part: part.longest.words,
        "Longest sentence": lambda part: max(part.sentence_lengths, default=0),
    }
    return _table("", columns, {name: [number(part) for part in columns] for name, number in numbers.items()})


def _counts(title: str, columns: list[Statistics], pick: Callable[[Statistics], dict[Any, int]]) -> str:
    """One row for each thing that the last column counts, in its order."""
    counts = [pick(part) for part in columns]
    rows = {key: [some.get(key, 0) for some in counts] for key in counts[-1]}
    return _table(title, columns, {key: row for key, row in rows.items() if any(row)})


def _pairs(title: str, columns: list[Statistics], pick: Callable[[Statistics], Counter[tuple[str, str]]]) -> str:
    """The most frequent pairs of labels."""
    rows = {
        " + ".join(pair): [pick(part)[pair] for part in columns] for pair, _ in pick(columns[-1]).most_common(MAX_PAIRS)
    }
    return _table(title, columns, rows)


def _matrix(whole: Statistics) -> str:
    """Which label is directly inside which."""
    outer, inner = ({pair[i] for pair in whole.inside} for i in (0, 1))
    rows = [label for label, _ in whole.labels.most_common() if label in outer][:MAX_LABELS]
    columns = [label for label, _ in whole.labels.most_common() if label in inner][:MAX_LABELS]
    if not rows:
        return ""
    numbers = [(row, *(count(whole.inside[row, column]) for column in columns)) for row in rows]
    return "Directly inside: outer labels left, inner labels above\n" + render_table(numbers, ["", *columns])


def _seen(parts: list[Statistics]) -> str:
    """The share of the mentions of one part that is seen in another."""
    if len(parts) < 2:
        return ""
    shares = overlap(parts)
    rows = []
    for part in parts:
        found = shares[part.name]
        rows.append((f"of {part.name}", *(percent(found[o.name]) if o.name in found else NOTHING for o in parts)))
    header = ["", *(f"in {part.name}" for part in parts)]
    return "Mentions seen with the same text and label, %\n" + render_table(rows, header)


def _table(title: str, columns: list[Statistics], rows: dict[Any, list[Any]]) -> str:
    """Rows of numbers, one column per part; nothing if there are no rows."""
    if not rows:
        return ""
    cells = [(str(name), *(n if isinstance(n, str) else count(n) for n in row)) for name, row in rows.items()]
    return render_table(cells, [title, *(part.name for part in columns)])
