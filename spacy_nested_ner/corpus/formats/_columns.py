"""Columns of tags: how they are laid out in a file, by which scheme, and the mentions that they show."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from ...decoders.mention import Mention
from ..conversion_report import FormatError
from ..files import Line, place, read_paragraphs

_TAG = re.compile(r"O|[BIESLU]-.+")
# Between joined tags, not inside a label.
_JOINT = re.compile(r"\|(?=O(?:\||$)|[BIESLU]-)")
_SPACES = re.compile(r"[ \t]+")
_DOCUMENT = "-DOCSTART-"
# How many sentences are looked at to find the columns of tags.
_LOOKED_AT = 100
# What the chunks of CoNLL-2003 and its successors are called, in English and German.
_CHUNKS = set("NP VP PP ADJP ADVP SBAR PRT CONJP INTJ LST UCP NC VC PC AC".split())
# The prefixes that only one scheme has: for the last word of a mention, and for a single word.
_MARKS = {"E": "BIOES", "S": "BIOES", "L": "BILOU", "U": "BILOU"}
_LAST = {"BIOES": "E", "BILOU": "L"}
_SINGLE = {"BIOES": "S", "BILOU": "U"}
_EXPECTED = {
    "BIO": "O, B-LABEL or I-LABEL",
    "IOB1": "O, B-LABEL or I-LABEL",
    "BIOES": "O, B-LABEL, I-LABEL, E-LABEL or S-LABEL",
    "BILOU": "O, B-LABEL, I-LABEL, L-LABEL or U-LABEL",
}


@dataclass(frozen=True)
class Layout:
    """Which column is what, and how tags are to be understood.

    word (int): The column of the word: 1 if another one before it counts the words.
    first_tag (int): The first column of tags; all others follow.
    scheme (str): BIO, IOB1, BIOES or BILOU.
    joined (bool): A column may have several tags with | between them.
    """

    word: int = 0
    first_tag: int = 1
    scheme: str = "BIO"
    joined: bool = False

    @property
    def ignored(self) -> range:
        """The columns that are neither words nor tags."""
        return range(self.word + 1, self.first_tag)

    def __str__(self) -> str:
        return self.scheme + (", layers joined by |" if self.joined else "")


def columns_of(text: str) -> list[str]:
    """The columns of a line. LitBank ends lines with a tab; some tools write spaces instead of tabs."""
    return text.rstrip("\t").split("\t") if "\t" in text else _SPACES.split(text.strip(" "))


def split_tags(text: str) -> list[str]:
    """The tags that are joined in a column."""
    return _JOINT.split(text) if "|" in text else [text]


def is_heading(text: str) -> bool:
    """Whether a line begins a document: it starts with # and is not a word with its tags, or is CoNLL-2003's mark."""
    if text.startswith(_DOCUMENT):
        return True
    tags = columns_of(text)[1:] if text.startswith("#") else []
    return text.startswith("#") and not (tags and all(map(_TAG.fullmatch, tags)))


def divide(paragraph: list[Line]) -> tuple[list[Line], list[Line]]:
    """The lines that begin a document, and those of the sentence after them."""
    n_headings = next((i for i, line in enumerate(paragraph) if not is_heading(line.text)), len(paragraph))
    return paragraph[:n_headings], paragraph[n_headings:]


def looks_like_columns(lines: list[str]) -> bool:
    """Whether most lines end in a tag, and some tag is not O."""
    last = [columns_of(line)[-1] for line in lines if len(columns_of(line)) > 1]
    tags = [tag for tag in last if _TAG.fullmatch(tag)]
    return 2 * len(tags) >= len(lines) > 0 and any("-" in column for line in lines for column in columns_of(line)[1:])


def layout_of(path: Path) -> Layout:
    """How a file is laid out. All of it is read: what a tag means depends on the others."""
    first = [rows for rows, _ in islice(_sentences(path), _LOOKED_AT)]
    if not first:
        return Layout()
    word = 1 if _is_numbered(first[0]) else 0
    first_tag = _first_tag([columns_of(row.text) for rows in first for row in rows], word)
    survey = _Survey(path, first_tag)
    for rows, is_marked in _sentences(path):
        survey.add(rows)
        survey.may_be_iob1 |= is_marked
    survey.may_be_iob1 |= first_tag > word + 1
    return Layout(word, first_tag, survey.scheme(), survey.joined)


def _sentences(path: Path) -> Iterator[tuple[list[Line], bool]]:
    """The lines of each sentence, and whether CoNLL-2003's mark is above them."""
    is_marked = False
    for paragraph in read_paragraphs(path):
        is_marked = is_marked or paragraph[0].text.startswith(_DOCUMENT)
        _, rows = divide(paragraph)
        if rows:
            yield rows, is_marked


def _is_numbered(rows: list[Line]) -> bool:
    """Whether the first column counts the words; then the second one is not all tags."""
    columns = [[*columns_of(row.text), ""] for row in rows]
    counts = all(row[0] == str(i) for i, row in enumerate(columns, 1))
    return counts and not all(_TAG.fullmatch(row[1]) for row in columns)


def _first_tag(rows: list[list[str]], word: int) -> int:
    """The first column after the word in which at least half of the values are tags, and that are not chunks."""
    for number in range(word + 1, max(map(len, rows))):
        values = [row[number] for row in rows if len(row) > number]
        tags = [tag for value in values if _TAG.fullmatch(value) for tag in split_tags(value)]
        labels = {tag[2:] for tag in tags} - {""}
        is_chunks = number > word + 1 and labels and labels <= _CHUNKS
        if 2 * len(tags) >= len(values) and not is_chunks:
            return number
    return word + 1


class _Survey:
    """What the tags of a file show about their scheme.

    may_be_iob1 (bool): Mentions may begin with `I-`, if the tags show it.
    """

    def __init__(self, path: Path, first_tag: int) -> None:
        self.path = path
        self.first_tag = first_tag
        self.may_be_iob1 = False
        self.joined = False
        # Where each scheme was seen first, by its own prefixes.
        self._seen: dict[str, tuple[int, str]] = {}
        self._begins_with_i = self._needs_no_b = False

    def add(self, rows: list[Line]) -> None:
        above: list[str] = []
        for number, text in rows:
            columns = columns_of(text)[self.first_tag :]
            for i, column in enumerate(columns):
                tags = split_tags(column)
                self.joined = self.joined or len(tags) > 1
                for tag in tags:
                    if tag[:1] in _MARKS and _TAG.fullmatch(tag):
                        self._seen.setdefault(_MARKS[tag[0]], (number, tag))
                before = above[i][2:] if i < len(above) else ""
                self._begins_with_i |= column.startswith("I-") and column[2:] != before
                self._needs_no_b |= column.startswith("B-") and column[2:] != before
            self.may_be_iob1 = self.may_be_iob1 and len(columns) == 1
            above = columns

    def scheme(self) -> str:
        if len(self._seen) > 1:
            (number, tag), (other, other_tag) = self._seen["BIOES"], self._seen["BILOU"]
            reason = (
                f"{tag} is a tag of BIOES, but {other_tag} in line {other} is one of BILOU; use one scheme per file"
            )
            raise FormatError(place(self.path, number), reason)
        if self._seen:
            return next(iter(self._seen))
        # In IOB1, B- only separates a mention from one before it with the same label.
        is_iob1 = self.may_be_iob1 and self._begins_with_i and not self._needs_no_b
        return "IOB1" if is_iob1 else "BIO"


def read_tags(column: Sequence[str], rows: list[Line], path: Path, layout: Layout) -> Iterator[Mention]:
    """The mentions that a column of a sentence shows.

    column (Sequence[str]): One tag per word, or several that are joined.
    rows (list[Line]): The lines of the words, for messages.
    """
    scheme = layout.scheme
    # Mentions that may go on, each at the place that its tag had among the joined ones.
    going_on: list[_Begun | None] = []
    for i, (text, row) in enumerate(zip(column, rows)):
        waiting, going_on = going_on, []
        for n, tag in enumerate(split_tags(text) if layout.joined else [text]):
            if not _TAG.fullmatch(tag) or _MARKS.get(tag[0], scheme) != scheme:
                raise FormatError(place(path, row.number), f"tag {tag!r}: expected {_EXPECTED[scheme]}")
            mark, label = tag[0], tag[2:]
            begun: _Begun | None = None
            if mark == "I" or mark == _LAST.get(scheme):
                begun = _take(waiting, n, label)
                if begun is None and scheme != "IOB1":
                    above = column[i - 1] if i else "nothing"
                    reason = f"{tag} follows {above} in its column; a mention begins with B-{label}"
                    raise FormatError(place(path, row.number), reason)
            begun = begun or (None if mark == "O" else _Begun(i, label))
            if begun and mark in (_LAST.get(scheme), _SINGLE.get(scheme)):
                yield Mention(begun.start, i + 1, label)
                begun = None
            going_on.append(begun)
        yield from _ended(waiting, i, rows, path, scheme)
    yield from _ended(going_on, len(column), rows, path, scheme)


class _Begun(NamedTuple):
    """A mention whose end is not known yet."""

    start: int
    label: str


def _take(waiting: list[_Begun | None], n: int, label: str) -> _Begun | None:
    """Remove the mention that a tag continues: the one at the same place, or else the outermost with its label."""
    for slot in chain([n], range(len(waiting))):
        begun = waiting[slot] if slot < len(waiting) else None
        if begun and begun.label == label:
            waiting[slot] = None
            return begun
    return None


def _ended(waiting: Iterable[_Begun | None], end: int, rows: list[Line], path: Path, scheme: str) -> Iterator[Mention]:
    """The mentions that do not go on."""
    for begun in waiting:
        if begun and scheme in _LAST:
            last, single = (f"{marks[scheme]}-{begun.label}" for marks in (_LAST, _SINGLE))
            reason = f"the mention {begun.label} does not end with {last}, as in {scheme}; a single word has {single}"
            raise FormatError(place(path, rows[end - 1].number), reason)
        if begun:
            yield Mention(begun.start, end, begun.label)
