"""`spacy nested-ner compare`"""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from spacy.cli._util import Arg, Opt

from ..display.tables import render_table
from .options import SpansKey, errors_shown, short_names

_Scores = Annotated[list[Path], Arg(metavar="SCORES", help="Files that `spacy evaluate -o` has written")]
_Output = Annotated[Path | None, Opt("--output", "-o", help="File for the same table in Markdown")]

_COLUMNS = {"P": "_p", "R": "_r", "F": "_f", "first level F": "_first_level_f", "nested F": "_nested_f"}


def compare_cli(scores: _Scores, output: _Output = None, spans_key: SpansKey = "sc") -> None:
    """Show the scores of several evaluations in one table, a row each."""
    with errors_shown():
        rows = [[name, *_row(path, f"spans_{spans_key}")] for path, name in zip(scores, short_names(scores))]
        typer.echo(render_table(rows, ["", *_COLUMNS]))
        if output is not None:
            lines = [["", *_COLUMNS], ["---"] * (len(_COLUMNS) + 1), *rows]
            output.parent.mkdir(parents=True, exist_ok=True)
            output.write_text("".join(f"| {' | '.join(line)} |\n" for line in lines), encoding="utf-8")


def _row(path: Path, attr: str) -> list[str]:
    try:
        scores: Any = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is not a file of scores: {error}; expected what `spacy evaluate -o` writes") from None
    if not isinstance(scores, dict):
        raise ValueError(f"{path} is not a file of scores; expected what `spacy evaluate -o` writes")
    if f"{attr}_f" not in scores:
        raise ValueError(f"{path} has no {attr}_f; was it evaluated on mentions under another key? See --spans-key")
    values = (scores.get(attr + ending) for ending in _COLUMNS.values())
    return ["" if value is None else f"{100 * value:.2f}" for value in values]
