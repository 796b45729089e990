"""GLiNER: the words of a text, and its mentions by words with the end included, as a JSON list or as JSON lines.

`{"tokenized_text": ["Ada", "from", "Bonn"], "ner": [[0, 2, "person"], [2, 2, "place"]]}`. Sentences are unknown.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from spacy.tokens import Doc

from ...annotation import mentions_of
from ..conversion_report import ConversionReport
from ..documents import Record, Settings, make_doc
from ._inclusive import lose_sentences, mention_in
from ._json import Item, keys_of, list_of, object_with, read_items, write_list
from ._sample import Sample


def read(path: Path, settings: Settings, report: ConversionReport) -> Iterator[Record]:
    """Read the documents of a file."""
    for item in read_items(path, report):
        with report.tolerating():
            yield Record(parse(item, settings, report), item.where)


def recognizes(sample: Sample) -> bool:
    """Whether a file has texts for GLiNER."""
    return "tokenized_text" in keys_of(sample)


def parse(item: Item, settings: Settings, report: ConversionReport) -> Doc:
    """The document in an object."""
    record, where = object_with(item, "tokenized_text", "ner"), item.where
    words = list_of(record["tokenized_text"], str, "tokenized_text", where)
    items = list_of(record["ner"], list, "ner", where)
    mentions = [mention_in(mention, 0, len(words), where) for mention in items]
    if isinstance(relations := record.get("relations"), list) and relations:
        report.lose("relations", where, len(relations))
    return make_doc(words, mentions, settings, report, where)


def write(records: Iterable[Record], path: Path, settings: Settings, report: ConversionReport) -> None:
    """Write a list with one object per document. GLiNER cuts off texts of more than some hundred words."""
    write_list((render(record, settings, report) for record in records), path)


def render(record: Record, settings: Settings, report: ConversionReport) -> dict[str, Any]:
    """A document as an object."""
    doc = record.doc
    lose_sentences(record, report)
    if not doc.has_unknown_spaces and not all(token.whitespace_ for token in doc[:-1]):
        report.lose("spacing between words, in documents", record.where)
    mentions = [[start, end - 1, label] for start, end, label in mentions_of(doc, settings.spans_key)]
    return {"tokenized_text": [token.text for token in doc], "ner": mentions}
