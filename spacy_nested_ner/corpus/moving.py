"""Annotation that is elsewhere in a Doc, moved to where the mentions are: entities, and spans under another key."""

from collections.abc import Iterable, Iterator

from spacy.tokens import Doc, Span, SpanGroup

from ..annotation import as_mention
from ..decoders.mention import Mention
from .documents import Record


def move_annotation(
    records: Iterable[Record], spans_key: str, *, ents: bool = False, to_key: str | None = None
) -> Iterator[Record]:
    """Documents with all mentions in one group of spans.

    spans_key (str): The key of the spans to take.
    ents (bool): Also take the entities in doc.ents. They stay there.
    to_key (str | None): The key of the spans in the end; None to keep it.
    """
    for record in records:
        if ents:
            _merge(record.doc, spans_key, record.doc.ents)
        if to_key not in (None, spans_key):
            group = record.doc.spans.get(spans_key)
            if group is not None:
                _merge(record.doc, str(to_key), group, group.attrs)
                del record.doc.spans[spans_key]
        yield record


def _merge(doc: Doc, key: str, added: Iterable[Span], attrs: dict | None = None) -> None:
    """Add spans to a group, each only once. The order of the spans that are there stays."""
    old = list(doc.spans.get(key, ()))
    known: set[Mention] = set(map(as_mention, old))
    new = []
    for span in added:
        if as_mention(span) not in known:
            known.add(as_mention(span))
            new.append(Span(doc, span.start, span.end, label=span.label, kb_id=span.kb_id, span_id=span.id))
    merged = {**(attrs or {}), **(doc.spans[key].attrs if key in doc.spans else {})}
    if len(merged.get("scores", ())) != len(old) + len(new):
        merged.pop("scores", None)  # one per span
    doc.spans[key] = SpanGroup(doc, name=key, spans=old + new, attrs=merged)
