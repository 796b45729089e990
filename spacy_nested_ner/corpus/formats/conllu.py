"""CoNLL-U with `Entity=`, mentions in the last column, as in GUM, CorefUD and other treebanks.

`Entity=(person-1(place-2)` opens a person and has a place of one word inside it; `Entity=person-1)` closes the person.
The comment `# global.Entity = GRP-etype-…` says what is between the hyphens, and which part is the label: `etype`,
`entity` or `type`. Without the comment, the label is the first part that is not a number. A closing bracket has the
whole name or the group of the mention. In all parts, `%2D` is a hyphen, and other characters are written likewise.

`# newdoc` begins a document. Words are the syntactic words; `SpaceAfter=No` is kept. Everything else, such as lemmas,
trees and empty nodes, is left out. Mentions in several parts or of empty nodes only, as in CorefUD, are counted and not
kept.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import conllu
from conllu.exceptions import ParseException

from ...decoders.mention import Mention
from ..conversion_report import ConversionReport, FormatError, shown
from ..documents import Record, Sentence, Settings, group_sentences, visible_sentences
from ..files import NUMBER, Line, place, read_paragraphs
from ._sample import Sample, content_lines

_LABELS = ("etype", "entity", "type")
_ROW = re.compile(rf"{NUMBER}(?:[-.]{NUMBER})?\t[^\t]+(?:\t[^\t]*){{8}}")
# A mention that opens, and may close at the same word; or one that closes.
_BRACKET = re.compile(r"\(([^()]+)(\))?|([^()]+)\)")
_PART = re.compile(r"\[\d+/\d+\]")
_UNSAFE = re.compile(r"[%()|=\-\s\[\]]")
_UNWRITABLE = re.compile(r"[\t\r\n]|  |^ | $")


class _Open(NamedTuple):
    """A mention that is not closed yet.

    names (set[str]): What may close it.
    label (str): Empty if it is not to be kept.
    """

    names: set[str]
    start: int
    label: str


def read(path: Path, settings: Settings, report: ConversionReport) -> Iterator[Record]:
    """Read the documents of a file."""
    return group_sentences(_sentences(path, report), path, settings, report)


def recognizes(sample: Sample) -> bool:
    """Whether there are lines of ten columns."""
    lines = [line for line in content_lines(sample) if not line.startswith("#")]
    return 2 * sum(_ROW.fullmatch(line) is not None for line in lines) > len(lines)


def _sentences(path: Path, report: ConversionReport) -> Iterator[tuple[int, Sentence | None]]:
    fields: list[str] = []
    for paragraph in read_paragraphs(path):
        where = place(path, paragraph[0].number)
        with report.tolerating():
            for tokens in _tokens(paragraph, where):
                if any(name.split()[0] == "newdoc" for name in tokens.metadata):
                    yield paragraph[0].number, None
                fields = (tokens.metadata.get("global.Entity") or "-".join(fields)).split("-")
                if tokens:
                    yield paragraph[0].number, parse(tokens, fields, report, where)


def _tokens(paragraph: list[Line], where: str) -> list[conllu.TokenList]:
    """The sentence in some lines, as the library reads it; none if there are only comments."""
    for line in paragraph:
        if not line.text.startswith("#") and not _ROW.fullmatch(line.text):
            raise FormatError(
                where, f"{shown(line.text)} in line {line.number}; expected ten columns with tabs between them"
            )
    try:
        return conllu.parse("\n".join(line.text for line in paragraph))
    except (ParseException, ValueError) as error:  # ValueError: a number of thousands of digits
        raise FormatError(where, f"not CoNLL-U: {error}") from None


def parse(tokens: conllu.TokenList, fields: list[str], report: ConversionReport, where: str) -> Sentence:
    """A sentence.

    fields (list[str]): What is between the hyphens of an entity; empty if that is unknown.
    """
    words: list[str] = []
    spaces: list[bool] = []
    mentions: list[Mention] = []
    open_ones: list[_Open] = []
    last, space_at_last = 0, True  # the last word of a longer token, and whether a space follows it
    for token in tokens:
        has_space = (token["misc"] or {}).get("SpaceAfter") != "No"
        if isinstance(token["id"], int):
            if token["id"] <= last:
                has_space = space_at_last and token["id"] == last
            words.append(token["form"])
            spaces.append(has_space)
        elif token["id"][1] == "-":
            last, space_at_last = token["id"][2], has_space
            continue
        value = (token["misc"] or {}).get("Entity") or ""
        # A mention that begins at an empty node begins at the word after it.
        begin = len(words) - isinstance(token["id"], int)
        _read_brackets(value, begin, len(words), open_ones, mentions, fields, report, where)
    if open_ones:
        name = max(open_ones[-1].names, key=len)
        reason = f"the mention {name} that begins at word {open_ones[-1].start + 1} is not closed in its sentence"
        raise FormatError(where, reason)
    return Sentence(words, mentions, spaces)


def _read_brackets(
    value: str,
    begin: int,
    end: int,
    open_ones: list[_Open],
    mentions: list[Mention],
    fields: list[str],
    report: ConversionReport,
    where: str,
) -> None:
    """Open and close mentions at a word, or at an empty node.

    begin, end (int): Where mentions begin that open, and end that close.
    """
    if _BRACKET.sub("", value):
        raise FormatError(
            where, f"{shown(f'Entity={value}')} at word {end}; expected brackets, as in (person-1(place-2)"
        )
    for name, closes, closed in _BRACKET.findall(value):
        if name:
            open_ones.append(_open(name, begin, fields, report, where))
        if closes or closed:
            one = _close(closed or name, open_ones)
            if one is None:
                raise FormatError(
                    where, f"{shown(f'Entity={value}')} at word {end} closes {shown(closed)}, which is not open"
                )
            if one.label and one.start < end:
                mentions.append(Mention(one.start, end, one.label))
            elif one.label:
                report.lose("mentions of empty nodes only", f"{where}: {closed or name}")


def _open(name: str, start: int, fields: list[str], report: ConversionReport, where: str) -> _Open:
    parts = name.split("-")
    position = next((fields.index(field) for field in _LABELS if field in fields), None)
    if position is None and fields == [""]:
        position = 1 if parts[0].isdigit() and len(parts) > 1 else 0
    label = unquote(parts[position]) if position is not None and position < len(parts) else ""
    if _PART.search(name):
        report.lose("mentions in several parts", f"{where}: {name}")
        label = ""
    elif not label:
        report.lose("mentions without a type", f"{where}: {name}")
    return _Open({name, *parts[:2], "-".join(parts[:2])} - {""}, start, label)


def _close(name: str, open_ones: list[_Open]) -> _Open | None:
    """Remove the innermost mention of that name."""
    for i in reversed(range(len(open_ones))):
        if name in open_ones[i].names:
            return open_ones.pop(i)
    return None


def write(records: Iterable[Record], path: Path, settings: Settings, report: ConversionReport) -> None:
    """Write words, spaces, sentences, documents and mentions; all other columns are empty."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for n, record in enumerate(records, 1):
            with report.tolerating():
                sentences = visible_sentences(record, settings, report, spaced=True)
                parts = [render(sentence, record.where) for sentence in sentences]
                if parts:
                    file.write(f"# newdoc id = document-{n}\n# global.Entity = eid-etype\n")
                    file.writelines(parts)


def render(sentence: Sentence, where: str = "text") -> str:
    """A sentence as lines."""
    for word in sentence.words:
        if _UNWRITABLE.search(word):
            raise FormatError(where, f"{word!r} contains whitespace; write bracket, jsonl or spacy instead")
    spaces = sentence.spaces or [True] * len(sentence.words)
    opening: list[list[str]] = [[] for _ in sentence.words]
    single: list[list[str]] = [[] for _ in sentence.words]
    closing: list[list[str]] = [[] for _ in sentence.words]
    for n, (start, end, label) in enumerate(sentence.mentions, 1):
        name = f"(e{n}-{_quote(label)}"
        if end == start + 1:
            single[start].append(f"{name})")
        else:
            opening[start].append(name)
            closing[end - 1].append(f"e{n})")
    text = "".join(word + " " * space for word, space in zip(sentence.words, spaces))
    lines = [f"# text = {text.rstrip(' ')}\n"]
    for i, word in enumerate(sentence.words):
        # A bracket that closes must not follow one that opens: they could not be told apart.
        inner = single[i] + closing[i][::-1]
        entity = "".join(inner + opening[i] if closing[i] else opening[i] + inner)
        misc = [f"Entity={entity}"] * bool(entity) + ["SpaceAfter=No"] * (not spaces[i])
        columns = [str(i + 1), word, *["_"] * 7, "|".join(misc) or "_"]
        lines.append("\t".join(columns) + "\n")
    return "".join([*lines, "\n"])


def _quote(label: str) -> str:
    """A label without the characters that have a meaning in the column."""
    return _UNSAFE.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), label)
