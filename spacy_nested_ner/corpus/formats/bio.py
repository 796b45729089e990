"""Layered BIO columns: a word a line, then a column of tags for every layer of nesting.

Read are LitBank's style (word, tags …) and that of GermEval 2014 (number, word, outer tag,
inner tag), told apart by the first sentence. A blank line ends a sentence. Lines that start
with `#` before a sentence begin a new document. A mention must begin with `B-` and go on
with `I-` in one column.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ...decoders.mention import Mention
from ..documents import Record, Sentence, Settings, drop_whitespace, group_sentences, sentences_of
from ..files import Line, place, read_paragraphs
from ..report import ConversionReport, FormatError

MIN_LAYERS = 2

_TAG = re.compile(r"O|[BI]-.+")
_SPACES = re.compile(r"[ \t]+")


def read(path: Path, settings: Settings, report: ConversionReport) -> Iterator[Record]:
    """The documents of a file: one, unless comments divide it."""
    return group_sentences(_sentences(path, report), path, settings, report)


def _sentences(path: Path, report: ConversionReport) -> Iterator[tuple[int, Sentence | None]]:
    numbered: bool | None = None
    for paragraph in read_paragraphs(path):
        n_comments = next((i for i, line in enumerate(paragraph) if not _is_comment(line.text)), len(paragraph))
        if n_comments:
            yield paragraph[0].number, None
        rows = paragraph[n_comments:]
        if not rows:
            continue
        if numbered is None:
            numbered = _is_numbered(rows)
        with report.tolerating():
            yield rows[0].number, parse(rows, path, numbered=numbered)


def parse(rows: list[Line], path: Path, *, numbered: bool) -> Sentence:
    """The lines of a sentence.

    numbered (bool): The first column counts the words, as in GermEval 2014.
    """
    skip = 1 if numbered else 0
    words: list[str] = []
    layers: list[list[str]] = []
    for number, text in rows:
        columns = _columns(text)[skip:]
        if len(columns) < 2:
            raise FormatError(place(path, number), f"{text!r} has no tag; expected a word, a tab and a tag a layer")
        if not columns[0]:
            raise FormatError(place(path, number), f"{text!r} has no word; expected a word, a tab and a tag a layer")
        if layers and len(columns) != len(layers[0]) + 1:
            reason = f"{len(columns) - 1} tags, and {len(layers[0])} in the line above; expected as many in every line"
            raise FormatError(place(path, number), reason)
        words.append(columns[0])
        layers.append(columns[1:])
    mentions: list[Mention] = []
    for layer in zip(*layers):
        mentions += _read_layer(layer, rows, path)
    return Sentence(words, mentions)


def _read_layer(tags: tuple[str, ...], rows: list[Line], path: Path) -> Iterator[Mention]:
    start = 0
    label = None
    for i, (tag, row) in enumerate(zip(tags, rows)):
        if not _TAG.fullmatch(tag):
            raise FormatError(place(path, row.number), f"tag {tag!r}: expected O, B-LABEL or I-LABEL")
        if tag.startswith("I-"):
            if tag[2:] != label:
                above = tags[i - 1] if i else "nothing"
                reason = f"{tag} follows {above} in its column; a mention begins with B-{tag[2:]}"
                raise FormatError(place(path, row.number), reason)
            continue
        if label:
            yield Mention(start, i, label)
        start, label = i, tag[2:] or None
    if label:
        yield Mention(start, len(tags), label)


def write(records: Iterable[Record], path: Path, settings: Settings, report: ConversionReport) -> None:
    """LitBank's style, outer mentions in the first column; a comment begins each document.

    Every line of the file has as many columns as the deepest sentence needs.
    """
    documents: list[list[tuple[Sentence, list[list[str]]]]] = []
    for record in records:
        with report.tolerating():
            plain = (drop_whitespace(s, report, record.where) for s in sentences_of(record, settings, report))
            document = [(sentence, layers(sentence, record.where)) for sentence in plain if sentence.words]
            if document:
                documents.append(document)
    n_layers = max([MIN_LAYERS, *(len(columns) for document in documents for _, columns in document)])
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for n, document in enumerate(documents, 1):
            file.write(f"# document {n}\n")
            for sentence, columns in document:
                empty = [["O"] * len(sentence.words)] * (n_layers - len(columns))
                file.writelines("\t".join(row) + "\n" for row in zip(sentence.words, *columns, *empty))
                file.write("\n")


def layers(sentence: Sentence, where: str = "text") -> list[list[str]]:
    """Columns of tags: every mention in the first column that is free there."""
    for text in [*sentence.words, *(mention.label for mention in sentence.mentions)]:
        if any(character in text for character in "\t\r\n"):
            raise FormatError(where, f"{text!r} cannot stand in a column; write bracket, jsonl or spacy instead")
    columns: list[list[str]] = []
    for start, end, label in sentence.mentions:
        column = next((column for column in columns if set(column[start:end]) == {"O"}), None)
        if column is None:
            column = ["O"] * len(sentence.words)
            columns.append(column)
        column[start:end] = [f"B-{label}"] + [f"I-{label}"] * (end - start - 1)
    return columns


def _columns(text: str) -> list[str]:
    """LitBank ends lines with a tab; some tools write spaces instead of tabs."""
    return text.rstrip("\t").split("\t") if "\t" in text else _SPACES.split(text.strip(" "))


def _is_comment(text: str) -> bool:
    """A line that starts with # and is no word with its tags."""
    tags = _columns(text)[1:]
    return text.startswith("#") and not (tags and all(map(_TAG.fullmatch, tags)))


def _is_numbered(rows: list[Line]) -> bool:
    """Numbers in the first column, and something in the second that is no tag."""
    columns = [[*_columns(row.text), ""] for row in rows]
    counts = all(row[0] == str(i) for i, row in enumerate(columns, 1))
    return counts and not all(_TAG.fullmatch(row[1]) for row in columns)
