"""`spacy nested-ner analyze`"""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from textwrap import shorten
from typing import Annotated, Any

from spacy.cli._util import Opt

from ..corpus import Settings
from ..display.tables import NOTHING, count, percent, render_table
from ..evaluation.statistics import (
    CHILD_LENGTHS,
    MENTION_LENGTHS,
    SENTENCE_LENGTHS,
    Statistics,
    collect_statistics,
    in_ranges,
    merge,
    overlap,
)
from .options import (
    Data,
    From,
    Lang,
    LineSentences,
    Misaligned,
    SkipBad,
    Source,
    SpansKey,
    errors_shown,
    short_names,
    write_json,
)

# Labels in the printed matrix, and pairs of labels in a list. The JSON file has them all.
MAX_LABELS = 12
MAX_PAIRS = 10
# Characters of the longest mention.
MAX_TEXT = 200

_Output = Annotated[Path | None, Opt("--output", "-o", help="Folder for plots and for all the numbers as JSON")]


def analyze_cli(
    data: Data,
    output: _Output = None,
    source_format: From = None,
    spans_key: SpansKey = "sc",
    lang: Lang = "en",
    misaligned: Misaligned = "error",
    line_sentences: LineSentences = True,
    skip_bad: SkipBad = False,
) -> None:
    """Show what mentions a corpus has: labels, lengths, depth, which label is in which.

    Several files or folders, such as train, dev and test, are shown side by side, and how many of
    the mentions of one are seen in the others.
    """
    with errors_shown():
        settings = Settings(spans_key=spans_key, lang=lang, misaligned=misaligned, line_sentences=line_sentences)
        source = Source(data, source_format, settings, skip_bad=skip_bad)
        parts = [
            collect_statistics(source.read(path), name, spans_key=spans_key)
            for path, name in zip(data, short_names(data))
        ]
        source.check_mentions_found()
        whole = merge(parts)
        print("\n\n".join(_text(parts, whole)))
        if source.report.losses():
            print("\n" + "\n".join(source.report.losses()))
        if output is not None:
            print("\n" + "\n".join(_save(parts, whole, output)))


def _text(parts: list[Statistics], whole: Statistics) -> list[str]:
    columns = [*parts, whole] if len(parts) > 1 else parts
    sections = [
        _overview(columns),
        _counts("Labels", columns, lambda a: dict(a.labels.most_common())),
        _counts("Words in a mention", columns, lambda a: in_ranges(a.lengths, MENTION_LENGTHS)),
        _counts("Words in a sentence", columns, lambda a: in_ranges(a.sentence_lengths, SENTENCE_LENGTHS)),
        _counts("Depth of nesting", columns, lambda a: dict(sorted(a.depths.items()))),
        _counts("Words in the second longest child", columns, lambda a: in_ranges(a.second_children, CHILD_LENGTHS)),
        _matrix(whole),
        _pairs("Labels on one span", columns, lambda a: a.same_span),
        _pairs("Labels of mentions that cross", columns, lambda a: a.crossing),
        _seen(parts),
        f"Longest mention: {whole.longest.where}\n  {whole.longest.label} {shorten(whole.longest.text, MAX_TEXT)!r}",
    ]
    return [section for section in sections if section]


def _overview(columns: list[Statistics]) -> str:
    numbers: dict[str, Callable[[Statistics], Any]] = {
        "Documents": lambda a: a.documents,
        "Sentences": lambda a: a.sentences,
        "Words": lambda a: a.words,
        "Mentions": lambda a: a.mentions,
        "  nested": lambda a: a.nested,
        "  nested, %": lambda a: percent(a.nested / a.mentions if a.mentions else 0.0),
        "  pairs on one span": lambda a: a.same_span.total(),
        "  pairs that cross": lambda a: a.crossing.total(),
        "  across sentences": lambda a: a.across,
        "Depth": lambda a: max(a.depths, default=0),
        "Longest mention": lambda a: a.longest.words,
        "Longest sentence": lambda a: max(a.sentence_lengths, default=0),
    }
    return _table("", columns, {name: [number(a) for a in columns] for name, number in numbers.items()})


def _counts(title: str, columns: list[Statistics], pick: Callable[[Statistics], dict[Any, int]]) -> str:
    """A row for whatever the last column counts, in its order."""
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
    """Which share of the mentions of one part is seen in another."""
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
    """Rows of numbers, a column for every part; nothing if there are no rows."""
    if not rows:
        return ""
    cells = [(name, *(n if isinstance(n, str) else count(n) for n in row)) for name, row in rows.items()]
    return render_table(cells, [title, *(part.name for part in columns)])


def _save(parts: list[Statistics], whole: Statistics, folder: Path) -> list[str]:
    """Write the files, and say which."""
    path = folder / "statistics.json"
    numbers = {"parts": {part.name: part.as_dict() for part in parts}, "all": whole.as_dict(), "seen": overlap(parts)}
    write_json(path, numbers)
    try:
        from ..display.statistics_plots import save_plots
    except ImportError:
        return [f"Saved {path}", "No plots: they need matplotlib; install spacy-nested-ner[plots]"]
    return [f"Saved {saved}" for saved in [path, *save_plots(parts, whole, folder)]]
