"""Training data of spaCy 2, in both of its forms.

Pairs of a text and its entities by characters, as in most tutorials: `["Ada sings", {"entities": [[0, 3, "PER"]]}]`, in
a JSON list, in JSON lines, or in `{"classes": …, "annotations": …}`, as annotation tools on the web export it. Entities
may be nested. They may also be in `spans`, as spaCy 3 has them: `{"spans": {"sc": [[0, 3, "PER"]]}}`.

The JSON for `spacy train`: documents with `paragraphs`, which have `sentences`, which have `tokens` with an `orth` and
`ner`, a tag of the scheme BILUO. Every paragraph becomes a document. If some words have the tag `-` or none, the
document is marked as annotated incompletely. Other annotation is not kept.

Read-only: write `jsonl-text` or `spacy` instead.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from spacy.tokens import Doc

from ...annotation import INCOMPLETE
from ...decoders.mention import Mention
from ..conversion_report import ConversionReport, FormatError, shown
from ..documents import Record, Settings, make_doc
from ._json import Item, is_a, keys_of, list_of, object_with, read_items
from ._offsets import doc_from_text
from ._sample import Sample
from ._tags import UNKNOWN, mentions_of_tags

# How a file of pairs begins.
_PAIR = re.compile(r'[\ufeff\s]*\[\s*(?:\[\s*)?"')


def read(path: Path, settings: Settings, report: ConversionReport) -> Iterator[Record]:
    """Read the documents of a file. Each item may be of either form."""
    for item in _unwrapped(path, report):
        with report.tolerating():
            if isinstance(item.value, dict):
                for paragraph in _paragraphs(item):
                    with report.tolerating():
                        yield Record(parse_paragraph(paragraph, settings, report), paragraph.where)
            else:
                yield Record(parse_pair(item, settings, report), item.where)


def recognizes(sample: Sample) -> bool:
    """Whether a file has pairs with entities, or paragraphs."""
    keys = keys_of(sample)
    pairs = bool(_PAIR.match(sample.text)) and bool(keys & {"entities", "spans"})
    return pairs or {"classes", "annotations"} <= keys or "paragraphs" in keys


def _unwrapped(path: Path, report: ConversionReport) -> Iterator[Item]:
    """The items of a file, out of the object that annotators on the web wrap them in."""
    for item in read_items(path, report):
        value, where = item
        if isinstance(value, dict) and isinstance(value.get("annotations"), list):
            for number, one in enumerate(value["annotations"], 1):
                if one is not None:  # texts that nobody has annotated yet
                    yield Item(one, f"{where}, item {number}")
        else:
            yield item


# Pairs


def parse_pair(item: Item, settings: Settings, report: ConversionReport) -> Doc:
    """The document in a pair of a text and its annotation."""
    value, where = item
    if not (isinstance(value, list) and len(value) == 2 and is_a(value[0], str) and isinstance(value[1], dict)):
        expected = 'expected ["text", {"entities": [[0, 4, "LABEL"]]}], or an object with paragraphs'
        raise FormatError(where, f"{shown(value)} is not an example; {expected}")
    text, annotation = value
    spans = annotation.get("spans")
    found = [
        *_entities(annotation.get("entities"), "entities", where),
        *_entities(spans.get(settings.spans_key) if isinstance(spans, dict) else spans, "spans", where),
    ]
    if "entities" not in annotation and "spans" not in annotation:
        others = ", ".join(annotation) or "nothing"
        report.lose("mentions of examples that have neither entities nor spans", f"{where}: it has {others}")
    return doc_from_text(text, [(mention, None) for mention in dict.fromkeys(found)], settings, report, where)


def _entities(items: Any, name: str, where: str) -> Iterator[Mention]:
    for item in list_of(items or [], list, name, where):
        if len(item) < 3 or not (is_a(item[0], int) and is_a(item[1], int) and is_a(item[2], str)):
            raise FormatError(where, f'{shown(item)} in {name}: expected [start, end, "LABEL"], counted in characters')
        yield Mention(*item[:3])


# Paragraphs


def _paragraphs(item: Item) -> Iterator[Item]:
    paragraphs = list_of(object_with(item, "paragraphs")["paragraphs"], dict, "paragraphs", item.where)
    for number, paragraph in enumerate(paragraphs, 1):
        yield Item(paragraph, f"{item.where}, paragraph {number}")


def parse_paragraph(item: Item, settings: Settings, report: ConversionReport) -> Doc:
    """The document in a paragraph."""
    paragraph, where = object_with(item, "sentences"), item.where
    tokens: list[dict[str, Any]] = []
    starts = []
    for sentence in list_of(paragraph["sentences"], dict, "sentences", where):
        starts.append(len(tokens))
        tokens += list_of(sentence.get("tokens"), dict, "tokens", where)
    for token in tokens:
        if not is_a(token.get("orth"), str) or not is_a(token.get("ner") or "", str):
            raise FormatError(where, f'token {shown(token)}: expected strings for "orth" and "ner"')
    words = [token["orth"] for token in tokens]
    tags = [token.get("ner") or UNKNOWN for token in tokens]
    mentions = list(mentions_of_tags(tags, where))
    if is_a(raw := paragraph.get("raw"), str):
        doc = _doc_of_raw(raw, words, mentions, starts, settings, report, where)
    else:
        known = all(is_a(token.get("space"), str) for token in tokens)
        spaces = [bool(token["space"]) for token in tokens] if known else None
        doc = make_doc(words, mentions, settings, report, where, spaces=spaces, sent_starts=starts)
    if UNKNOWN in tags:
        doc.spans[settings.spans_key].attrs[INCOMPLETE] = True
    return doc


def _doc_of_raw(
    raw: str,
    words: list[str],
    mentions: list[Mention],
    starts: list[int],
    settings: Settings,
    report: ConversionReport,
    where: str,
) -> Doc:
    """A document of a running text in which the words are found one after the other."""
    edges = []
    reached = 0
    for word in words:
        start = raw.find(word, reached)
        if start < 0:
            shown_rest = shown(raw[reached : reached + 40])
            raise FormatError(
                where, f'the word {shown(word)} is not in "raw" from {shown_rest} on; correct one of them'
            )
        reached = start + len(word)
        edges.append((start, reached))
    by_characters = [(Mention(edges[start][0], edges[end - 1][1], label), None) for start, end, label in mentions]
    firsts = [edges[start][0] for start in starts if start < len(edges)]
    return doc_from_text(raw, by_characters, settings, report, where, tokens=edges, sent_starts=firsts)
