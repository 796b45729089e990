"""PubTator, the format of biomedical corpora such as BC5CDR, NCBI Disease and BioRED.

A document is a title, `1234|t|…`, an abstract, `1234|a|…`, and one line per mention with tabs between its columns:
document, start, end, text, label and identifier. Characters are counted in the title, one space, and the abstract; the
end is not included. A blank line ends a document. Relations, which have fewer columns, and identifiers are not kept.
Sentences are unknown. A document is written with its first sentence as its title.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ...annotation import mentions_of, sentence_bounds
from ...decoders.mention import Mention
from ..conversion_report import ConversionReport, FormatError, shown
from ..documents import Record, Settings
from ..files import NUMBER, Line, place, read_paragraphs
from ._offsets import doc_from_text
from ._sample import Sample, content_lines

_TEXT = re.compile(r"([^|\t]+)\|([a-z])\|(.*)")
_EDGES = re.compile(rf"{NUMBER}\t{NUMBER}")
_BREAK = re.compile(r"[\t\r\n]")


def read(path: Path, settings: Settings, report: ConversionReport) -> Iterator[Record]:
    """Read the documents of a file."""
    for paragraph in read_paragraphs(path):
        for lines in _documents(paragraph):
            where = place(path, lines[0].number)
            with report.tolerating():
                text = _read_text(lines, where)
                mentions = _read_mentions(lines, path, text, report)
                yield Record(doc_from_text(text, mentions, settings, report, where), where)


def recognizes(sample: Sample) -> bool:
    """Whether the first line is a title."""
    found = _TEXT.fullmatch(next(iter(content_lines(sample)), ""))
    return found is not None and found[2] == "t"


def _documents(paragraph: list[Line]) -> Iterator[list[Line]]:
    """The lines of each document: some files have no blank lines between them."""
    lines: list[Line] = []
    for line in paragraph:
        found = _TEXT.fullmatch(line.text)
        if found and found[2] == "t" and lines:
            yield lines
            lines = []
        lines.append(line)
    yield lines


def _read_text(lines: list[Line], where: str) -> str:
    """The title and the abstract, or whatever parts there are."""
    parts = [found[3] for found in (_TEXT.fullmatch(line.text) for line in lines) if found]
    if not parts:
        raise FormatError(where, f"{lines[0].text[:40]!r}: expected a title, as in 1234|t|The title")
    return " ".join(parts)


def _read_mentions(lines: list[Line], path: Path, text: str, report: ConversionReport) -> Iterator[tuple[Mention, str]]:
    for line in lines:
        if _TEXT.fullmatch(line.text):
            continue
        where = place(path, line.number)
        columns = line.text.split("\t")
        if len(columns) > 2 and not columns[1].isdecimal():
            report.lose("relations", where)
            continue
        with report.tolerating():
            yield parse(columns, text, where), where


def parse(columns: list[str], text: str, where: str) -> Mention:
    """The mention by characters in the columns of a line."""
    if len(columns) < 5 or not _EDGES.fullmatch("\t".join(columns[1:3])):
        expected = "expected document, start, end, text and label with tabs between them"
        raise FormatError(where, f"{shown(' '.join(columns))} is not a mention; {expected}")
    start, end, said, label = int(columns[1]), int(columns[2]), columns[3], columns[4].strip()
    if not start < end <= len(text):
        raise FormatError(where, f"mention {start} {end}; expected start < end <= {len(text)}, the length of the text")
    if said.split() != text[start:end].split():
        reason = f"the mention is {shown(said)}, but the text there is {shown(text[start:end])}; correct the numbers"
        raise FormatError(where, reason)
    return Mention(start, end, label)


def write(records: Iterable[Record], path: Path, settings: Settings, report: ConversionReport) -> None:
    """Write numbered documents."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for n, record in enumerate(records, 1):
            with report.tolerating():
                file.write(render(record, n, settings, report))


def render(record: Record, number: int, settings: Settings, report: ConversionReport) -> str:
    """The lines of a document."""
    doc, where = record
    bounds = sentence_bounds(doc)
    if len(bounds) > 1:
        report.lose("sentences, in documents", where)
    original = doc.text.rstrip(" ")
    text = _BREAK.sub(" ", original)  # one character for another, so that mentions stay where they are
    if text != original:
        report.lose("tabs and line breaks (now spaces), in documents", where)
    first = doc[bounds[0][1]].idx if len(bounds) > 1 else len(text) + 1
    if text[first - 1 : first].strip():  # no space between the sentences
        first = len(text) + 1
    lines = [f"{number}|t|{text[: first - 1]}\n", f"{number}|a|{text[first:]}\n"]
    for start, end, label in mentions_of(doc, settings.spans_key):
        if _BREAK.search(label) or label != label.strip():
            raise FormatError(where, f"label {label!r} contains whitespace; write bracket, jsonl or spacy instead")
        low, high = doc[start].idx, doc[end - 1].idx + len(doc[end - 1])
        lines.append(f"{number}\t{low}\t{high}\t{text[low:high]}\t{label}\n")
    return "".join([*lines, "\n"])
