"""Index format, of the ACE and GENIA preparation scripts of the literature.

Words; a line of part-of-speech tags, which may be missing and is not kept; the mentions as
`start,end label|start,end label`, the end not included; a blank line. The format knows
sentences but no documents: every sentence is one.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ...decoders.mention import Mention
from ..documents import Record, Sentence, Settings, drop_whitespace, group_sentences, sentences_of
from ..files import BLANK, Line, place, read_paragraphs
from ..report import ConversionReport, FormatError

_WORD = re.compile(r"[^ \t\r]+")
_MENTION = re.compile(r"(\d+),(\d+) +([^ \t\r|]+)")
_LOOKS_LIKE_MENTIONS = re.compile(r"\d+,\d+\b")


def read(path: Path, settings: Settings, report: ConversionReport) -> Iterator[Record]:
    """The sentences of a file, each a document."""
    return group_sentences(_sentences(path, report), path, settings, report)


def _sentences(path: Path, report: ConversionReport) -> Iterator[tuple[int, Sentence | None]]:
    for lines in read_paragraphs(path):
        with report.tolerating():
            yield lines[0].number, parse(lines, path, report)
        yield lines[-1].number, None


def parse(lines: list[Line], path: Path, report: ConversionReport) -> Sentence:
    """The lines of a sentence."""
    words = _WORD.findall(lines[0].text)
    others = lines[1:]
    if others and not _LOOKS_LIKE_MENTIONS.match(others[0].text):
        tags = others.pop(0)
        where = place(path, tags.number)
        n_tags = len(_WORD.findall(tags.text))
        if n_tags != len(words):
            expected = f"expected mentions, as in '0,2 PER|1,2 GPE', or a tag for each of {len(words)} words"
            raise FormatError(where, f"{tags.text!r}: {expected}")
        report.lose("lines of part-of-speech tags", where)
    if len(others) > 1:
        reason = "a fourth line with no blank line before it; expected words, tags, mentions and a blank line"
        raise FormatError(place(path, others[1].number), reason)
    return Sentence(words, [mention for line in others for mention in _mentions(line, path, len(words))])


def _mentions(line: Line, path: Path, n_words: int) -> Iterator[Mention]:
    where = place(path, line.number)
    for item in line.text.split("|"):
        found = _MENTION.fullmatch(item.strip(BLANK))
        if not found:
            raise FormatError(where, f"{item!r} is no mention; expected start,end label, as in '0,2 PER'")
        start, end = int(found[1]), int(found[2])
        if not start < end <= n_words:
            reason = f"mention {item!r} of {n_words} words; expected start < end <= {n_words}, the end not included"
            raise FormatError(where, reason)
        yield Mention(start, end, found[3])


def write(records: Iterable[Record], path: Path, settings: Settings, report: ConversionReport) -> None:
    """Three lines a sentence: words, mentions, blank."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for record in records:
            with report.tolerating():
                plain = [drop_whitespace(s, report, record.where) for s in sentences_of(record, settings, report)]
                lines = [render(sentence, record.where) for sentence in plain if sentence.words]
                file.writelines(lines)
                if len(lines) > 1:
                    report.lose("which sentences make a document", record.where)


def render(sentence: Sentence, where: str = "text") -> str:
    """A sentence as it stands in a file."""
    for text in [*sentence.words, *(mention.label for mention in sentence.mentions)]:
        if any(character in text for character in BLANK + "\n"):
            raise FormatError(where, f"{text!r} has white space in it; write bracket, jsonl or spacy instead")
    for mention in sentence.mentions:
        if "|" in mention.label:
            raise FormatError(where, f"label {mention.label!r} has '|' in it; write bracket, jsonl or spacy instead")
    mentions = "|".join(f"{start},{end} {label}" for start, end, label in sentence.mentions)
    return f"{' '.join(sentence.words)}\n{mentions}\n\n"
