"""Docs as words and mentions, sentence by sentence: what the formats have in common."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span

from ..annotation import mentions_by_segment
from ..decoders import check_mentions
from ..decoders.mention import Mention, sort_mentions
from .conversion_report import ConversionReport, FormatError
from .files import place

MISALIGNED = ("error", "split", "drop")
# No published corpus is that large; what is larger is usually made to fill the memory.
MAX_BYTES = 2**30


@dataclass(frozen=True)
class Settings:
    """How documents are read and written.

    spans_key (str): The mentions are in `doc.spans[spans_key]`.
    lang (str): Language code of the tokenizer, for formats with running text.
    pipeline (Language | None): Use the tokenizer and the vocab of this pipeline instead, and ignore `lang`.
    misaligned (str): What to do if a mention by characters begins or ends inside a token: raise an "error",
        "split" the token, or "drop" the mention and report it.
    line_sentences (bool): Take every line of a running text as a sentence (brat).
    tag_names (tuple[str, ...]): The names of tags that the data has as numbers, in their order (huggingface).
    layer (str | None): The layer with the mentions, if there are several (webanno); None for the likeliest one.
    structure (tuple[str, ...]): Elements that are not mentions, in addition to the usual ones (xml).
    max_bytes (int): How large a compressed file may be when it is decompressed (genia, spacy).
    """

    spans_key: str = "sc"
    lang: str = "en"
    pipeline: Language | None = None
    misaligned: str = "error"
    line_sentences: bool = True
    tag_names: tuple[str, ...] = ()
    layer: str | None = None
    structure: tuple[str, ...] = ()
    max_bytes: int = MAX_BYTES

    def __post_init__(self) -> None:
        if self.misaligned not in MISALIGNED:
            raise ValueError(f"misaligned is {self.misaligned!r}; expected one of {', '.join(MISALIGNED)}")
        if self.max_bytes < 1:
            raise ValueError(f"max_bytes is {self.max_bytes}; expected 1 or more bytes")

    @cached_property
    def nlp(self) -> Language:
        """The pipeline, or a blank one for the language."""
        if self.pipeline is not None:
            return self.pipeline
        try:
            return spacy.blank(self.lang)
        except ImportError as error:
            reason = "expected a language code of spaCy, such as en, de or xx" if "E048" in str(error) else error
            raise ValueError(f"lang is {self.lang!r}; {reason}") from None


class Record(NamedTuple):
    """A document, and where it comes from.

    doc (Doc): The document, with its mentions in `doc.spans`.
    where (str): The file, and the line or the number of the document in it.
    """

    doc: Doc
    where: str


class Sentence(NamedTuple):
    """Words and the mentions among them.

    spaces (list[bool] | None): Whether a space follows each word; None if that is unknown.
    """

    words: list[str]
    mentions: list[Mention]
    spaces: list[bool] | None = None


def make_doc(
    words: list[str],
    mentions: Iterable[Mention],
    settings: Settings,
    report: ConversionReport,
    where: str,
    *,
    spaces: list[bool] | None = None,
    sent_starts: Iterable[int] | None = None,
) -> Doc:
    """A Doc with sorted mentions. Repeated mentions are removed and reported.

    mentions (Iterable[Mention]): In any order; they are checked here.
    spaces (list[bool] | None): Whether a space follows each word; None if that is unknown.
    sent_starts (Iterable[int] | None): The words that begin a sentence; None if that is unknown.
    """
    if not all(words):
        raise FormatError(where, f"word {words.index('')} is empty; expected at least one character")
    given = list(mentions)
    for mention in given:
        if not isinstance(mention.label, str) or not mention.label:
            raise FormatError(where, f"label {mention.label!r}: expected a string of at least one character")
    try:
        kept = check_mentions(given, len(words))
    except (TypeError, ValueError) as error:
        raise FormatError(where, str(error)) from None
    if len(given) > len(kept):
        report.lose("repeated mentions (same span and label)", where, len(given) - len(kept))
    flags: list[bool | int | None] | None = None
    if sent_starts is not None:
        starts = {0, *sent_starts}
        flags = [i in starts for i in range(len(words))]
    doc = Doc(settings.nlp.vocab, words=words, spaces=spaces, sent_starts=flags)
    doc.spans[settings.spans_key] = [Span(doc, start, end, label=label) for start, end, label in kept]
    return doc


def join_sentences(sentences: list[Sentence], settings: Settings, report: ConversionReport, where: str) -> Doc:
    """One Doc of several sentences."""
    words: list[str] = []
    mentions: list[Mention] = []
    spaces: list[bool] = []
    starts: list[int] = []
    for sentence in sentences:
        offset = len(words)
        starts.append(offset)
        words += sentence.words
        spaces += sentence.spaces or []
        mentions += [Mention(start + offset, end + offset, label) for start, end, label in sentence.mentions]
    known = spaces if len(spaces) == len(words) else None
    return make_doc(words, mentions, settings, report, where, spaces=known, sent_starts=starts)


def group_sentences(
    stream: Iterable[tuple[int, Sentence | None]], path: Path, settings: Settings, report: ConversionReport
) -> Iterator[Record]:
    """Documents made of sentences with their line numbers; None ends a document."""
    sentences: list[Sentence] = []
    first = 0
    for line, sentence in chain(stream, [(0, None)]):
        if sentence is not None:
            first = first if sentences else line
            sentences.append(sentence)
        elif sentences:
            where = place(path, first)
            with report.tolerating():
                yield Record(join_sentences(sentences, settings, report, where), where)
            sentences = []


def sentences_of(
    record: Record, settings: Settings, report: ConversionReport, *, spaced: bool = False
) -> Iterator[Sentence]:
    """The sentences of a Doc, for formats of words and sentences. What these cannot express is reported.

    spaced (bool): The format can express where there is no space.
    """
    doc, where = record
    if not len(doc):
        report.lose("documents without words", where)
    elif not spaced and not doc.has_unknown_spaces and not all(token.whitespace_ for token in doc[:-1]):
        report.lose("spacing between words, in documents", where)
    segments, across = mentions_by_segment(doc, settings.spans_key)
    for mention in across:
        report.lose("mentions across a sentence boundary", f"{where}: {describe(doc, mention)}")
    for start, end, mentions in segments:
        spaces = [bool(token.whitespace_) for token in doc[start:end]] if spaced else None
        yield Sentence([token.text for token in doc[start:end]], mentions, spaces)


def visible_sentences(
    record: Record, settings: Settings, report: ConversionReport, *, spaced: bool = False
) -> Iterator[Sentence]:
    """The sentences of a Doc, for formats in which whitespace separates words and so cannot be one.

    spaced (bool): The format can express where there is no space.
    """
    for sentence in sentences_of(record, settings, report, spaced=spaced):
        visible = _without_whitespace(sentence, report, record.where)
        if visible.words:
            yield visible


def _without_whitespace(sentence: Sentence, report: ConversionReport, where: str) -> Sentence:
    kept = [word for word in sentence.words if not word.isspace()]
    if len(kept) == len(sentence.words):
        return sentence
    report.lose("words of only whitespace", where, len(sentence.words) - len(kept))
    moved = [0]  # where the words, and the end, are after the others are removed
    for word in sentence.words:
        moved.append(moved[-1] + (not word.isspace()))
    mentions = []
    for start, end, label in sentence.mentions:
        if moved[start] == moved[end]:
            report.lose("mentions of only whitespace", f"{where}: {label} {start}:{end}")
        else:
            mentions.append(Mention(moved[start], moved[end], label))
    return Sentence(kept, sort_mentions(set(mentions)), _visible_spaces(sentence))


def _visible_spaces(sentence: Sentence) -> list[bool] | None:
    """Whether a space follows each word that is not whitespace: one does if whitespace that was a word did."""
    if sentence.spaces is None:
        return None
    spaces: list[bool] = []
    for word, space in zip(sentence.words, sentence.spaces):
        if not word.isspace():
            spaces.append(space)
        elif spaces:
            spaces[-1] = True
    return spaces


def describe(doc: Doc, mention: Mention) -> str:
    """The label and the text of a mention, for messages."""
    return f"{mention.label} {doc[mention.start : mention.end].text!r}"
