"""Parts of a Doc as Docs, with their part of its mentions."""

from collections.abc import Iterator

from spacy.tokens import Doc, Span, SpanGroup


def pieces(doc: Doc, max_length: int) -> Iterator[Doc]:
    """Divide a long Doc into Docs of whole sentences, as many as fit. Mentions that begin in one piece and end in
    another are left out.

    max_length (int): The largest number of tokens of a piece; 0 for no limit.
    """
    if not max_length or len(doc) <= max_length or not doc.has_annotation("SENT_START"):
        yield doc
        return
    start = end = 0
    for sentence in doc.sents:
        if sentence.end - start > max_length and end > start:
            yield piece(doc, start, end)
            start = end
        end = sentence.end
    yield piece(doc, start, end)


def piece(doc: Doc, start: int, end: int) -> Doc:
    """Some tokens as a Doc, with their part of the span groups, which `Span.as_doc` does not copy.

    The attrs of a group are copied. Only the `scores`, one per span, are divided like the spans; if there are not as
    many as spans, because spans were added or removed later, they are dropped.
    """
    result = doc[start:end].as_doc()
    for key, group in doc.spans.items():
        inside = [number for number, span in enumerate(group) if start <= span.start and span.end <= end]
        spans = [Span(result, group[n].start - start, group[n].end - start, group[n].label) for n in inside]
        attrs = dict(group.attrs)
        scores = attrs.pop("scores", ())
        if len(scores) == len(group):
            attrs["scores"] = [scores[number] for number in inside]
        result.spans[key] = SpanGroup(result, name=key, spans=spans, attrs=attrs)
    return result
