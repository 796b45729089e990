"""`spacy nested-ner compare`"""

from pathlib import Path
from typing import Annotated

from spacy.cli._util import Arg, Opt

from .._whole import write_whole
from ..display.scores_text import COMPARED, comparison_rows
from ..display.tables import markdown_table, render_table
from ..evaluation.comparison import read_scores
from .options import SpansKey, errors_shown, short_names

_Scores = Annotated[list[Path], Arg(metavar="SCORES", help="Files that `spacy evaluate -o` has written")]
_Output = Annotated[Path | None, Opt("--output", "-o", help="File for the same table in Markdown")]


def compare_cli(scores: _Scores, output: _Output = None, spans_key: SpansKey = "sc") -> None:
    """Show the scores of several evaluations in one table, one row each."""
    with errors_shown():
        names = short_names(scores)
        rows = comparison_rows(
            {name: read_scores(path, COMPARED.values(), spans_key=spans_key) for name, path in zip(names, scores)}
        )
        header = ["", *COMPARED]
        print(render_table(rows, header))
        if output is not None:
            write_whole(output, markdown_table(rows, header))
