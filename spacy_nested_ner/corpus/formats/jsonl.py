"""JSON lines: one document per line, with mentions by words or by characters.

By words: `{"tokens": ["Fabian", …], "mentions": [{"start": 0, "end": 2, "label": "PER"}]}`, the end not included.
`"sent_starts"`, the numbers of the words that begin a sentence, and `"spaces"`, whether a space follows each word, are
optional.

By characters, as Prodigy, doccano and `Doc.to_json` write them: `{"text": "…", "spans": [{"start": 0, "end": 5,
"label": "PER"}]}`. Mentions may also be lists, `[0, 5, "PER"]`, and be called `"label"`, `"labels"`, `"entities"` or
`"ents"`. `"tokens"` and `"sents"`, lists of objects with start and end, are optional.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from spacy.tokens import Doc

from ...annotation import mentions_of, sentence_bounds
from ...decoders.mention import Mention
from ..conversion_report import ConversionReport, FormatError
from ..documents import Record, Settings, make_doc
from ..files import place, read_lines
from ._offsets import Edges, doc_from_text

# What the tools that write such files call the same thing.
_MENTIONS_BY_WORDS = ("mentions", "entities", "spans")
_MENTIONS_BY_CHARACTERS = ("spans", "entities", "labels", "label", "ents")
_START = ("start", "start_offset")
_END = ("end", "end_offset")
_LABEL = ("label", "type")


def read(path: Path, settings: Settings, report: ConversionReport) -> Iterator[Record]:
    """Read the documents of a file. Each record may be of either kind."""
    for number, text in read_lines(path):
        where = place(path, number)
        if not text.strip():
            continue
        with report.tolerating():
            record = _load(text, where)
            if record.get("answer") not in (None, "accept"):
                report.lose(f"records answered {record['answer']!r}", where)
                continue
            make = _doc_by_characters if "text" in record else _doc_by_words
            try:
                doc = make(record, settings, report, where)
            except UnicodeEncodeError as error:
                half = error.object[error.start]
                raise FormatError(where, f"{half!r} is half of a surrogate pair; correct the text") from None
            yield Record(doc, where)


def _load(text: str, where: str) -> dict[str, Any]:
    try:
        record = json.loads(text)
    except json.JSONDecodeError as error:
        raise FormatError(where, f"not JSON: {error.msg}, at character {error.pos + 1}") from None
    if not isinstance(record, dict) or not ("text" in record or "tokens" in record):
        raise FormatError(where, f'expected an object with "text" or "tokens", not {text[:40]!r}')
    return record


def _doc_by_words(record: dict[str, Any], settings: Settings, report: ConversionReport, where: str) -> Doc:
    words = _list_of(record["tokens"], str, '"tokens"', where)
    spaces = record.get("spaces")
    if spaces is not None and len(_list_of(spaces, bool, '"spaces"', where)) != len(words):
        raise FormatError(where, f'"spaces" has {len(spaces)} values for {len(words)} tokens; expected one each')
    mentions = [_mention(item, where) for item in _find(record, _MENTIONS_BY_WORDS, settings, report, where)]
    starts = record.get("sent_starts")
    if starts is not None and set(_list_of(starts, int, '"sent_starts"', where)).difference(range(len(words))):
        raise FormatError(where, f'"sent_starts" is {starts}; expected numbers from 0 to {len(words) - 1}')
    return make_doc(words, mentions, settings, report, where, spaces=spaces, sent_starts=starts)


def _doc_by_characters(record: dict[str, Any], settings: Settings, report: ConversionReport, where: str) -> Doc:
    text = record["text"]
    if not isinstance(text, str):
        raise FormatError(where, f'"text" is {text!r}; expected a string')
    items = _find(record, _MENTIONS_BY_CHARACTERS, settings, report, where)
    mentions = [(_mention(item, where), None) for item in items]
    tokens = _edges(record, "tokens", where)
    sents = _edges(record, "sents", where)
    starts = None if sents is None else [start for start, _ in sents]
    return doc_from_text(text, mentions, settings, report, where, tokens=tokens, sent_starts=starts)


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
        raise FormatError(where, f"mentions are {items!r}; expected a list")
    return items


def _mention(item: Any, where: str) -> Mention:
    if isinstance(item, list) and len(item) == 3:
        start, end, label = item
    elif isinstance(item, dict):
        start, end, label = (next((item[key] for key in keys if key in item), None) for keys in (_START, _END, _LABEL))
    else:
        expected = 'expected [0, 2, "PER"], or an object with start, end and label'
        raise FormatError(where, f"{item!r} is not a mention; {expected}")
    if not _is(start, int) or not _is(end, int) or not _is(label, str):
        raise FormatError(where, f"mention {item!r}: expected integers for start and end, and a string for label")
    return Mention(start, end, label)


def _edges(record: dict[str, Any], name: str, where: str) -> list[Edges] | None:
    items = record.get(name)
    if items is None:
        return None
    try:
        return [(int(item["start"]), int(item["end"])) for item in items]
    except (KeyError, TypeError, ValueError):
        expected = 'expected a list of objects with start and end, in a record with "text"'
        raise FormatError(where, f'"{name}" is {str(items)[:40]}; {expected}') from None


def _list_of(value: Any, kind: type, name: str, where: str) -> list[Any]:
    if not isinstance(value, list) or not all(_is(item, kind) for item in value):
        raise FormatError(where, f"{name} is {str(value)[:40]}; expected a list of {kind.__name__}")
    return value


def _is(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def write_tokens(records: Iterable[Record], path: Path, settings: Settings, report: ConversionReport) -> None:
    """Write records by words."""
    _write(records, path, settings, render_tokens)


def write_text(records: Iterable[Record], path: Path, settings: Settings, report: ConversionReport) -> None:
    """Write records by characters, with tokens, as Prodigy does."""
    _write(records, path, settings, render_text)


def _write(
    records: Iterable[Record], path: Path, settings: Settings, render: Callable[[Doc, str], dict[str, Any]]
) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for doc, _ in records:
            file.write(json.dumps(render(doc, settings.spans_key), ensure_ascii=False) + "\n")


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
    return record


def render_text(doc: Doc, spans_key: str) -> dict[str, Any]:
    """A record by characters. Sentences are left out if they are unknown."""
    spans = [
        {
            "start": doc[start].idx,
            "end": doc[end - 1].idx + len(doc[end - 1]),
            "token_start": start,
            "token_end": end - 1,
            "label": label,
        }
        for start, end, label in mentions_of(doc, spans_key)
    ]
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
    return record
