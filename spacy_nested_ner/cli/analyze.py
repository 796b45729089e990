"""`spacy nested-ner analyze`"""

from pathlib import Path
from typing import Annotated

from spacy.cli._util import Opt

from ..corpus import Settings
from ..display.statistics_text import describe_statistics
from ..evaluation.statistics import Statistics, collect_statistics, merge, overlap
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

_Output = Annotated[Path | None, Opt("--output", "-o", help="Folder for plots and for all numbers as JSON")]


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

    Several files or folders, such as train, dev and test, are shown side by side, with the share of the mentions of
    one that are seen in the others.
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
        print(describe_statistics(parts, whole))
        source.print_losses()
        if output is not None:
            print("\n" + "\n".join(_save(parts, whole, output)))


def _save(parts: list[Statistics], whole: Statistics, folder: Path) -> list[str]:
    """Write the files.

    RETURNS (list[str]): Lines that name them.
    """
    path = folder / "statistics.json"
    numbers = {"parts": {part.name: part.as_dict() for part in parts}, "all": whole.as_dict(), "seen": overlap(parts)}
    write_json(path, numbers)
    try:
        from ..display.statistics_plots import save_plots
    except ImportError:
        return [f"Saved {path}", "No plots: they need matplotlib; install spacy-nested-ner[plots]"]
    return [f"Saved {saved}" for saved in [path, *save_plots(parts, whole, folder)]]
