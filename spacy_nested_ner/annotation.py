"""What a Doc is annotated with: its sentences, its spans as mentions, and whether others may be missing."""

from bisect import bisect_right

from spacy.tokens import Doc

from .decoders.mention import Mention, sort_mentions

# In the attrs of a group of gold mentions: others may be right as well.
INCOMPLETE = "incomplete"


def mentions_of(doc: Doc, spans_key: str) -> list[Mention]:
    """The sorted mentions of a Doc; none if it has no such spans key."""
    return sort_mentions({Mention(span.start, span.end, span.label_) for span in doc.spans.get(spans_key, ())})


def sentence_bounds(doc: Doc) -> list[tuple[int, int]]:
    """Where sentences begin and end. A Doc that does not know is one sentence."""
    if doc.has_annotation("SENT_START"):
        return [(sentence.start, sentence.end) for sentence in doc.sents]
    return [(0, len(doc))]


def mentions_by_segment(
    doc: Doc, spans_key: str, *, use_sentences: bool = True
) -> tuple[list[tuple[int, int, list[Mention]]], list[Mention]]:
    """Where sentences begin and end, and the mentions of each, counted from its first token.

    use_sentences (bool): Else the whole Doc is one segment.
    RETURNS (tuple): The sentences that have tokens, and the mentions that end in a later
        sentence than they begin, counted from the first token of the Doc.
    """
    bounds = sentence_bounds(doc) if use_sentences else [(0, len(doc))]
    inside: list[list[Mention]] = [[] for _ in bounds]
    across: list[Mention] = []
    starts = [start for start, _ in bounds]
    for mention in mentions_of(doc, spans_key):
        i = bisect_right(starts, mention.start) - 1
        start, end = bounds[i]
        if mention.end > end:
            across.append(mention)
        else:
            inside[i].append(Mention(mention.start - start, mention.end - start, mention.label))
    return [(start, end, mentions) for (start, end), mentions in zip(bounds, inside) if start < end], across
