"""Label Studio: the exports JSON and JSON-MIN of a project in which spans of text or of HTML are labeled.

JSON is a list of tasks: `{"id": 1, "data": {"text": "Ada sings"}, "annotations": [{"result": [{"type": "labels",
"value": {"start": 0, "end": 3, "text": "Ada", "labels": ["PER"]}, …}]}]}`. JSON-MIN is a list of `{"id": 1, "text":
"Ada sings", "label": [{"start": 0, "end": 3, "text": "Ada", "labels": ["PER"]}]}`. The fields `text` and `label` may
have other names.

A region with several labels is several mentions. If a task has several annotations, the one marked as ground truth is
read, or else the latest one. Annotations that were skipped, tasks without annotations, drafts, predictions, relations
and answers to other questions are not kept.

Older versions of Label Studio count some characters, such as emoji, twice, as JavaScript does. If the text of a region
shows that, the offsets are corrected. If the data is HTML, the text of the page becomes the document.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from spacy.tokens import Doc

from ...annotation import mentions_of
from ...decoders.mention import Mention
from ..conversion_report import ConversionReport, FormatError, shown
from ..documents import Record, Settings
from ._counting import Counting, Quote
from ._html import text_of_html
from ._inclusive import lose_sentences
from ._json import Item, is_a, keys_of, list_of, object_with, read_items, write_list
from ._offsets import doc_from_text
from ._sample import Sample

# The types of results that are mentions; their labels are in a field of the same name.
_KINDS = ("labels", "hypertextlabels")
# What JSON-MIN adds to the data of a task.
_ADDED = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement")

# A region as JSON-MIN has it, and nothing else.
_REGION = re.compile(r'"start"\s*:\s*\d+[^{}]{0,2000}"labels"\s*:\s*\[\s*"')
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://\S+")
_TAG = re.compile(r"</[a-zA-Z]|<br\s*/?>")


class _Task(NamedTuple):
    """What the annotators saw, and what they made of it."""

    data: dict[str, Any]
    annotations: list[dict[str, Any]]
    where: str


class _Region(NamedTuple):
    """A labeled piece of a text.

    field (str): The field of the data that has the text, or the name that the labeling interface has for it.
    is_html (bool): The text is the page that the field has in HTML.
    """

    quote: Quote
    labels: list[str]
    field: str
    is_html: bool
    where: str


class _Text(NamedTuple):
    """A text that was annotated.

    field (str): The field of the data that has it.
    counting (Counting): The characters that are counted; in HTML, those of its text nodes.
    places (Sequence[int]): Where these characters are in the text.
    """

    field: str
    text: str
    counting: Counting
    places: Sequence[int]


# Reading


def read(path: Path, settings: Settings, report: ConversionReport) -> Iterator[Record]:
    """Read the tasks of a file, each as a document."""
    fields: list[str] = []  # those that had the texts of the tasks so far
    for task in _tasks(path, report):
        with report.tolerating():
            annotation = _choose(task, report)
            if annotation is not None:
                yield from _records(task, annotation, fields, settings, report)


def recognizes(sample: Sample) -> bool:
    """Whether a file has tasks of Label Studio."""
    keys = keys_of(sample)
    tasks = bool(keys & {"annotations", "completions", "predictions"}) and bool(keys & {"data", "from_name"})
    return tasks or {"result", "task"} <= keys or "annotation_id" in keys or bool(_REGION.search(sample.text))


def _tasks(path: Path, report: ConversionReport) -> Iterator[_Task]:
    """The tasks of a file. The annotations of a task follow each other in JSON-MIN."""
    for _, group in groupby(read_items(path, report), key=_identity):
        items = list(group)
        with report.tolerating():
            value = object_with(items[0])
            where = f"{path}, task {shown(value['id'])}" if "id" in value else items[0].where
            if "result" in value and isinstance(value.get("task"), dict):  # one annotation, from a cloud storage
                yield _Task(value["task"].get("data"), [value], where)
            elif "data" in value:
                annotations = value.get("annotations", value.get("completions"))  # the older name
                for name in ("drafts", "predictions"):
                    if isinstance(value.get(name), list) and value[name]:
                        report.lose(name, where, len(value[name]))
                yield _Task(value["data"], annotations or [], where)
            else:
                # Tasks that nobody annotated are there with an annotation that is null.
                annotations = [_from_min(one) for one, _ in items if one.get("annotation_id", "unknown") is not None]
                yield _Task({key: value[key] for key in value if key not in _ADDED}, annotations, where)


def _identity(item: Item) -> Any:
    """The same for all annotations of a task in JSON-MIN, and for nothing else."""
    value, where = item
    minimal = isinstance(value, dict) and "data" not in value and "result" not in value
    return ("task", shown(value["id"])) if minimal and "id" in value else where


def _from_min(record: dict[str, Any]) -> dict[str, Any]:
    """A record of JSON-MIN as an annotation of JSON."""
    result = []
    for values in record.values():
        for value in values if isinstance(values, list) else ():
            kind = next((kind for kind in _KINDS if isinstance(value, dict) and kind in value), None)
            result += [{"type": kind, "value": value}] if kind else []
    return {"result": result, "updated_at": record.get("updated_at")}


def _choose(task: _Task, report: ConversionReport) -> dict[str, Any] | None:
    """The annotation to read; None if there is none."""
    annotations = list_of(task.annotations, dict, "annotations", task.where)
    finished = [one for one in annotations if not one.get("was_cancelled") and not one.get("skipped")]
    if len(annotations) > len(finished):
        report.lose("annotations that were skipped", task.where, len(annotations) - len(finished))
    if not finished:
        report.lose("tasks without a finished annotation", task.where)
        return None
    if len(finished) > 1:
        report.lose("further annotations of the same task", task.where, len(finished) - 1)
    return max(finished, key=lambda one: (bool(one.get("ground_truth")), str(one.get("updated_at") or "")))


def _records(
    task: _Task, annotation: dict[str, Any], fields: list[str], settings: Settings, report: ConversionReport
) -> Iterator[Record]:
    """The document of a task; several, if the task has several texts with regions.

    fields (list[str]): The fields that had the texts of earlier tasks, to find the text of a task without regions.
        Those of this task are added.
    """
    groups: dict[str, list[_Region]] = {}
    for region in _regions(annotation, task.where, report):
        groups.setdefault(region.field, []).append(region)
    for field, regions in (groups or {fields[-1] if fields else "text": []}).items():
        where = f"{task.where}, text {shown(field)}" if len(groups) > 1 else task.where
        with report.tolerating():
            found = _find_text(task.data, field, regions, where)
            fields += [found.field] if regions and found.field not in fields else []
            yield Record(_doc(found, regions, settings, report, where), where)


def _regions(annotation: dict[str, Any], where: str, report: ConversionReport) -> Iterator[_Region]:
    """The labeled regions of an annotation. Everything else in it is reported."""
    for number, result in enumerate(list_of(annotation.get("result"), dict, "result", where), 1):
        kind = result.get("type")
        if kind not in _KINDS:
            report.lose("relations" if kind == "relation" else f"results of type {shown(kind)}", where)
            continue
        name = result.get("id")
        place = f"{where}, region {name if is_a(name, str) and name else number}"
        with report.tolerating():
            region = _region(result, place)
            if region.labels:
                yield region
            else:
                report.lose("regions without a label", place)


def _region(result: dict[str, Any], where: str) -> _Region:
    value = result.get("value")
    if not isinstance(value, dict):
        raise FormatError(where, f"value is {shown(value)}; expected an object with start, end and labels")
    start, end, is_html = value.get("start"), value.get("end"), False
    if is_a(start, str):  # a path to an element of the page
        is_html = True
        whole = value.get("globalOffsets")
        start, end = (whole.get("start"), whole.get("end")) if isinstance(whole, dict) else (None, None)
    if not is_a(start, int) or not is_a(end, int):
        expected = "expected whole numbers for start and end, or for those in globalOffsets if the text is HTML"
        raise FormatError(where, f"value is {shown(value)}; {expected}")
    labels = list_of(value.get(result["type"], value.get("labels", [])), str, "labels", where)
    text = value.get("text")
    field = result.get("source") or result.get("to_name") or "text"
    return _Region(
        Quote(start, end, text if is_a(text, str) else None), labels, str(field).removeprefix("$"), is_html, where
    )


def _doc(found: _Text, regions: list[_Region], settings: Settings, report: ConversionReport, where: str) -> Doc:
    """The document of a text and its regions."""
    _, text, counting, places = found
    mentions = []
    for region in regions:
        with report.tolerating():
            start, end = counting.find(region.quote, region.where)
            if (start, end) != region.quote[:2]:
                report.lose("offsets that count some characters as two or none (corrected)", region.where)
            edges = places[start], places[end - 1] + 1
            mentions += [(Mention(*edges, label), region.where) for label in region.labels]
    return doc_from_text(text, mentions, settings, report, where)


def _find_text(data: Any, field: str, regions: list[_Region], where: str) -> _Text:
    """The text in which most regions are; if that does not decide, the field that has the right name."""
    fields = {name: value for name, value in data.items() if is_a(value, str)} if isinstance(data, dict) else {}
    if not fields:
        raise FormatError(where, f"data is {shown(data)}; expected a text in it")
    named = [name for name in (field, "text") if name in fields]
    names = list(dict.fromkeys([*named, *fields]))
    texts = {name: _text(name, fields[name], regions) for name in names}
    fitting = {name: text.counting.fitting for name, text in texts.items()}
    best = [name for name in names if fitting[name] == max(fitting.values())]
    if len(best) > 1 and best[0] not in named:
        raise FormatError(where, f'{", ".join(best)} may all be the text; call the right one "text"')
    if regions and not fitting[best[0]] and _ADDRESS.fullmatch(fields[best[0]]):
        raise FormatError(where, f"the text is at {shown(fields[best[0]])}; put the texts themselves into the data")
    return texts[best[0]]


def _text(field: str, content: str, regions: list[_Region]) -> _Text:
    quotes = [region.quote for region in regions]
    if any(region.is_html for region in regions) if regions else bool(_TAG.search(content)):
        text, places = text_of_html(content)
        return _Text(field, text, Counting("".join(text[place] for place in places[:-1]), quotes), places)
    return _Text(field, content, Counting(content, quotes), range(len(content) + 1))


# Writing


def write(records: Iterable[Record], path: Path, settings: Settings, report: ConversionReport) -> None:
    """Write one task per document, each with one annotation. Characters are counted as in Python and as in current
    versions of Label Studio. Its labeling interface needs `<Labels name="label" toName="text">` and `<Text name="text"
    value="$text"/>`."""
    write_list((render(number, record, settings, report) for number, record in enumerate(records, 1)), path)


def render(number: int, record: Record, settings: Settings, report: ConversionReport) -> dict[str, Any]:
    """A document as a task."""
    doc = record.doc
    lose_sentences(record, report)
    result = []
    for n, (first, after, label) in enumerate(mentions_of(doc, settings.spans_key), 1):
        span = doc[first:after]
        value = {"start": span.start_char, "end": span.end_char, "text": span.text, "labels": [label]}
        result.append({"id": f"m{n}", "from_name": "label", "to_name": "text", "type": "labels", "value": value})
    annotation = {"result": result, "was_cancelled": False, "ground_truth": False}
    return {"id": number, "data": {"text": doc.text}, "annotations": [annotation]}
