"""Inline XML: a running text in which elements are mentions, `The <ORG>bank of <LOC>Bonn</LOC></ORG>`.

The name of an element is its label. General elements, such as `<entity type="LOC">` or `<ENAMEX TYPE="LOC">`, have the
label in an attribute: `label`, `type`, `class` or `category`. The root of the file and elements such as `<doc>`,
`<text>`, `<p>` and `<s>` are structure, not mentions, in upper or lower case; `Settings.structure` names more of them.

A document is an element `<doc>`, `<document>`, `<article>` or `<record>`, or else the whole file. If there are elements
for sentences, paragraphs or headings, each begins a sentence; otherwise sentences are unknown. Any whitespace is the
same as one space. Other attributes and comments are not kept. Mentions that cross another cannot be written.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from ...annotation import by_segment, mentions_of, sentence_bounds
from ...decoders.brackets import separate_crossing
from ...decoders.mention import Mention
from ..conversion_report import ConversionReport, FormatError
from ..documents import Record, Settings, describe
from ..files import place
from ._offsets import doc_from_text
from ._sample import Sample
from ._untrusted import known_encoding, refuse_entities

_DOCUMENTS = frozenset("doc document article record".split())
# They begin a sentence.
_BLOCKS = frozenset("s sent sentence p para paragraph title head heading headline abstract li item seg u turn".split())
_STRUCTURE = (
    _DOCUMENTS | _BLOCKS | frozenset("xml root corpus docs documents text body content section sec div".split())
)
# They are mentions, with the label in an attribute.
_GENERAL = frozenset("entity ent ne mention annotation enamex numex timex span tag".split())
_LABELS = ("label", "type", "class", "category")

_CHUNK = 1 << 16
_NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
# What XML 1.0 cannot contain, not even as a reference.
_IMPOSSIBLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_ELEMENT = re.compile(r"<[A-Za-z_][^<>]*>")
_PAGE = re.compile(r"<!doctype html|<html", re.IGNORECASE)


def read(path: Path, settings: Settings, report: ConversionReport) -> Iterator[Record]:
    """Read the documents of a file."""
    with report.tolerating():
        reader = _Reader(path, settings, report)
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                reader.feed(chunk)
                yield from reader.take()
        reader.close()
        yield from reader.take()


def recognizes(sample: Sample) -> bool:
    """Whether there are elements, and nothing before the first one."""
    text = sample.text.lstrip()
    return text.startswith("<") and not _PAGE.match(text) and _ELEMENT.search(text) is not None


class _Reader:
    """Makes documents of the events of a parser. Nothing here depends on how deep elements are nested."""

    def __init__(self, path: Path, settings: Settings, report: ConversionReport) -> None:
        self.path, self.settings, self.report = path, settings, report
        self.structure = _STRUCTURE | {name.lower() for name in settings.structure}
        self.done: list[Record] = []
        # For every open element: whether it is a document, and if it is a mention, where it begins, its label and line.
        self.open_ones: list[tuple[bool, tuple[int, str, int] | None]] = []
        self.n_documents = 0
        self._begin()
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        refuse_entities(self.parser, path)

    def feed(self, chunk: bytes) -> None:
        self._parse(chunk, False)

    def close(self) -> None:
        self._parse(b"", True)
        self._finish()

    def take(self) -> list[Record]:
        """The documents that are complete."""
        done, self.done = self.done, []
        return done

    def _parse(self, chunk: bytes, is_last: bool) -> None:
        try:
            with known_encoding(self.path):
                self.parser.Parse(chunk, is_last)
        except expat.ExpatError as error:
            reason = f"not well-formed XML: {expat.ErrorString(error.code)}"
            raise FormatError(place(self.path, error.lineno), reason) from None

    def _begin(self) -> None:
        """Begin a document."""
        self.pieces: list[str] = []
        self.length = 0
        self.mentions: list[tuple[Mention, str]] = []
        self.sent_starts: list[int] = []
        self.line: int | None = None

    def _finish(self) -> None:
        """End a document, if there is any text in it."""
        text = "".join(self.pieces).rstrip(" ")
        if text:
            self.n_documents += 1
            where = place(self.path, self.line or 1)
            starts = self.sent_starts or None
            with self.report.tolerating():
                doc = doc_from_text(text, self.mentions, self.settings, self.report, where, sent_starts=starts)
                self.done.append(Record(doc, where))
        self._begin()

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        name = name.rsplit(":", 1)[-1]
        is_document = name.lower() in _DOCUMENTS
        if is_document:
            self._finish()
        mention = None
        if self.open_ones and name.lower() not in self.structure:
            mention = (self.length, self._label(name, attributes), self.parser.CurrentLineNumber)
        elif name.lower() in _BLOCKS:
            self._separate()
            self.sent_starts.append(self.length)
        self.open_ones.append((is_document, mention))

    def _end(self, name: str) -> None:
        is_document, mention = self.open_ones.pop()
        if mention is not None:
            start, label, line = mention
            where = place(self.path, line)
            if self.length == start:
                self.report.lose("elements without text", f"{where}: {label}")
            else:
                self.mentions.append((Mention(start, self.length, label), where))
        elif is_document:
            self._finish()
        elif name.rsplit(":", 1)[-1].lower() in _BLOCKS:
            self._separate()

    def _text(self, text: str) -> None:
        """Add text in which any whitespace is one space."""
        if self.line is None and text.strip():
            self.line = self.parser.CurrentLineNumber
        words = text.split()
        if text[:1].isspace():
            self._separate()
        self._add(" ".join(words))
        if words and text[-1:].isspace():
            self._separate()

    def _separate(self) -> None:
        """Add a space, unless there is one or nothing before it."""
        if self.pieces and not self.pieces[-1].endswith(" "):
            self._add(" ")

    def _add(self, text: str) -> None:
        if text:
            self.pieces.append(text)
            self.length += len(text)

    def _label(self, name: str, attributes: dict[str, str]) -> str:
        if name.lower() not in _GENERAL:
            return name
        values = {key.lower(): value for key, value in attributes.items()}
        return next((values[key] for key in _LABELS if values.get(key)), name)


def write(records: Iterable[Record], path: Path, settings: Settings, report: ConversionReport) -> None:
    """Write one element per document, and in it one per sentence if sentences are known."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n<corpus>\n')
        for record in records:
            with report.tolerating():
                file.write(render(record, settings, report))
        file.write("</corpus>\n")


def render(record: Record, settings: Settings, report: ConversionReport) -> str:
    """A document as an element."""
    doc, where = record
    if found := _IMPOSSIBLE.search(doc.text):
        raise FormatError(where, f"{found[0]!r} cannot be in XML; write jsonl or spacy instead")
    if any(token.is_space for token in doc):
        report.lose("words of only whitespace", where, sum(token.is_space for token in doc))
    bounds = sentence_bounds(doc) if doc.has_annotation("SENT_START") else []
    starts, ends = {start for start, _ in bounds}, {end - 1 for _, end in bounds}
    opening, closing = _elements(record, bounds, settings, report)
    parts = []
    for token in doc:
        parts += ["<s>"] * (token.i in starts) + opening[token.i]
        parts += [escape(token.text), *reversed(closing[token.i])]
        parts += ["</s>\n"] if token.i in ends else [token.whitespace_]
    return "<doc>\n" + "".join(parts).rstrip() + "\n</doc>\n"


def _elements(
    record: Record, bounds: list[tuple[int, int]], settings: Settings, report: ConversionReport
) -> tuple[list[list[str]], list[list[str]]]:
    """What opens before and closes after each token."""
    doc, where = record
    mentions = mentions_of(doc, settings.spans_key)
    across = set(by_segment(mentions, bounds)[1]) if bounds else set()
    for mention in sorted(across):
        report.lose("mentions across a sentence boundary", f"{where}: {describe(doc, mention)}")
    kept, crossing = separate_crossing(mention for mention in mentions if mention not in across)
    for mention in crossing:
        report.lose("mentions that cross another", f"{where}: {describe(doc, mention)}")
    opening: list[list[str]] = [[] for _ in doc]
    closing: list[list[str]] = [[] for _ in doc]
    for start, end, label in kept:
        name, attribute = _element(label, settings, where)
        opening[start].append(f"<{name}{attribute}>")
        closing[end - 1].append(f"</{name}>")
    return opening, closing


def _element(label: str, settings: Settings, where: str) -> tuple[str, str]:
    """The name and the attribute of the element for a label."""
    taken = _STRUCTURE | _GENERAL | {name.lower() for name in settings.structure}
    if _NAME.fullmatch(label) and label.lower() not in taken:
        return label, ""
    if _IMPOSSIBLE.search(label):
        raise FormatError(where, f"label {label!r} cannot be in XML; write jsonl or spacy instead")
    return "entity", f" label={quoteattr(label, {chr(10): '&#10;', chr(13): '&#13;', chr(9): '&#9;'})}"
