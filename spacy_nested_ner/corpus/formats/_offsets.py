"""Mentions by characters, aligned with tokens: what the formats with running text have in common."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from contextlib import nullcontext
from itertools import pairwise

from spacy.tokens import Doc

from ...decoders.mention import Mention
from ..conversion_report import ConversionReport, FormatError
from ..documents import Settings, make_doc
from ..tokenization import Edges, tokenize, words_and_spaces


def doc_from_text(
    text: str,
    mentions: Iterable[tuple[Mention, str | None]],
    settings: Settings,
    report: ConversionReport,
    where: str,
    *,
    tokens: list[Edges] | None = None,
    sent_starts: Iterable[int] | None = None,
) -> Doc:
    """A Doc of a running text.

    mentions (Iterable[tuple[Mention, str | None]]): Mentions by characters. A bad mention that comes with a place of
        its own can be skipped; without a place, the whole text is bad.
    tokens (list[Edges] | None): The tokens by characters, if they are known; otherwise the tokenizer finds them.
    sent_starts (Iterable[int] | None): For each sentence, its first character or a place between it and the sentence
        before; None if sentences are unknown.
    """
    edges = tokenize(settings.nlp, text) if tokens is None else _cover(text, tokens, where)
    alignment = _Alignment(text, edges, settings.misaligned, report, keep_whitespace=tokens is not None)
    for mention, place in mentions:
        with report.tolerating() if place else nullcontext():
            alignment.add(mention, place or where)
    edges = _split(edges, sorted(alignment.cuts))
    first = {start: i for i, (start, _) in enumerate(edges)}
    last = {end: i for i, (_, end) in enumerate(edges)}
    on_tokens = [Mention(first[start], last[end] + 1, label) for start, end, label in alignment.mentions]
    words, spaces = words_and_spaces(text, edges)
    order = list(first)
    begins = None if sent_starts is None else [bisect_left(order, start) for start in sent_starts]
    return make_doc(words, on_tokens, settings, report, where, spaces=spaces, sent_starts=begins)


class _Alignment:
    """The mentions of a text that can be put on its tokens.

    misaligned (str): What to do with a mention that begins or ends inside a token; see `Settings`.
    keep_whitespace (bool): Mentions may begin or end with a token of whitespace.
    mentions (list[Mention]): The mentions to keep, by characters.
    cuts (set[int]): The places where tokens must be split for them.
    """

    def __init__(
        self, text: str, tokens: list[Edges], misaligned: str, report: ConversionReport, *, keep_whitespace: bool
    ) -> None:
        self.text = text
        self.misaligned = misaligned
        self.report = report
        self.mentions: list[Mention] = []
        self.cuts: set[int] = set()
        self._starts, self._ends = {start for start, _ in tokens}, {end for _, end in tokens}
        # Where a mention may begin and end without losing whitespace.
        solid = [(start, end) for start, end in tokens if keep_whitespace or not text[start:end].isspace()]
        self._may_start, self._may_end = {start for start, _ in solid}, {end for _, end in solid}

    def add(self, mention: Mention, place: str) -> None:
        """Keep a mention, or report why not.

        place (str): Where the mention comes from, for messages.
        """
        trimmed = self._trim(mention, place)
        missed = {trimmed.start} - self._starts | {trimmed.end} - self._ends
        if missed and self.misaligned != "split":
            self._refuse(trimmed, place)
        else:
            self.cuts |= missed
            self.mentions.append(trimmed)

    def _trim(self, mention: Mention, place: str) -> Mention:
        """The mention without whitespace at its edges, unless tokens begin and end there."""
        start, end, label = mention
        n = len(self.text)
        if not 0 <= start < end <= n:
            reason = f"mention {label} {start}:{end} is not in a text of {n} characters"
            raise FormatError(place, f"{reason}; expected 0 <= start < end <= {n}")
        inside = self.text[start:end]
        if not inside.strip():
            if start in self._may_start and end in self._may_end:
                return mention
            raise FormatError(place, f"mention {label} {start}:{end} is only whitespace; expected at least one word")
        if start not in self._may_start:
            start += len(inside) - len(inside.lstrip())
        if end not in self._may_end:
            end -= len(inside) - len(inside.rstrip())
        if (start, end) != mention[:2]:
            self.report.lose("whitespace at the edges of mentions", f"{place}: {label} {inside!r}")
        return Mention(start, end, label)

    def _refuse(self, mention: Mention, place: str) -> None:
        """Drop a mention that begins or ends inside a token, or raise an error."""
        start, end, label = mention
        shown = f"{label} {self.text[start:end]!r} in {self.text[max(0, start - 10) : end + 10]!r}"
        if self.misaligned == "drop":
            self.report.lose("mentions that begin or end inside a token", f"{place}: {shown}")
            return
        remedy = "set misaligned to split, to split the token, or to drop, to leave out the mention"
        raise FormatError(place, f"mention {shown} begins or ends inside a token; {remedy}")


def _cover(text: str, tokens: list[Edges], where: str) -> list[Edges]:
    """Tokens between which there are only single spaces, as in spaCy: other whitespace becomes a token."""
    covered: list[Edges] = []
    reached = 0
    for start, end in tokens:
        if not reached <= start < end <= len(text):
            reason = f"token {start}:{end} is empty, out of order, or not in a text of {len(text)} characters"
            raise FormatError(where, f"{reason}; expected tokens one after the other")
        covered += [*_gap(text, reached, start, where), (start, end)]
        reached = end
    return covered + _gap(text, reached, len(text), where)


def _gap(text: str, start: int, end: int, where: str) -> list[Edges]:
    """The token, if any, for what is between two tokens."""
    if text[start:end].strip():
        raise FormatError(where, f"no token for {text[start:end]!r}; expected tokens for the whole text")
    if start > 0 and text[start:end].startswith(" "):
        start += 1  # the space that spaCy keeps with the token before
    return [(start, end)] if start < end else []


def _split(tokens: list[Edges], cuts: list[int]) -> list[Edges]:
    """Tokens divided at the given places."""
    pieces: list[Edges] = []
    for start, end in tokens:
        edges = [start, *cuts[bisect_right(cuts, start) : bisect_left(cuts, end)], end]
        pieces += pairwise(edges)
    return pieces
