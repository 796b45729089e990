"""Index format, which published scripts that prepare ACE and GENIA write.

A sentence is a line of words, a line of part-of-speech tags, which may be missing and is not kept, a line of mentions,
`start,end label|start,end label`, the end not included, and a blank line. The format has no documents: every sentence
becomes one.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ...decoders.mention import Mention
from ..conversion_report import ConversionReport, FormatError, shown
from ..documents import Record, Sentence, Settings, group_sentences, visible_sentences
from ..files import BLANK, BYTE_ORDER_MARK, NUMBER, Line, place, read_paragraphs

_WORD = re.compile(r"[^ \t\r]+")
_MENTION = re.compile(rf"({NUMBER}),({NUMBER}) +([^ \t\r|]+)")
_LOOKS_LIKE_MENTIONS = re.compile(r"-?\d+,")


def read(path: Path, settings: Settings, report: ConversionReport) -> Iterator[Record]:
    """Read the sentences of a file, each as a document."""
    return group_sentences(_sentences(path, report), path, settings, report)


def _sentences(path: Path, report: ConversionReport) -> Iterator[tuple[int, Sentence | None]]:
    for lines in read_paragraphs(path):
        with report.tolerating():
            yield lines[0].number, parse(lines, path, report)
        yield lines[-1].number, None


def parse(lines: list[Line], path: Path, report: ConversionReport) -> Sentence:
    """The sentence in some lines."""
    words = _WORD.findall(lines[0].text)
    others = lines[1:]
    if others and not _LOOKS_LIKE_MENTIONS.match(others[0].text):
        tags = others.pop(0)
        where = place(path, tags.number)
        n_tags = len(_WORD.findall(tags.text))
        if n_tags != len(words):
            expected = f"expected mentions, as in '0,2 PER|1,2 GPE', or a tag for each of {len(words)} words"
            raise FormatError(where, f"{shown(tags.text)}: {expected}")
        report.lose("lines of part-of-speech tags", where)
    if len(others) > 1:
        reason = "the line after the mentions is not blank; expected words, tags, mentions and a blank line"
        raise FormatError(place(path, others[1].number), reason)
    return Sentence(words, [mention for line in others for mention in _mentions(line, path, len(words))])


def _mentions(line: Line, path: Path, n_words: int) -> Iterator[Mention]:
    where = place(path, line.number)
    for item in line.text.split("|"):
        found = _MENTION.fullmatch(item.strip(BLANK))
        if not found:
            raise FormatError(where, f"{shown(item)} is not a mention; expected start,end label, as in '0,2 PER'")
        start, end = int(found[1]), int(found[2])
        if not start < end <= n_words:
            expected = f"expected start < end <= {n_words}, the end not included"
            raise FormatError(where, f"mention {item!r} is not a span of {n_words} words; {expected}")
        yield Mention(start, end, found[3])


def write(records: Iterable[Record], path: Path, settings: Settings, report: ConversionReport) -> None:
    """Write three lines per sentence: words, mentions, and a blank line."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for record in records:
            with report.tolerating():
                sentences = visible_sentences(record, settings, report)
                lines = [render(sentence, record.where) for sentence in sentences]
                if lines and not file.tell() and lines[0].startswith(BYTE_ORDER_MARK):
                    file.write(BYTE_ORDER_MARK)  # readers take the first one as a mark, not as text
                file.writelines(lines)
                if len(lines) > 1:
                    report.lose("which sentences form a document", record.where)


def render(sentence: Sentence, where: str = "text") -> str:
    """A sentence as lines."""
    for text in [*sentence.words, *(mention.label for mention in sentence.mentions)]:
        if any(character in text for character in BLANK + "\n"):
            raise FormatError(where, f"{text!r} contains whitespace; write bracket, jsonl or spacy instead")
    for mention in sentence.mentions:
        if "|" in mention.label:
            raise FormatError(where, f"label {mention.label!r} contains '|'; write bracket, jsonl or spacy instead")
    mentions = "|".join(f"{start},{end} {label}" for start, end, label in sentence.mentions)
    return f"{' '.join(sentence.words)}\n{mentions}\n\n"
