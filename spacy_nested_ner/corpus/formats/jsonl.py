"""JSON lines: one document per line, with mentions by words or by characters. A JSON list of such documents is read,
too.

By words: `{"tokens": ["Fabian", …], "mentions": [{"start": 0, "end": 2, "label": "PER"}]}`, the end not included.
`"sent_starts"`, the numbers of the words that begin a sentence, and `"spaces"`, whether a space follows each word, are
optional.

By characters, as Prodigy, doccano and `Doc.to_json` write them: `{"text": "…", "spans": [{"start": 0, "end": 5,
"label": "PER"}]}`. Mentions may also be lists, `[0, 5, "PER"]`, and be called `"label"`, `"labels"`, `"entities"` or
`"ents"`. `"tokens"` and `"sents"`, lists of objects with start and end, are optional.

Documents that are not annotated in full have `"incomplete"`, true or the share of mentions that is missing, and
`"incorrect"`, a list of spans that are no mentions: with a label, not with this label; without one, with none.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from spacy.tokens import Doc, Span

from ...annotation import INCOMPLETE, incorrect_key_of, mentions_of, sentence_bounds
from ...decoders.mention import Mention
from ..conversion_report import ConversionReport, FormatError, shown
from ..documents import Record, Settings, make_doc
from . import dygie, gliner, huggingface, label_studio, spacy_v2
from ._json import Item, is_a, keys_of, list_of, read_items, write_lines, write_list
from ._offsets import Edges, doc_from_text
from ._sample import Sample

# What the tools that write such files call the same thing.
_MENTIONS_BY_WORDS = ("mentions", "entities", "spans")
_MENTIONS_BY_CHARACTERS = ("spans", "entities", "labels", "label", "ents")
_START = ("start", "start_offset")
_END = ("end", "end_offset")
_LABEL = ("label", "type")
_INCORRECT = "incorrect"


def read(path: Path, settings: Settings, report: ConversionReport) -> Iterator[Record]:
    """Read the documents of a file. Each record may be of either kind."""
    for item in read_items(path, report):
        with report.tolerating():
            record, where = _check(item), item.where
            if record.get("answer") not in (None, "accept"):
                report.lose(f"records answered {shown(record['answer'])}", where)
                continue
            make = _doc_by_characters if "text" in record else _doc_by_words
            doc = make(record, settings, report, where)
            _read_incomplete(record, doc, settings, report, where)
            yield Record(doc, where)


def recognizes(sample: Sample) -> bool:
    """Whether a file has documents that are not those of another format in JSON."""
    others = (dygie, gliner, huggingface, label_studio, spacy_v2)
    return bool(keys_of(sample) & {"text", "tokens"}) and not any(other.recognizes(sample) for other in others)


def _check(item: Item) -> dict[str, Any]:
    record, where = item
    if not isinstance(record, dict) or not ("text" in record or "tokens" in record):
        raise FormatError(where, f'expected an object with "text" or "tokens", not {shown(record)[:40]!r}')
    return record


def _doc_by_words(record: dict[str, Any], settings: Settings, report: ConversionReport, where: str) -> Doc:
    words = list_of(record["tokens"], str, '"tokens"', where)
    spaces = record.get("spaces")
    if spaces is not None and len(list_of(spaces, bool, '"spaces"', where)) != len(words):
        raise FormatError(where, f'"spaces" has {len(spaces)} values for {len(words)} tokens; expected one each')
    mentions = [_mention(item, where) for item in _find(record, _MENTIONS_BY_WORDS, settings, report, where)]
    starts = record.get("sent_starts")
    if starts is not None and set(list_of(starts, int, '"sent_starts"', where)).difference(range(len(words))):
        raise FormatError(where, f'"sent_starts" is {shown(starts)}; expected numbers from 0 to {len(words) - 1}')
    return make_doc(words, mentions, settings, report, where, spaces=spaces, sent_starts=starts)


def _doc_by_characters(record: dict[str, Any], settings: Settings, report: ConversionReport, where: str) -> Doc:
    text = record["text"]
    if not isinstance(text, str):
        raise FormatError(where, f'"text" is {shown(text)}; expected a string')
    items = _find(record, _MENTIONS_BY_CHARACTERS, settings, report, where)
    mentions = [(_mention(item, where), None) for item in items]
    tokens = _edges(record, "tokens", where)
    sents = _edges(record, "sents", where)
    starts = None if sents is None else [start for start, _ in sents]
    return doc_from_text(text, mentions, settings, report, where, tokens=tokens, sent_starts=starts)


def _read_incomplete(
    record: dict[str, Any], doc: Doc, settings: Settings, report: ConversionReport, where: str
) -> None:
    """What is known of a document that is not annotated in full."""
    key = settings.spans_key
    if (rate := record.get(INCOMPLETE)) is not None:
        if not is_a(rate, bool) and not (is_a(rate, int | float) and 0 < rate <= 1):  # type: ignore[arg-type]
            expected = "expected true, false, or the share of mentions that is missing, above 0 and up to 1"
            raise FormatError(where, f'"{INCOMPLETE}" is {shown(rate)}; {expected}')
        doc.spans[key].attrs[INCOMPLETE] = rate
    if (items := record.get(_INCORRECT)) is None:
        return
    spans = []
    for item in list_of(items, dict, f'"{_INCORRECT}"', where):
        start, end, label = _mention({_LABEL[0]: "", **item}, where)
        try:
            span = doc.char_span(start, end, label) if "text" in record else Span(doc, start, end, label)
        except (IndexError, ValueError):
            raise FormatError(where, f'{shown(item)} in "{_INCORRECT}" is not a span of the document') from None
        if span is None or not len(span):
            report.lose("incorrect spans that begin or end inside a token", f"{where}: {shown(item)}")
        else:
            spans.append(span)
    doc.spans[incorrect_key_of(key)] = spans


def _find(
    record: dict[str, Any], names: tuple[str, ...], settings: Settings, report: ConversionReport, where: str
) -> list[Any]:
    """The list of mentions, whatever it is called: the first one that is not empty."""
    if isinstance(relations := record.get("relations"), list) and relations:
        report.lose("relations", where, len(relations))
    found = {name: record[name] for name in names if record.get(name) is not None}
    if isinstance(groups := found.get("spans"), dict):  # Doc.to_json writes one list per spans key
        found["spans"] = groups.get(settings.spans_key, [])
        if settings.spans_key not in groups:
            others = ", ".join(map(repr, groups)) or "no spans"
            report.lose(f"documents without spans[{settings.spans_key!r}]", f"{where}: it has {others}")
    elif not found:
        fields = ", ".join(map(repr, record))
        report.lose(f"mentions of records that have none of {', '.join(names)}", f"{where}: it has {fields}")
    items: Any = next(filter(None, found.values()), [])
    if not isinstance(items, list):
        raise FormatError(where, f"mentions are {shown(items)}; expected a list")
    return items


def _mention(item: Any, where: str) -> Mention:
    if isinstance(item, list) and len(item) == 3:
        start, end, label = item
    elif isinstance(item, dict):
        start, end, label = (next((item[key] for key in keys if key in item), None) for keys in (_START, _END, _LABEL))
    else:
        expected = 'expected [0, 2, "PER"], or an object with start, end and label'
        raise FormatError(where, f"{shown(item)} is not a mention; {expected}")
    if not is_a(start, int) or not is_a(end, int) or not is_a(label, str):
        raise FormatError(where, f"mention {shown(item)}: expected integers for start and end, and a string for label")
    return Mention(start, end, label)


def _edges(record: dict[str, Any], name: str, where: str) -> list[Edges] | None:
    items = record.get(name)
    if items is None:
        return None
    try:
        return [(int(item["start"]), int(item["end"])) for item in items]
    except (KeyError, OverflowError, TypeError, ValueError):
        expected = 'expected a list of objects with start and end, in a record with "text"'
        raise FormatError(where, f'"{name}" is {shown(items)}; {expected}') from None


def write_tokens(records: Iterable[Record], path: Path, settings: Settings, report: ConversionReport) -> None:
    """Write records by words."""
    write_lines((render_tokens(doc, settings.spans_key) for doc, _ in records), path)


def write_text(records: Iterable[Record], path: Path, settings: Settings, report: ConversionReport) -> None:
    """Write records by characters, with tokens, as Prodigy does."""
    write_lines((render_text(doc, settings.spans_key) for doc, _ in records), path)


def write_json(records: Iterable[Record], path: Path, settings: Settings, report: ConversionReport) -> None:
    """Write records by characters, with tokens, as a JSON list."""
    write_list((render_text(doc, settings.spans_key) for doc, _ in records), path)


def render_tokens(doc: Doc, spans_key: str) -> dict[str, Any]:
    """A record by words. Spaces and sentences are left out if they are unknown."""
    record: dict[str, Any] = {
        "tokens": [token.text for token in doc],
        "mentions": [mention._asdict() for mention in mentions_of(doc, spans_key)],
    }
    if doc.has_annotation("SENT_START"):
        record["sent_starts"] = [start for start, _ in sentence_bounds(doc)]
    if not doc.has_unknown_spaces:
        record["spaces"] = [bool(token.whitespace_) for token in doc]
    incorrect = [mention._asdict() for mention in mentions_of(doc, incorrect_key_of(spans_key))]
    return {**record, **_incomplete(doc, spans_key, incorrect)}


def render_text(doc: Doc, spans_key: str) -> dict[str, Any]:
    """A record by characters. Sentences are left out if they are unknown."""
    spans = [_by_characters(doc, mention) for mention in mentions_of(doc, spans_key)]
    tokens = [
        {"text": t.text, "start": t.idx, "end": t.idx + len(t), "id": t.i, "ws": bool(t.whitespace_)} for t in doc
    ]
    record = {"text": doc.text, "spans": spans, "tokens": tokens}
    if doc.has_annotation("SENT_START"):
        record["sents"] = [
            {"start": doc[start].idx, "end": doc[end - 1].idx + len(doc[end - 1])}
            for start, end in sentence_bounds(doc)
            if start < end
        ]
    incorrect = [_by_characters(doc, mention) for mention in mentions_of(doc, incorrect_key_of(spans_key))]
    return {**record, **_incomplete(doc, spans_key, incorrect)}


def _by_characters(doc: Doc, mention: Mention) -> dict[str, Any]:
    start, end, label = mention
    return {
        "start": doc[start].idx,
        "end": doc[end - 1].idx + len(doc[end - 1]),
        "token_start": start,
        "token_end": end - 1,
        "label": label,
    }


def _incomplete(doc: Doc, spans_key: str, incorrect: list[dict[str, Any]]) -> dict[str, Any]:
    """What a record of a document that is not annotated in full has in addition."""
    has_incorrect = incorrect_key_of(spans_key) in doc.spans
    # A document with nothing but incorrect spans is incomplete, too.
    rate = doc.spans[spans_key].attrs.get(INCOMPLETE) if spans_key in doc.spans else has_incorrect or None
    fields = {} if rate is None else {INCOMPLETE: rate}
    return fields | ({_INCORRECT: incorrect} if has_incorrect else {})
