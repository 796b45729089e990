"""Mentions by characters, put on tokens."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from contextlib import nullcontext
from itertools import pairwise

from spacy.tokens import Doc

from ...decoders.mention import Mention
from ..documents import Settings, make_doc
from ..report import ConversionReport, FormatError

# First character and the one after the last, of a token.
Edges = tuple[int, int]


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

    mentions (Iterable[tuple[Mention, str | None]]): Mentions by characters. One that has a
        place of its own can be skipped if it is bad; else the whole text is bad.
    tokens (list[Edges] | None): The tokens by characters, if they are known; else
        the tokenizer of the language finds them.
    sent_starts (Iterable[int] | None): Characters at or before the first of a sentence.
    """
    strip = tokens is None
    if tokens is None:
        # Not make_doc, which refuses texts that are too long for a parser.
        tokens = [(token.idx, token.idx + len(token)) for token in settings.nlp.tokenizer(text)]
    else:
        tokens = _cover(text, tokens, where)
    kept, cuts = _fit(text, tokens, mentions, settings, report, where, strip=strip)
    tokens = _split(tokens, cuts)
    first = {start: i for i, (start, _) in enumerate(tokens)}
    last = {end: i for i, (_, end) in enumerate(tokens)}
    on_tokens = [Mention(first[start], last[end] + 1, label) for start, end, label in kept]
    words = [text[start:end] for start, end in tokens]
    spaces = [text[end : end + 1] == " " and end not in first for _, end in tokens]
    order = list(first)
    begins = None if sent_starts is None else [bisect_left(order, start) for start in sent_starts]
    return make_doc(words, on_tokens, settings, report, where, spaces=spaces, sent_starts=begins)


def _fit(
    text: str,
    tokens: list[Edges],
    mentions: Iterable[tuple[Mention, str | None]],
    settings: Settings,
    report: ConversionReport,
    where: str,
    *,
    strip: bool,
) -> tuple[list[Mention], list[int]]:
    """The mentions to keep, and the places where tokens must be split for them.

    strip (bool): A mention does not begin or end with white space, even if that is a token.
    """
    starts, ends = {start for start, _ in tokens}, {end for _, end in tokens}
    edges = [edge for edge in tokens if not strip or not text[slice(*edge)].isspace()]
    may_start, may_end = {start for start, _ in edges}, {end for _, end in edges}
    kept: list[Mention] = []
    cuts: set[int] = set()
    for mention, place in mentions:
        with report.tolerating() if place else nullcontext():
            fitted = _trim(text, mention, may_start, may_end, report, place or where)
            missed = {fitted.start} - starts | {fitted.end} - ends
            if missed and settings.misaligned != "split":
                _refuse(text, fitted, settings, report, place or where)
            else:
                cuts |= missed
                kept.append(fitted)
    return kept, sorted(cuts)


def _cover(text: str, tokens: list[Edges], where: str) -> list[Edges]:
    """Tokens that leave out single spaces only, as spaCy's do: other white space becomes tokens."""
    covered: list[Edges] = []
    reached = 0
    for start, end in tokens:
        if not reached <= start < end <= len(text):
            raise FormatError(where, f"token {start}:{end} is empty, not in order, or outside {len(text)} characters")
        covered += [*_gap(text, reached, start, where), (start, end)]
        reached = end
    return covered + _gap(text, reached, len(text), where)


def _gap(text: str, start: int, end: int, where: str) -> list[Edges]:
    """The token, if any, for what stands between two tokens."""
    if text[start:end].strip():
        raise FormatError(where, f"no token for {text[start:end]!r}; expected tokens for the whole text")
    if start > 0 and text[start:end].startswith(" "):
        start += 1  # the space after the token before
    return [(start, end)] if start < end else []


def _trim(
    text: str, mention: Mention, starts: set[int], ends: set[int], report: ConversionReport, place: str
) -> Mention:
    """The mention without white space at its edges, unless one of these starts and ends is there."""
    start, end, label = mention
    if not 0 <= start < end <= len(text):
        reason = f"mention {label} {start}:{end} of {len(text)} characters; expected 0 <= start < end <= {len(text)}"
        raise FormatError(place, reason)
    inside = text[start:end]
    if not inside.strip():
        if start in starts and end in ends:
            return mention
        raise FormatError(place, f"mention {label} {start}:{end} is white space only")
    if start not in starts:
        start += len(inside) - len(inside.lstrip())
    if end not in ends:
        end -= len(inside) - len(inside.rstrip())
    if (start, end) != mention[:2]:
        report.lose("white space at the edges of mentions", f"{place}: {label} {inside!r}")
    return Mention(start, end, label)


def _refuse(text: str, mention: Mention, settings: Settings, report: ConversionReport, place: str) -> None:
    """A mention that begins or ends inside a token: dropped, or an error."""
    start, end, label = mention
    around = text[max(0, start - 10) : end + 10]
    if settings.misaligned == "drop":
        report.lose("mentions that do not fit token edges", f"{place}: {label} {text[start:end]!r} in {around!r}")
        return
    raise FormatError(
        place,
        f"mention {label} {text[start:end]!r} in {around!r} begins or ends inside a token; "
        "choose misaligned split, to split the token, or drop",
    )


def _split(tokens: list[Edges], cuts: list[int]) -> list[Edges]:
    pieces: list[Edges] = []
    for start, end in tokens:
        edges = [start, *cuts[bisect_right(cuts, start) : bisect_left(cuts, end)], end]
        pieces += pairwise(edges)
    return pieces
