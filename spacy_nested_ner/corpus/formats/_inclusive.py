"""Mentions by words with the last word included: what DyGIE++, Yu et al. and GLiNER have in common."""

from typing import Any

from ...annotation import sentence_bounds
from ...decoders.mention import Mention
from ..conversion_report import ConversionReport, FormatError, shown
from ..documents import Record
from ._json import is_a


def mention_in(item: Any, first: int, n_words: int, where: str, *, counted: str = "the text") -> Mention:
    """A mention written as `[start, end, label]`, counted from the first of these words.

    first (int): The number that the file gives to the first of the words.
    n_words (int): How many words there are.
    counted (str): What words are counted from the beginning of, for messages.
    RETURNS (Mention): Counted from 0, the end not included.
    """
    expected = 'expected [start, end, "LABEL"], as in [0, 1, "PER"] for the first two words'
    if not isinstance(item, list) or len(item) < 3:
        raise FormatError(where, f"{shown(item)} is not a mention; {expected}")
    start, end, label = item[:3]  # predictions go on with their scores
    if not is_a(start, int) or not is_a(end, int) or not is_a(label, str):
        raise FormatError(where, f"{shown(item)} is not a mention; {expected}")
    last = first + n_words - 1
    if not first <= start <= end <= last:
        reason = f"mention {shown(item)} is not among the words {first} to {last}"
        expected = f"expected {first} <= start <= end <= {last}, the end included"
        raise FormatError(where, f"{reason}; {expected}, counted from the beginning of {counted}")
    return Mention(start - first, end - first + 1, label)


def lose_sentences(record: Record, report: ConversionReport) -> None:
    """Report that a format has no sentences, if the document has some."""
    n_sentences = len(sentence_bounds(record.doc))
    if n_sentences > 1:
        report.lose("sentence boundaries", record.where, n_sentences - 1)
