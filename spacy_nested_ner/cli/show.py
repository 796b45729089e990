"""`spacy nested-ner show`"""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated

import spacy
import typer
from spacy.cli._util import Arg, Opt
from spacy.tokens import Doc

from ..annotation import mentions_of, sentence_bounds
from ..corpus import Settings, read_docs
from ..corpus.formats.bracket import escape
from ..corpus.reader import bare_doc
from ..decoders import Mention
from ..decoders.brackets import bracket_words, separate_crossing
from ..evaluation.predictions import check_pipeline, check_scores
from .options import From, LineSentences, Model, SpansKey, errors_shown

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
        nlp = spacy.load(model)
        check_pipeline(nlp, spans_key)
        shown = 0
        # What the data says of mentions does not matter here.
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
    """A sentence with its mentions, and below it their probabilities."""
    mentions = mentions_of(doc, spans_key)
    scores = dict(zip(((s.start, s.end, s.label_) for s in doc.spans[spans_key]), doc.spans[spans_key].attrs["scores"]))
    for start, end in sentence_bounds(doc):
        inside = [m for m in mentions if start <= m.start and m.end <= end]
        words = [token.text for token in doc[start:end]]
        kept, _ = separate_crossing(Mention(m.start - start, m.end - start, m.label) for m in inside)
        certain = ", ".join(f"{doc[m.start : m.end].text} {scores[tuple(m)]:.0%}" for m in inside)
        yield " ".join(bracket_words(words, kept, escape=escape)) + (f"\n    {certain}" if certain else "")
