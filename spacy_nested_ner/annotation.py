"""What a Doc is annotated with: its segments, its spans as mentions, and whether some may be missing."""

from bisect import bisect_right
from collections.abc import Iterable

import numpy as np
from spacy.tokens import Doc, Span, SpanGroup

from .decoders.mention import Mention, sort_mentions

# In the attrs of a group of gold mentions: others may be right as well.
INCOMPLETE = "incomplete"


def incorrect_key_of(spans_key: str) -> str:
    """Where spans that are known not to be mentions are in `doc.spans`, unless a component says otherwise."""
    return f"{spans_key}_incorrect"


# The first token of a stretch of a Doc, and the token after its last one.
Segment = tuple[int, int]


def sentence_bounds(doc: Doc, *, use_sentences: bool = True) -> list[Segment]:
    """Where the sentences of a Doc begin and end. A Doc without sentence boundaries is one sentence, and a Doc
    without tokens has none.

    use_sentences (bool): Otherwise the whole Doc is one segment.
    """
    if not len(doc):
        return []
    if use_sentences and doc.has_annotation("SENT_START"):
        return [(sentence.start, sentence.end) for sentence in doc.sents]
    return [(0, len(doc))]


def as_mention(span: Span) -> Mention:
    """A span of a Doc, with the name of its label."""
    return Mention(span.start, span.end, span.label_)


def mentions_of(doc: Doc, spans_key: str) -> list[Mention]:
    """The mentions of a Doc, sorted and without duplicates; none if it has no such spans key."""
    return sort_mentions(set(map(as_mention, doc.spans.get(spans_key, ()))))


def scores_of(group: SpanGroup) -> list[float] | None:
    """The probabilities that a component has written for the spans of a group, in their order. None if there is not
    one for each span: for gold, and after spans were added or removed.

    spancat writes no scores where it finds nothing, and spancat_singlelabel writes arrays of one number.
    """
    scores: list[float] = np.asarray(group.attrs.get("scores", ()), dtype="float64").ravel().tolist()
    return scores if len(scores) == len(group) else None


def by_segment(mentions: Iterable[Mention], segments: list[Segment]) -> tuple[list[list[Mention]], list[Mention]]:
    """The mentions inside each segment, counted from its first token, and those that cross a segment boundary.

    mentions (Iterable[Mention]): Counted from the first token of the Doc.
    segments (list[Segment]): In order and without gaps.
    """
    inside: list[list[Mention]] = [[] for _ in segments]
    across: list[Mention] = []
    starts = [start for start, _ in segments]
    if not segments:  # a Doc without tokens, which may still have spans
        return [], list(mentions)
    for mention in mentions:
        number = bisect_right(starts, mention.start) - 1
        start, end = segments[number]
        if mention.end > end:
            across.append(mention)
        else:
            inside[number].append(Mention(mention.start - start, mention.end - start, mention.label))
    return inside, across


def mentions_by_segment(
    doc: Doc, spans_key: str, *, use_sentences: bool = True
) -> tuple[list[tuple[int, int, list[Mention]]], list[Mention]]:
    """Where the segments of a Doc begin and end, and the mentions of each, counted from its first token.

    use_sentences (bool): Otherwise the whole Doc is one segment.
    RETURNS (tuple): The segments, and the mentions that end in a later segment than they begin, counted from the
        first token of the Doc.
    """
    segments = sentence_bounds(doc, use_sentences=use_sentences)
    inside, across = by_segment(mentions_of(doc, spans_key), segments)
    return [(start, end, mentions) for (start, end), mentions in zip(segments, inside)], across
