"""CSV or TSV with offsets: one line per mention, with the text, the characters of the mention and its label.

The first line names the columns, in any order and with commas, semicolons or tabs between them: text, start, end and
label, or other names for the same, such as begin, end_char or entity_type. The end is not included. Lines with the same
text, and the same document if there is a column for it, are one document. Where the text is empty, the line belongs to
the document that its own column names, or to the one above. A line without start, end and label is a document without
mentions. A column with the text of the mention is compared with the text. Other columns and sentences are not kept.
"""

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ...annotation import mentions_of, sentence_bounds
from ...decoders.mention import Mention
from ..conversion_report import ConversionReport, FormatError, shown
from ..documents import Record, Settings
from ..files import place, read_lines
from ._offsets import doc_from_text
from ._sample import Sample

# What the columns are called, in small letters and with _ for spaces and hyphens.
_NAMES = {
    "text": "text sentence content document_text body".split(),
    "start": "start begin start_char char_start start_offset offset_start start_pos start_index start_idx from".split(),
    "end": "end stop end_char char_end end_offset offset_end end_pos end_index end_idx to".split(),
    "label": "label type entity_type entity_label ner_label category class tag ner entity".split(),
    "document": "document doc document_id doc_id docid text_id sentence_id file filename file_name id".split(),
    "mention": "mention span surface mention_text span_text entity_text entity phrase term".split(),
}
_NEEDED = ("text", "start", "end", "label")
_DELIMITERS = ",\t;"
# The module csv refuses longer fields, and its limit is one for the whole process.
_LONGEST = 2**31 - 1


class _Columns(NamedTuple):
    """Where the columns are that matter.

    document_is_sure (bool): The column for the document is not just called id, which may count the mentions.
    """

    text: int
    start: int
    end: int
    label: int
    document: int | None
    mention: int | None
    document_is_sure: bool


def read(path: Path, settings: Settings, report: ConversionReport) -> Iterator[Record]:
    """Read the documents of a file, in the order of their first lines."""
    with report.tolerating():
        documents = _documents(path, report)
        for text, where, mentions in documents:
            with report.tolerating():
                yield Record(doc_from_text(text, mentions, settings, report, where), where)


def recognizes(sample: Sample) -> bool:
    """Whether the first line names the columns."""
    return _find_columns(sample.text.partition("\n")[0]) is not None


class _Document(NamedTuple):
    text: str
    where: str
    mentions: list[tuple[Mention, str]]


def _documents(path: Path, report: ConversionReport) -> list[_Document]:
    """All documents of a file: the lines of one may be anywhere."""
    csv.field_size_limit(_LONGEST)
    # A text in quotes may go on in the next line, and its characters are counted with whatever is between.
    lines = (line.text for line in read_lines(path, keep_ends=True))
    header = next(lines, "").rstrip("\r\n")
    found = _find_columns(header)
    if found is None:
        missing = ", ".join(name for name in _NEEDED if name not in _positions(_split(header)))
        reason = f"no column for {missing or 'the text'}; found the columns {', '.join(_split(header)) or 'none'}"
        raise FormatError(place(path, 1), f"{reason}; name them {', '.join(_NEEDED)}")
    columns, delimiter = found
    documents: dict[tuple[str, str], _Document] = {}
    by_name: dict[str, _Document] = {}
    rows = csv.reader(lines, delimiter=delimiter)
    above: _Document | None = None
    reached = 0
    while True:
        where = place(path, reached + 2)
        try:
            row = next(rows, None)
        except csv.Error as error:
            raise FormatError(where, f"not CSV: {error}") from None
        reached = rows.line_num
        if row is None:
            return list(documents.values())
        if any(value.strip() for value in row):
            with report.tolerating():
                above = _add(row, columns, documents, by_name, above, where)


def _add(
    row: list[str],
    columns: _Columns,
    documents: dict[tuple[str, str], _Document],
    by_name: dict[str, _Document],
    above: _Document | None,
    where: str,
) -> _Document:
    """Add a line to its document, which may be a new one."""
    if len(row) <= max(columns[:4]):
        raise FormatError(where, f"{len(row)} columns; expected at least {max(columns[:4]) + 1}, as in the first line")
    text = row[columns.text]
    name = row[columns.document] if columns.document is not None and columns.document < len(row) else ""
    if text.strip():
        # A column that counts the mentions does not name documents: then the text alone tells them apart.
        key = (name if columns.document_is_sure else "", text)
        document = documents.setdefault(key, _Document(text, where, []))
        by_name[name] = document
    else:
        known = by_name.get(name) if name else above
        if known is None:
            raise FormatError(where, "no text, and no line above that has it; fill in the column of the text")
        document = known
    mention = _mention(row, columns, document.text, where)
    if mention is not None:
        document.mentions.append((mention, where))
    return document


def _mention(row: list[str], columns: _Columns, text: str, where: str) -> Mention | None:
    """The mention of a line; None if it has none."""
    start, end, label = (row[column].strip() for column in (columns.start, columns.end, columns.label))
    if not start and not end:
        return None
    if not (_is_whole(start) and _is_whole(end) and label):
        expected = "expected whole numbers for start and end, and a label"
        raise FormatError(where, f"start is {shown(start)}, end is {shown(end)}, label is {shown(label)}; {expected}")
    mention = Mention(int(float(start)), int(float(end)), label)
    said = row[columns.mention] if columns.mention is not None and columns.mention < len(row) else ""
    found = text[mention.start : mention.end]
    if said.strip() and said.split() != found.split():
        included = said.split() == text[mention.start : mention.end + 1].split()
        remedy = "the end must not be included: add 1 to it" if included else "correct the numbers"
        raise FormatError(
            where, f"the mention is {shown(said)}, but the text at {start}:{end} is {shown(found)}; {remedy}"
        )
    return mention


def _is_whole(number: str) -> bool:
    """Whether a number is whole. Spreadsheets that have empty cells write 5.0."""
    return number.removesuffix(".0").isdecimal() and len(number) < 16


def _find_columns(header: str) -> tuple[_Columns, str] | None:
    """Where the columns are, and what separates them; None if some are missing."""
    for delimiter in _DELIMITERS:
        names = _split(header, delimiter)
        found = _positions(names)
        if all(name in found for name in _NEEDED):
            document = found.get("document")
            sure = document is not None and _normal(names[document]) != "id"
            text, start, end, label = (found[name] for name in _NEEDED)
            return _Columns(text, start, end, label, document, found.get("mention"), sure), delimiter
    return None


def _positions(names: list[str]) -> dict[str, int]:
    """Which column is what. No column is two things, and the first name of each list is the best."""
    normal = [_normal(name) for name in names]
    found: dict[str, int] = {}
    for kind, choices in _NAMES.items():
        free = [choice for choice in choices if choice in normal and normal.index(choice) not in found.values()]
        if free:
            found[kind] = normal.index(free[0])
    return found


def _normal(name: str) -> str:
    return name.strip().strip("\ufeff\"'").lower().replace(" ", "_").replace("-", "_")


def _split(header: str, delimiter: str | None = None) -> list[str]:
    """The names in the first line."""
    delimiter = delimiter or max(_DELIMITERS, key=header.count)
    try:
        return next(csv.reader([header], delimiter=delimiter), [])
    except csv.Error:
        return []


def write(records: Iterable[Record], path: Path, settings: Settings, report: ConversionReport) -> None:
    """Write one line per mention, and one per document that has none."""
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow(["doc_id", "text", "start", "end", "label", "mention"])
        for n, record in enumerate(records, 1):
            with report.tolerating():
                writer.writerows([n, *row] for row in render(record, settings, report))


def render(record: Record, settings: Settings, report: ConversionReport) -> list[list[str | int]]:
    """The lines of a document, without its number."""
    doc, where = record
    text = doc.text.rstrip(" ")
    if "\r" in text or "\0" in text:
        raise FormatError(where, "the text has a carriage return or a null character; write jsonl or spacy instead")
    if not text.strip():
        report.lose("documents without text", where)
        return []
    if len(sentence_bounds(doc)) > 1:
        report.lose("sentences, in documents", where)
    rows: list[list[str | int]] = []
    for start, end, label in mentions_of(doc, settings.spans_key):
        low, high = doc[start].idx, doc[end - 1].idx + len(doc[end - 1])
        rows.append([text, low, high, label, text[low:high]])
    return rows or [[text, "", "", "", ""]]
