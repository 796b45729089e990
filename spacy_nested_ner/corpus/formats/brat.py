"""brat standoff: a text in a `.txt` file, and its mentions by characters in an `.ann` file.

Every line of the text is a sentence, as brat shows it. A mention in several fragments is not kept, unless there is only
whitespace between them, as brat writes a mention that continues on the next line. Relations, events, attributes, notes
and the like are counted and left out.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from spacy.tokens import Doc

from ...annotation import mentions_of, sentence_bounds
from ...decoders.mention import Mention
from ..conversion_report import ConversionReport, FormatError, shown
from ..documents import Record, Settings
from ..files import NUMBER, Line, place, read_lines
from ._offsets import doc_from_text

_IGNORED = {
    "R": "relations",
    "E": "events",
    "A": "attributes",
    "M": "attributes",
    "N": "normalizations",
    "#": "notes",
    "*": "equivalences",
}
_MENTION = re.compile(rf"(\S+) ({NUMBER} {NUMBER}(?:;{NUMBER} {NUMBER})*)")
_SINGLE_BREAK = re.compile(r"(?<=\S)\n(?=\S)")


def read(path: Path, settings: Settings, report: ConversionReport) -> Iterator[Record]:
    """Read the one document of a pair of files. `path` is either of the two."""
    text_path, mentions_path = path.with_suffix(".txt"), path.with_suffix(".ann")
    if not mentions_path.exists():
        report.lose("texts without an .ann file", str(text_path))
        return
    with report.tolerating():
        text = _read_text(text_path, mentions_path)
        starts = [found.end() for found in re.finditer(r"\n\s*", text)] if settings.line_sentences else None
        # spaCy makes a token of a line break, but not of a single space.
        flat = _SINGLE_BREAK.sub(" ", text)
        mentions = _mentions(mentions_path, text, report)
        where = str(text_path)
        yield Record(doc_from_text(flat, mentions, settings, report, where, sent_starts=starts), where)


def _read_text(path: Path, mentions_path: Path) -> str:
    """The text without the line break at its end."""
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise FormatError(str(mentions_path), f"there is no {path.name} next to it, for the text") from None
    except UnicodeDecodeError as error:
        raise FormatError(str(path), f"byte {error.start} is not UTF-8; save the file as UTF-8") from None
    return text.removesuffix("\n").removesuffix("\r")


def _mentions(path: Path, text: str, report: ConversionReport) -> Iterator[tuple[Mention, str]]:
    for line in read_lines(path):
        where = place(path, line.number)
        kind = line.text[:1]
        if kind in _IGNORED:
            report.lose(_IGNORED[kind], where)
        elif line.text.strip():
            with report.tolerating():
                mention = parse(line, path, text)
                if mention is None:
                    report.lose("mentions in several fragments", f"{where}: {line.text}")
                else:
                    yield mention, where


def parse(line: Line, path: Path, text: str) -> Mention | None:
    """The mention by characters in a line of an .ann file; None if it is in several fragments."""
    where = place(path, line.number)
    name, body, said = [*line.text.split("\t", 2), "", ""][:3]
    found = _MENTION.fullmatch(body)
    if not name.startswith("T") or not found:
        raise FormatError(where, f"{shown(line.text)} is not a mention; expected 'T1<tab>LABEL start end<tab>text'")
    fragments = [tuple(map(int, fragment.split())) for fragment in found[2].split(";")]
    for start, end in fragments:
        if not start < end <= len(text):
            reason = f"{name} is at {start} {end}; expected start < end <= {len(text)}, the length of the text"
            raise FormatError(where, reason)
    written = " ".join(text[start:end] for start, end in fragments)
    if said and said.split() != written.split():
        raise FormatError(
            where, f"{name} says {shown(said)}, but the text there is {shown(written)}; correct the numbers"
        )
    for (_, end), (start, _) in pairwise(fragments):
        if start < end or text[end:start].strip():
            return None
    return Mention(fragments[0][0], fragments[-1][1], found[1])


def write(records: Iterable[Record], path: Path, settings: Settings, report: ConversionReport) -> None:
    """Write one numbered pair of files per document into the folder `path`; or, if `path` ends in .ann or .txt, one
    document into one pair."""
    one = path.suffix in (".ann", ".txt")
    if not one:
        path.mkdir()
    written = 0
    for record in records:
        if one and written:
            raise FormatError(record.where, f"a second document does not fit in {path.name}; write to a folder instead")
        with report.tolerating():
            text, annotation = render(record, settings, report)
            target = path if one else path / f"{written + 1:05d}.txt"
            target.with_suffix(".txt").write_bytes(text.encode("utf-8"))
            target.with_suffix(".ann").write_bytes(annotation.encode("utf-8"))
            written += 1


def render(record: Record, settings: Settings, report: ConversionReport) -> tuple[str, str]:
    """The contents of the .txt file and of the .ann file of a document."""
    doc, where = record
    text, starts = _lines_of_text(doc, report, where)
    lines = []
    for n, (first, after, label) in enumerate(mentions_of(doc, settings.spans_key), 1):
        if re.search(r"\s", label):
            raise FormatError(where, f"label {label!r} contains whitespace; write bracket, jsonl or spacy instead")
        start, end = starts[first], starts[after - 1] + len(doc[after - 1])
        if not text[start:end].strip():  # brat refuses it
            report.lose("mentions of only whitespace", f"{where}: {label} {first}:{after}")
            continue
        # A fragment cannot contain a line break.
        pieces = [(start + found.start(), start + found.end()) for found in re.finditer(r"[^\n]+", text[start:end])]
        numbers = ";".join(f"{a} {b}" for a, b in pieces)
        said = " ".join(text[a:b].replace("\r", " ") for a, b in pieces)
        lines.append(f"T{n}\t{label} {numbers}\t{said}\n")
    return text + "\n", "".join(lines)


def _lines_of_text(doc: Doc, report: ConversionReport, where: str) -> tuple[str, list[int]]:
    """The text with one sentence per line, and the place of every token in it."""
    sentence_starts = {start for start, _ in sentence_bounds(doc) if start > 0}
    parts: list[str] = []
    places: list[int] = []
    reached = 0
    for token in doc:
        words, space = token.text, token.whitespace_
        if token.i + 1 in sentence_starts:
            if not space and not words.endswith("\n"):
                report.lose("sentences with no space between them (now a line break)", where)
            space = "" if words.endswith("\n") and not space else "\n"
        elif "\n" in words:
            report.lose("line breaks inside a sentence (now the end of a sentence)", where)
        places.append(reached)
        parts += [words, space]
        reached += len(words) + len(space)
    return "".join(parts), places
