r"""Bracket notation, easy to read and write by hand: `[PER Fabian from [GPE Bonn , [GPE Germany]]]`.

One sentence per line, with spaces between words. `[LABEL` opens a mention; `]` at the end of its last word closes it.
A blank line begins a new document; lines that start with `# ` are comments. In a word, `\[`, `\]`, `\\` and `\#` are
these characters, and `\uXXXX` is any other character that is not allowed there: a space inside a word is `\u0020`.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ...decoders.brackets import bracket_words, separate_crossing
from ...decoders.mention import Mention
from ..conversion_report import ConversionReport, FormatError, shown
from ..documents import Record, Sentence, Settings, group_sentences, sentences_of
from ..files import BLANK, place, read_lines
from ._sample import Sample, content_lines

_PIECE = re.compile(r"[^ \t\r]+")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.|$)", re.DOTALL)
_SPECIAL = re.compile(r"[\[\]\\]")
# What separates words and lines, and the byte order mark, which a reader removes from the start of a file.
_UNSEEN = re.compile(r"[ \t\r\n\ufeff]")


def read(path: Path, settings: Settings, report: ConversionReport) -> Iterator[Record]:
    """Read the documents of a file."""
    return group_sentences(_sentences(path, report), path, settings, report)


def recognizes(sample: Sample) -> bool:
    """Whether there are mentions in brackets, and nearly all brackets are right."""
    good = bad = mentions = 0
    for line in content_lines(sample):
        if "[" in line or "]" in line:
            try:
                mentions += len(parse(line).mentions)
                good += 1
            except FormatError:
                bad += 1
    return mentions > 0 and good >= bad


def _sentences(path: Path, report: ConversionReport) -> Iterator[tuple[int, Sentence | None]]:
    for number, text in read_lines(path):
        if not text.strip(BLANK):
            yield number, None
        elif not (text.startswith("# ") or text == "#"):
            with report.tolerating():
                yield number, parse(text, place(path, number))


def parse(text: str, where: str = "text") -> Sentence:
    """The sentence in a line."""
    words: list[str] = []
    mentions: list[Mention] = []
    open_ones: list[tuple[int, str]] = []
    for piece in _PIECE.findall(text):
        if piece.startswith("["):
            label = _unescape(piece[1:], where)
            if not label:
                raise FormatError(where, r"'[' has no label; write [LABEL, or \[ for a bracket that is a word")
            open_ones.append((len(words), label))
            continue
        body, closings = _split_closings(piece)
        if body:
            words.append(_unescape(body, where))
        for _ in range(closings):
            if not open_ones:
                raise FormatError(
                    where, rf"']' after {shown(piece)} closes nothing; write \] for a bracket that is text"
                )
            start, label = open_ones.pop()
            if start == len(words):
                raise FormatError(where, f"the mention {label} has no words; write [{label} word]")
            mentions.append(Mention(start, len(words), label))
    if open_ones:
        start, label = open_ones[-1]
        raise FormatError(where, f"the mention {label} that begins before word {start + 1} is not closed; add ']'")
    return Sentence(words, mentions)


def write(records: Iterable[Record], path: Path, settings: Settings, report: ConversionReport) -> None:
    """Write one sentence per line, and blank lines between documents."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        begun = False
        for record in records:
            lines = [render(sentence, report, record.where) for sentence in sentences_of(record, settings, report)]
            if lines:
                file.write("\n" * begun + "\n".join(lines) + "\n")
                begun = True


def render(sentence: Sentence, report: ConversionReport, where: str = "text") -> str:
    """A sentence as a line. Mentions that cross an earlier one are left out and reported."""
    kept, crossing = separate_crossing(sentence.mentions)
    for mention in crossing:
        text = " ".join(sentence.words[mention.start : mention.end])
        report.lose("mentions that cross another", f"{where}: {mention.label} {text!r}")
    return " ".join(bracket_words(sentence.words, kept, escape=escape))


def escape(text: str) -> str:
    """A word or a label as it is written in a file."""
    if text == "#":  # at the start of a line it would begin a comment
        return r"\#"
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", _SPECIAL.sub(r"\\\g<0>", text))


def _split_closings(piece: str) -> tuple[str, int]:
    """A word, and the number of brackets that close mentions after it."""
    body = piece.rstrip("]")
    closings = len(piece) - len(body)
    escapes = len(body) - len(body.rstrip("\\"))
    if closings and escapes % 2:  # the first of them is escaped
        return body + "]", closings - 1
    return body, closings


def _unescape(text: str, where: str) -> str:
    bare = _SPECIAL.search(_ESCAPE.sub("", text))
    if bare:
        raise FormatError(where, f"{bare[0]!r} is inside {shown(text)}; write \\{bare[0]} for a bracket that is text")
    return _ESCAPE.sub(lambda found: _character(found[1], text, where), text)


def _character(code: str, text: str, where: str) -> str:
    if len(code) == 5 and not 0xD800 <= int(code[1:], 16) < 0xE000:  # not half of a surrogate pair
        return chr(int(code[1:], 16))
    if code and code in "[]\\#":
        return code
    raise FormatError(where, f"'\\{code}' in {shown(text)} is not an escape; write \\\\ for a backslash")
