"""Layered BIO columns: one word per line, then one column of tags per layer of nesting.

Two styles are read, that of LitBank (word, tags …) and that of GermEval 2014 (number, word, outer tag, inner tag); the
first sentence shows which one it is. LitBank's style is written. A blank line ends a sentence. Lines before a sentence
that start with `#` begin a new document. A mention begins with `B-` and continues with `I-` in the same column.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ...decoders.mention import Mention
from ..conversion_report import ConversionReport, FormatError
from ..documents import Record, Sentence, Settings, group_sentences, visible_sentences
from ..files import Line, place, read_paragraphs

# Files are written with at least this many columns of tags.
MIN_LAYERS = 2

_TAG = re.compile(r"O|[BI]-.+")
_SPACES = re.compile(r"[ \t]+")


def read(path: Path, settings: Settings, report: ConversionReport) -> Iterator[Record]:
    """Read the documents of a file: one, unless comments divide it."""
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
    """The sentence in some lines.

    numbered (bool): The first column counts the words, as in GermEval 2014.
    """
    skip = 1 if numbered else 0
    words: list[str] = []
    tags: list[list[str]] = []
    expected = "expected a word and one tag per layer, with tabs between them"
    for number, text in rows:
        columns = _columns(text)[skip:]
        if len(columns) < 2:
            raise FormatError(place(path, number), f"{text!r} has no tag; {expected}")
        if not columns[0]:
            raise FormatError(place(path, number), f"{text!r} has no word; {expected}")
        if tags and len(columns) != len(tags[0]) + 1:
            reason = f"number of tags is {len(columns) - 1}; expected {len(tags[0])}, as in the line above"
            raise FormatError(place(path, number), reason)
        words.append(columns[0])
        tags.append(columns[1:])
    mentions: list[Mention] = []
    for layer in zip(*tags):
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
    """Write LitBank's style, with outer mentions in the first column and a comment before each document.

    All lines of the file have as many columns as the deepest sentence needs.
    """
    documents: list[list[tuple[Sentence, list[list[str]]]]] = []
    for record in records:
        with report.tolerating():
            sentences = visible_sentences(record, settings, report)
            document = [(sentence, render(sentence, record.where)) for sentence in sentences]
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


def render(sentence: Sentence, where: str = "text") -> list[list[str]]:
    """The columns of tags of a sentence: every mention is in the first column that is free there."""
    for text in [*sentence.words, *(mention.label for mention in sentence.mentions)]:
        if any(character in text for character in "\t\r\n"):
            raise FormatError(where, f"{text!r} contains a tab or a line break; write bracket, jsonl or spacy instead")
    columns: list[list[str]] = []
    for start, end, label in sentence.mentions:
        column = next((column for column in columns if set(column[start:end]) == {"O"}), None)
        if column is None:
            column = ["O"] * len(sentence.words)
            columns.append(column)
        column[start:end] = [f"B-{label}"] + [f"I-{label}"] * (end - start - 1)
    return columns


def _columns(text: str) -> list[str]:
    """The columns of a line. LitBank ends lines with a tab; some tools write spaces instead of tabs."""
    return text.rstrip("\t").split("\t") if "\t" in text else _SPACES.split(text.strip(" "))


def _is_comment(text: str) -> bool:
    """Whether a line starts with # and is not a word with its tags."""
    tags = _columns(text)[1:]
    return text.startswith("#") and not (tags and all(map(_TAG.fullmatch, tags)))


def _is_numbered(rows: list[Line]) -> bool:
    """Whether the first column counts the words; then the second one is not all tags."""
    columns = [[*_columns(row.text), ""] for row in rows]
    counts = all(row[0] == str(i) for i, row in enumerate(columns, 1))
    return counts and not all(_TAG.fullmatch(row[1]) for row in columns)
