"""What is on the page as text to take away: bracket notation, and the Python code that makes it."""

from collections.abc import Iterator
from pprint import pformat
from typing import Any, NamedTuple

from spacy.tokens import Doc

from ...corpus import ConversionReport, Record, Settings
from ...corpus.documents import visible_sentences
from ...corpus.formats.bracket import render
from .scoring import Scorer
from .settings import ViewSettings
from .view import View


class Part(NamedTuple):
    """Some tokens of a document: what the network has seen, and what the page shows of it."""

    doc: Doc
    start: int
    end: int


def as_brackets(view: View) -> str:
    """The mentions in bracket notation, one line per sentence."""
    report = ConversionReport()
    sentences = visible_sentences(Record(view.doc, "text"), Settings(view.spans_key), report)
    return "\n".join(render(sentence, report) for sentence in sentences)


def as_python(scorer: Scorer, settings: ViewSettings, *, model: str, source: str | Part) -> str:
    """A program that prints the mentions that the page shows.

    model (str): What the pipeline is called on the command line.
    source (str | Part): A text, or a part of a document of a corpus.
    """
    decoder = scorer.pipe.decoder
    changes = list(_changes(scorer, settings))
    names = ["mentions", "load_sample"] if model == "sample" else ["mentions"]
    names += [settings.make_decoder().name] if settings.make_decoder(decoder.max_span_length) != decoder else []
    imports = [f"from spacy_nested_ner import {', '.join(sorted(names))}"]
    imports = imports if model == "sample" else ["import spacy", *imports]
    imports += [] if isinstance(source, str) else ["from spacy.tokens import Doc"]
    lines = [
        *imports,
        "",
        "nlp = load_sample()" if model == "sample" else f"nlp = spacy.load({model!r})",
        *([f"pipe = nlp.get_pipe({scorer.name!r})", *changes] if changes else []),
        *([f"doc = nlp({source!r})"] if isinstance(source, str) else _doc_of_words(source.doc)),
        *_printing(scorer.spans_key, None if isinstance(source, str) else source),
    ]
    return "\n".join(lines) + "\n"


def _doc_of_words(doc: Doc) -> Iterator[str]:
    """The tokens and sentences of a corpus, which a tokenizer would not find."""
    yield f"words = {_listed([token.text for token in doc])}"
    yield f"spaces = {_listed([int(bool(token.whitespace_)) for token in doc])}"
    sentences = ""
    if doc.has_annotation("SENT_START"):
        starts = [token.i for token in doc if token.is_sent_start]
        yield f"starts = {_listed(starts)}"
        sentences = ", sent_starts=[place in starts for place in range(len(words))]"
    yield f"doc = nlp(Doc(nlp.vocab, words=words, spaces=spaces{sentences}))"


def _listed(values: list[Any]) -> str:
    return pformat(values, width=100, compact=True)


def _printing(spans_key: str, part: Part | None) -> Iterator[str]:
    yield f"for mention in mentions(doc{'' if spans_key == 'sc' else f', {spans_key!r}'}):"
    if part is not None and (part.start, part.end) != (0, len(part.doc)):
        yield f"    if not {part.start} <= mention['start'] < {part.end}:  # another sentence"
        yield "        continue"
    yield "    indent = '    ' * (mention['depth'] - 1)"
    yield "    print(f\"{mention['probability']:4.0%}  {mention['label']}  {indent}{mention['text']}\")"


def _changes(scorer: Scorer, settings: ViewSettings) -> Iterator[str]:
    """Where the settings differ from those of the component."""
    own, decoder = scorer.settings, settings.make_decoder(scorer.pipe.decoder.max_span_length)
    if decoder != scorer.pipe.decoder:
        yield f"pipe.decoder = {decoder!r}"
    if settings.threshold != own.threshold:
        yield f'pipe.cfg["threshold"] = {settings.threshold!r}'
    if settings.temperature != own.temperature:
        yield f"pipe.temperature = {settings.temperature!r}"
