"""DyGIE++, PURE and biaffine-ner: the sentences of a document and its mentions, one document per line.

`{"doc_key": "a", "sentences": [["Ada", "sings"], ["Bo", "listens"]], "ner": [[[0, 0, "PER"]], [[2, 2, "PER"]]]}`: a
list of words and a list of mentions per sentence. In `ner`, as DyGIE++ and PURE have it, words are counted from the
beginning of the document; in `ners`, as biaffine-ner by Yu and others has it, from the beginning of the sentence. The
end is included in both. Relations, events, coreference clusters and predictions are not kept.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..conversion_report import ConversionReport, FormatError
from ..documents import Record, Sentence, Settings, join_sentences, sentences_of
from ._inclusive import mention_in
from ._json import Item, keys_of, list_of, object_with, read_items, write_lines
from ._sample import Sample

_NOT_KEPT = {
    "relations": "relations",
    "events": "events",
    "clusters": "coreference clusters",
    "predicted_ner": "predictions",
    "predicted_relations": "predictions",
    "predicted_events": "predictions",
    "predicted_clusters": "predictions",
}


def read(path: Path, settings: Settings, report: ConversionReport) -> Iterator[Record]:
    """Read the documents of a file, whose mentions may be in `ner` or in `ners`."""
    for item in read_items(path, report):
        with report.tolerating():
            for name, what in _NOT_KEPT.items():
                if isinstance(item.value, dict) and (found := _count(item.value.get(name))):
                    report.lose(what, item.where, found)
            yield Record(join_sentences(parse(item, report), settings, report, item.where), item.where)


def recognizes(sample: Sample) -> bool:
    """Whether a file has sentences with mentions."""
    keys = keys_of(sample)
    return "sentences" in keys and "paragraphs" not in keys and bool(keys & {"ner", "ners", "doc_key"})


def parse(item: Item, report: ConversionReport) -> list[Sentence]:
    """The sentences of a document."""
    record, where = object_with(item, "sentences"), item.where
    words = [
        list_of(sentence, str, "a sentence", where)
        for sentence in list_of(record["sentences"], list, "sentences", where)
    ]
    name = "ner" if "ner" in record else "ners"
    counted = "the document" if name == "ner" else "the sentence"
    if name not in record:
        report.lose("mentions of documents that have neither ner nor ners", f"{where}: it has {', '.join(record)}")
    mentions = list_of(record.get(name, [[]] * len(words)), list, name, where)
    if len(mentions) != len(words):
        raise FormatError(
            where, f"{name} has {len(mentions)} lists for {len(words)} sentences; expected one per sentence"
        )
    sentences = []
    reached = 0
    for number, (of_sentence, items) in enumerate(zip(words, mentions), 1):
        first = reached if name == "ner" else 0
        place = f"{where}, {name} of sentence {number}"
        found = [mention_in(mention, first, len(of_sentence), place, counted=counted) for mention in items]
        sentences.append(Sentence(of_sentence, found))
        reached += len(of_sentence)
    return sentences


def _count(value: Any) -> int:
    """How many things a list per sentence, or per cluster, has."""
    return sum(map(len, value)) if isinstance(value, list) and all(isinstance(one, list) for one in value) else 0


def write(records: Iterable[Record], path: Path, settings: Settings, report: ConversionReport) -> None:
    """Write `ner`, counted from the beginning of the document, as DyGIE++ and PURE read it."""
    write_lines(_render(records, "ner", settings, report), path)


def write_by_sentence(records: Iterable[Record], path: Path, settings: Settings, report: ConversionReport) -> None:
    """Write `ners`, counted from the beginning of the sentence, as biaffine-ner reads it."""
    write_lines(_render(records, "ners", settings, report), path)


def _render(
    records: Iterable[Record], name: str, settings: Settings, report: ConversionReport
) -> Iterator[dict[str, Any]]:
    for number, record in enumerate(records, 1):
        sentences = list(sentences_of(record, settings, report))
        mentions = []
        reached = 0
        for sentence in sentences:
            first = reached if name == "ner" else 0
            mentions.append([[first + start, first + end - 1, label] for start, end, label in sentence.mentions])
            reached += len(sentence.words)
        yield {"doc_key": f"document-{number}", "sentences": [list(one.words) for one in sentences], name: mentions}
