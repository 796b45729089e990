"""`spacy nested-ner show`"""

import json
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Annotated

import typer
from spacy.cli._util import Arg, Opt
from spacy.language import Language
from spacy.tokens import Doc

from ..corpus import Settings
from ..corpus.texts import STANDARD_INPUT, find_path, input_docs, is_bracketed, is_plain_text
from ..display.drawing import Drawing
from ..display.drawing_text import TextDrawer
from ..evaluation.calibration import calibrated_component
from ..evaluation.components import check_pipeline, check_scores, component_of, set_threshold
from ..export import mentions
from ..pipeline.loading import load_pipeline
from .options import From, LineSentences, Model, SpansKey, errors_shown

# Sentences of a corpus to show, if the command does not say. Texts are shown as a whole.
OF_CORPUS = 3

_Inputs = Annotated[
    list[str] | None,
    Arg(
        metavar="[TEXT|FILE|-]...",
        help="Texts, files or folders to read, or - for standard input, which is read if nothing is given",
    ),
]
_Number = Annotated[
    int | None,
    Opt("--number", "-n", min=1, help=f"How many sentences to show: by default all of texts, {OF_CORPUS} of corpora"),
]
_Json = Annotated[bool, Opt("--json", "-j", help="Print JSON lines: the text and the mentions of each document")]
_Threshold = Annotated[
    float | None, Opt("--threshold", help="Instead of the pipeline's own, from 0 to 1: lower finds more")
]
_Temperature = Annotated[float | None, Opt("--temperature", help="Instead of the pipeline's own, above 0")]


def show_cli(
    model: Model,
    inputs: _Inputs = None,
    number: _Number = None,
    as_json: _Json = False,
    threshold: _Threshold = None,
    temperature: _Temperature = None,
    source_format: From = None,
    spans_key: SpansKey = "sc",
    line_sentences: LineSentences = True,
) -> None:
    """Show what a trained pipeline finds in a text: the mentions, what is inside what, and how probable it is.

    A text is tokenized by the pipeline. So is a file, in which blank lines separate texts, unless its name or --from
    says that it is a corpus in a format of `convert`: then its tokens and sentences are used, but not its mentions.
    """
    with errors_shown():
        given = inputs or [STANDARD_INPUT]
        default = _default_number(given, source_format, as_json=as_json)
        limit = number or default
        nlp = load_pipeline(model)
        check_pipeline(nlp, spans_key)
        if threshold is not None:
            set_threshold(nlp, spans_key, threshold)
        if temperature is not None:
            calibrated_component(nlp, spans_key).temperature = temperature
        # Only the text matters here, not the mentions of the data.
        settings = Settings(spans_key, pipeline=nlp, misaligned="drop", line_sentences=line_sentences)
        docs = input_docs(given, source_format, settings=settings, standard_input=_standard_input())
        found = _run(nlp, docs, spans_key)
        component = component_of(nlp, spans_key)
        labels = getattr(component[1], "labels", ()) if component else ()
        shown = 0
        for part in islice(_json_lines(found, spans_key) if as_json else _drawings(found, spans_key, labels), limit):
            print(part, flush=True)
            shown += 1
        if not shown:
            names = ", ".join("standard input" if name == STANDARD_INPUT else name.strip() or "''" for name in given)
            raise ValueError(f"no sentence found in {names}")


def _default_number(given: list[str], source_format: str | None, *, as_json: bool) -> int | None:
    """How many sentences to show; None for all. Says so if what is read as text may be a corpus."""
    paths = [path for path in map(find_path, given) if path is not None]
    plain = [path for path in paths if source_format is None and is_plain_text(path)]
    for path in plain:
        if path.is_file() and is_bracketed(path):
            typer.echo(f"{path} is read as plain text; if it is in bracket notation, add --from bracket", err=True)
    return OF_CORPUS if len(paths) > len(plain) and not as_json else None


def _standard_input() -> Iterator[str]:
    """Its lines. Nothing is read before it is needed."""
    if sys.stdin.isatty():
        typer.echo("Type a text; an empty line ends it, Ctrl-D ends the command", err=True)
    for number, line in enumerate(typer.get_binary_stream("stdin"), 1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            byte = f"{line[error.start]:#04x}"
            raise ValueError(f"standard input, line {number}: byte {byte} is not UTF-8; expected UTF-8") from None


def _run(nlp: Language, docs: Iterable[Doc], spans_key: str) -> Iterator[Doc]:
    """One at a time, so that what is found is shown at once."""
    for doc in nlp.pipe(docs, batch_size=1):
        check_scores(nlp, doc, spans_key)
        yield doc


def _drawings(docs: Iterable[Doc], spans_key: str, labels: Iterable[str]) -> Iterator[str]:
    """One text per sentence, with a blank line between them.

    labels (Iterable[str]): All labels of the pipeline, so that they have the same colors in all texts.
    """
    drawer = TextDrawer(labels=labels)
    between = ""
    for doc in docs:
        for drawing in drawer.draw(Drawing.of_doc(doc, spans_key)):
            yield between + drawing
            between = "\n"


def _json_lines(docs: Iterable[Doc], spans_key: str) -> Iterator[str]:
    ascii_only = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    for doc in docs:
        yield json.dumps({"text": doc.text, "mentions": mentions(doc, spans_key)}, ensure_ascii=ascii_only)
