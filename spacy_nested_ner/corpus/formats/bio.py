"""Columns of BIO/BIOES/BILOU tags: one word per line, then one column of tags per layer of nesting.

A blank line ends a sentence. Lines before a sentence that start with `#` or `-DOCSTART-` begin a new document. A
mention begins with `B-` and continues with `I-` in the same column. In BIOES its last word has `E-` and a single word
`S-`; in BILOU these are `L-` and `U-`. The file shows which scheme it uses, and may use only one.

Layers may also share a column, joined by `|` from the outermost to the innermost: `B-ORG|B-LOC`. The first column may
count the words, as in GermEval 2014. Other columns between the word and the tags, such as the parts of speech and the
chunks of CoNLL-2003, are not kept; in such files with a single column of tags a mention may begin with `I-` (IOB1).

LitBank's style is written: the word and one column of BIO tags per layer, with tabs between them.
"""

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from pathlib import Path

from ..conversion_report import ConversionReport, FormatError
from ..documents import Record, Sentence, Settings, group_sentences, visible_sentences
from ..files import Line, place, read_paragraphs
from ._columns import Layout, columns_of, divide, is_heading, layout_of, looks_like_columns, read_tags, split_tags
from ._sample import Sample, content_lines

# Files are written with at least this many columns of tags, and at most so many: every line of the file has them all.
MIN_LAYERS = 2
MAX_LAYERS = 1000


def read(path: Path, settings: Settings, report: ConversionReport) -> Iterator[Record]:
    """Read the documents of a file: one, unless comments divide it."""
    return group_sentences(_sentences(path, report), path, settings, report)


def recognizes(sample: Sample) -> bool:
    """Whether most lines are a word with tags."""
    return looks_like_columns([line for line in content_lines(sample) if not is_heading(line)])


def _sentences(path: Path, report: ConversionReport) -> Iterator[tuple[int, Sentence | None]]:
    layout = None
    with report.tolerating():
        layout = layout_of(path)
    if layout is None:
        return
    report.note(f"Tags       {layout}")
    if layout.ignored:
        names = ", ".join(str(number + 1) for number in layout.ignored)
        report.lose(f"columns between the words and the tags ({names})", str(path), len(layout.ignored))
    for paragraph in read_paragraphs(path):
        headings, rows = divide(paragraph)
        if headings:
            yield headings[0].number, None
        if rows:
            with report.tolerating():
                yield rows[0].number, parse(rows, path, layout)


def parse(rows: list[Line], path: Path, layout: Layout) -> Sentence:
    """The sentence in some lines."""
    words: list[str] = []
    tags: list[list[str]] = []
    expected = "expected a word and one tag per layer, with tabs between them"
    for number, text in rows:
        columns = columns_of(text)[layout.word :]
        if len(columns) < layout.first_tag - layout.word + 1:
            raise FormatError(place(path, number), f"{text!r} has no tag; {expected}")
        if not columns[0]:
            raise FormatError(place(path, number), f"{text!r} has no word; {expected}")
        own = columns[layout.first_tag - layout.word :]
        if tags and len(own) != len(tags[0]):
            reason = f"number of tags is {len(own)}; expected {len(tags[0])}, as in the line above"
            raise FormatError(place(path, number), reason)
        words.append(columns[0])
        tags.append(own)
    return Sentence(words, [mention for layer in zip(*tags) for mention in read_tags(layer, rows, path, layout)])


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
    # Mentions come in the order of their starts, so a column is free from the end of its last mention on.
    free: list[int] = []
    taken: list[tuple[int, int]] = []
    for start, end, label in sentence.mentions:
        if len(split_tags(f"B-{label}")) > 1:
            raise FormatError(where, f"label {label!r} looks like two tags; write bracket, jsonl or spacy instead")
        while taken and taken[0][0] <= start:
            heappush(free, heappop(taken)[1])
        if not free:
            if len(columns) == MAX_LAYERS:
                reason = f"mentions are nested more than {MAX_LAYERS:,} deep; write bracket, jsonl or spacy instead"
                raise FormatError(where, reason)
            heappush(free, len(columns))
            columns.append(["O"] * len(sentence.words))
        number = heappop(free)
        columns[number][start:end] = [f"B-{label}"] + [f"I-{label}"] * (end - start - 1)
        heappush(taken, (end, number))
    return columns
