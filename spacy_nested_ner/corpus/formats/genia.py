"""GENIA 3.02, prepared as in the literature (Shibuya and Hovy, 2020). Read-only.

There are five labels. A `<cons>` element becomes a mention with the first of them for which `G#label` occurs anywhere
in its `sem` attribute, coordinations included. Other elements are left out, and so are exact repetitions. An article is
a document, or two documents if the standard split divides it.

Words are roughly those of the Penn Treebank, and they end where mentions do. Whitespace separates them. Quotes are
split off, and so are commas, semicolons, colons, question marks and exclamation marks at the end of a word, commas
between letters, the period at the end of a sentence, and a bracket at either end of a word whose partner is not inside
the word: `(IL-2)` is three words, `10(-7)` and `(IL)-2` are one. Hyphens and slashes are not split off.
"""

import gzip
import re
import tarfile
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ...decoders.mention import Mention
from ..conversion_report import ConversionReport, FormatError
from ..documents import Record, Sentence, Settings, join_sentences
from ._offsets import Edges
from ._sample import Sample
from ._untrusted import Limited, WithoutEntities

LABELS = ("DNA", "RNA", "protein", "cell_line", "cell_type")
# The standard split: how many sentences are for training, development and test.
SPLIT = (15_022, 1_669, 1_855)
# The name of the corpus in its authors' archive, which also holds style sheets and a license.
CORPUS = "GENIAcorpus3.02.xml"

_BRACKETS = ("()", "[]", "{}")
_LETTER_COMMA = re.compile(r"(?<=[^\W\d]),(?=[^\W\d])")


def read(path: Path, settings: Settings, report: ConversionReport) -> Iterator[Record]:
    """Read the articles of an XML file, which may be compressed with gzip, or of its authors' archive."""
    borders = {SPLIT[0], SPLIT[0] + SPLIT[1]}
    n = 0
    for article in _articles(path, settings.max_bytes):
        name = article.findtext(".//bibliomisc", default="article")
        parts: list[list[Sentence]] = [[]]
        for element in article.iter("sentence"):
            n += 1
            with report.tolerating():
                parts[-1].append(parse(element, report, f"{path}, sentence {n} ({name})"))
            if n in borders:
                parts.append([])
        for sentences in filter(None, parts):
            where = f"{path}, {name}"
            yield Record(join_sentences(sentences, settings, report, where), where)


def recognizes(sample: Sample) -> bool:
    """Whether there are articles as in GENIA."""
    return "<cons" in sample.text or ("<set>" in sample.text and "<article>" in sample.text)


def _articles(path: Path, max_bytes: int) -> Iterator[ElementTree.Element]:
    with _opened(path, max_bytes) as file:
        root = None
        try:
            for event, element in ElementTree.iterparse(WithoutEntities(file, path), events=("start", "end")):
                root = element if root is None else root
                if event == "end" and element.tag == "article":
                    yield element
                    root.clear()  # otherwise all articles stay in memory
        except ElementTree.ParseError as error:
            raise FormatError(f"{path}, line {error.position[0]}", f"not well-formed XML: {error}") from None
        except (EOFError, gzip.BadGzipFile, tarfile.ReadError, zlib.error) as error:
            raise FormatError(str(path), f"not a complete gzip file: {error}; download it again") from None


@contextmanager
def _opened(path: Path, max_bytes: int) -> Iterator[Any]:
    suffix = path.suffix.lower()
    if suffix not in (".gz", ".tgz"):
        with path.open("rb") as file:
            yield file
        return
    with gzip.open(path) as compressed:
        plain = Limited(compressed, path, max_bytes)
        yield plain if suffix == ".gz" else _corpus_in(plain, path)


def _corpus_in(file: Any, path: Path) -> Any:
    """The corpus in an archive, which is read from one end to the other and never unpacked."""
    names = []
    try:
        for member in (archive := tarfile.open(fileobj=file, mode="r|")):  # noqa: SIM115 - it only reads `file`
            if member.isfile() and Path(member.name).name == CORPUS:
                return archive.extractfile(member)
            names += [member.name] if member.isfile() else []
    except (tarfile.ReadError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise FormatError(str(path), f"not a complete archive: {error}; download it again") from None
    raise FormatError(str(path), f"the archive has {', '.join(names) or 'no file'}; expected {CORPUS} in it")


def parse(element: ElementTree.Element, report: ConversionReport, where: str) -> Sentence:
    """The sentence in a <sentence> element."""
    text, constituents = _flatten(element)
    mentions: set[Mention] = set()
    for start, end, sem in constituents:
        label = next((label for label in LABELS if f"G#{label}" in sem), None)
        if label is None:
            report.lose("elements of other classes", f"{where}: {sem or 'no class'} {text[start:end]!r}")
        elif not text[start:end].strip():
            raise FormatError(where, f"a <cons> element of class {sem} has no words")
        elif (start, end, label) in mentions:
            report.lose("repeated mentions (same span and label)", f"{where}: {label} {text[start:end]!r}")
        else:
            mentions.add(Mention(start, end, label))
    words = tokenize(text, {edge for start, end, _ in mentions for edge in (start, end)})
    starts, ends = [start for start, _ in words], [end for _, end in words]
    followed = set(starts)
    return Sentence(
        [text[start:end] for start, end in words],
        [Mention(bisect_left(starts, start), bisect_right(ends, end), label) for start, end, label in mentions],
        [end not in followed for end in ends],
    )


def _flatten(element: ElementTree.Element) -> tuple[str, list[tuple[int, int, str]]]:
    """The text of an element, and the characters and classes of the <cons> elements in it."""
    parts = [element.text or ""]
    length = len(parts[0])
    constituents: list[tuple[int, int, str]] = []
    # Every open element with where it begins and its children to come. No recursion: anyone can nest elements deeply.
    open_ones = [(element, 0, iter(element))]
    while True:
        parent, start, children = open_ones[-1]
        child = next(children, None)
        if child is not None:
            open_ones.append((child, length, iter(child)))
            text = child.text or ""
        else:
            open_ones.pop()
            if not open_ones:
                return "".join(parts), constituents
            if parent.tag == "cons":
                constituents.append((start, length, parent.get("sem", "")))
            text = parent.tail or ""
        parts.append(text)
        length += len(text)


def tokenize(text: str, edges: Collection[int] = ()) -> list[Edges]:
    """The words of a sentence by characters.

    edges (Collection[int]): Places where a word must end.
    """
    borders = sorted({0, len(text), *edges})
    pieces = [
        (low + found.start(), low + found.end())
        for low, high in pairwise(borders)
        for found in re.finditer(r"\S+", text[low:high])
    ]
    return [word for piece in pieces for word in _words(text, *piece, is_last=piece == pieces[-1])]


def _words(text: str, start: int, end: int, *, is_last: bool) -> list[Edges]:
    """The words of a piece of text that contains no whitespace."""
    before: list[Edges] = []
    after: list[Edges] = []
    brackets = _Brackets(text, start, end)
    while end - start > 1:
        if text[start] == '"' or brackets.is_lonely_start(start, end):
            before.append((start, start + 1))
            start += 1
        elif text[end - 1] in ',;:?!"' or (is_last and text[end - 1] == ".") or brackets.is_lonely_end(start, end):
            after.append((end - 1, end))
            end -= 1
        else:
            break
    commas = [start + found.start() for found in _LETTER_COMMA.finditer(text[start:end])]
    cuts = [start, *(cut for comma in commas for cut in (comma, comma + 1)), end]
    return [*before, *pairwise(cuts), *reversed(after)]


class _Brackets:
    """The partners of the brackets in a piece of text: where there are as many open brackets of one kind as before.

    Found once for the whole piece, in linear time. A closing bracket may be the partner of an opening one after it.
    """

    def __init__(self, text: str, start: int, end: int) -> None:
        self._is_bracket: set[int] = set()
        self._next: dict[int, int] = {}
        self._previous: dict[int, int] = {}
        for kind in _BRACKETS:
            level = 0
            last_at = {}
            for place in (i for i in range(start, end) if text[i] in kind):
                self._is_bracket.add(place)
                last_at[level] = place
                level += 1 if text[place] == kind[0] else -1
                partner = last_at.get(level)
                if partner is not None:
                    self._next.setdefault(partner, place)
                    self._previous[place] = partner

    def is_lonely_start(self, start: int, end: int) -> bool:
        """Whether the first character is a bracket that has its partner at the end, or none."""
        partner = self._next.get(start, end)
        return start in self._is_bracket and (partner >= end or partner == end - 1)

    def is_lonely_end(self, start: int, end: int) -> bool:
        """Whether the last character is a bracket that has its partner at the start, or none."""
        partner = self._previous.get(end - 1, start - 1)
        return end - 1 in self._is_bracket and (partner < start or partner == start)
