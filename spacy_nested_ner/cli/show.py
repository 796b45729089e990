"""`spacy nested-ner show`"""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from spacy.cli._util import Arg, Opt
from spacy.tokens import Doc

from ..annotation import mentions_by_segment
from ..corpus import Settings, read_docs
from ..corpus.formats.bracket import escape
from ..corpus.reader import bare_doc
from ..decoders import Mention
from ..decoders.brackets import bracket_words, separate_crossing
from ..evaluation.components import check_pipeline, check_scores
from ..evaluation.findings import written_to
from .options import From, LineSentences, Model, SpansKey, errors_shown, load_pipeline

_Data = Annotated[Path, Arg(metavar="DATA", help="A file or folder with texts, in any format of `convert`")]
_Number = Annotated[int, Opt("--number", "-n", min=1, help="How many sentences to show")]


def show_cli(
    model: Model,
    data: _Data,
    number: _Number = 3,
    source_format: From = None,
    spans_key: SpansKey = "sc",
    line_sentences: LineSentences = True,
) -> None:
    """Show what a trained pipeline finds in a text: mentions as brackets, with their probabilities."""
    with errors_shown():
        nlp = load_pipeline(model)
        check_pipeline(nlp, spans_key)
        shown = 0
        # Only the text matters here, not the mentions of the data.
        settings = Settings(spans_key, pipeline=nlp, misaligned="drop", line_sentences=line_sentences)
        for gold in read_docs(data, source_format, settings=settings):
            doc = nlp(bare_doc(nlp, gold))
            check_scores(nlp, doc, spans_key)
            for line in islice(_sentences(doc, spans_key), number - shown):
                typer.echo(line)
                shown += 1
            if shown == number:
                return
        if not shown:
            raise ValueError(f"no sentence found in {data}")


def _sentences(doc: Doc, spans_key: str) -> Iterator[str]:
    """Every sentence with its mentions, and below it their probabilities."""
    scores = dict(written_to(doc, spans_key))
    for start, end, mentions in mentions_by_segment(doc, spans_key)[0]:
        words = [token.text for token in doc[start:end]]
        kept, _ = separate_crossing(mentions)
        certain = ", ".join(
            f"{doc[m.start : m.end].text} {scores[m]:.0%}"
            for m in (Mention(m.start + start, m.end + start, m.label) for m in mentions)
        )
        yield " ".join(bracket_words(words, kept, escape=escape)) + (f"\n    {certain}" if certain else "")
