"""Token classification as in datasets of Hugging Face: words and one tag per word, in JSON lines or in a JSON list.

`{"tokens": ["Ada", "sings"], "ner_tags": ["B-PER", "O"]}`, as `Dataset.to_json` writes it. The tags may also be called
`tags` or `labels`. A second layer, as GermEval 2014 has it, is in `nested_ner_tags`.

The names of tags that are numbers come from the setting `tag_names`; or from the features in the file, as the API of
the dataset viewer returns them, `{"features": …, "rows": …}`; or from a file in the same folder: `dataset_info.json`,
`dataset_infos.json`, or one from names to numbers, `label.json` or `label2id.json`.

Read-only, because one tag per word cannot show nested mentions.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from spacy.tokens import Doc

from ...decoders.mention import Mention
from ..conversion_report import ConversionReport, FormatError, shown
from ..documents import Record, Settings, make_doc
from ._json import Item, is_a, keys_of, list_of, object_with, read_items
from ._sample import Sample
from ._tags import mentions_of_tags

# What the tags are called; only the first of these that a record has is read.
_TAGS = ("ner_tags", "tags", "labels")
_NESTED = "nested_ner_tags"
# Files next to the data that may have the names of tags.
_FEATURES = ("dataset_info.json", "dataset_infos.json", "label.json", "label2id.json")


def read(path: Path, settings: Settings, report: ConversionReport) -> Iterator[Record]:
    """Read the documents of a file: one per record."""
    if path.name in _FEATURES:  # in a folder of data, which is read as a whole
        return
    names = _Names(path, settings.tag_names)
    for item in _rows(path, names, report):
        with report.tolerating():
            yield Record(parse(item, names, settings, report), item.where)


def recognizes(sample: Sample) -> bool:
    """Whether a file has words with tags."""
    keys = keys_of(sample)
    # With a text, tags and labels may be anything, such as mentions by characters.
    sure = {_TAGS[0], _NESTED} if "text" in keys else {*_TAGS, _NESTED}
    return ("tokens" in keys and bool(keys & sure)) or {"features", "rows"} <= keys


def parse(item: Item, names: "_Names", settings: Settings, report: ConversionReport) -> Doc:
    """The document in a record."""
    record, where = object_with(item, "tokens"), item.where
    words = list_of(record["tokens"], str, "tokens", where)
    fields = [next((name for name in _TAGS if name in record), _TAGS[0]), *([_NESTED] if _NESTED in record else [])]
    mentions: list[Mention] = []
    for field in fields:
        tags = record.get(field)
        if not isinstance(tags, list) or len(tags) != len(words):
            found = f"{len(tags)} values" if isinstance(tags, list) else shown(tags)
            raise FormatError(
                where, f"{field} is {found} for {len(words)} tokens; expected a list of one tag per token"
            )
        named = [names.name(tag, field, where) for tag in tags]
        mentions += mentions_of_tags(named, f"{where}, {field}")
    return make_doc(words, mentions, settings, report, where)


def _rows(path: Path, names: "_Names", report: ConversionReport) -> Iterator[Item]:
    """The records of a file, out of their wrapping in what the API returns."""
    for item in read_items(path, report):
        value, where = item
        if isinstance(value, dict) and isinstance(value.get("rows"), list):
            names.add(value.get("features"))
            for number, row in enumerate(value["rows"], 1):
                yield Item(row.get("row", row) if isinstance(row, dict) else row, f"{where}, row {number}")
        else:
            yield item


class _Names:
    """The names of tags that are numbers.

    given (Sequence[str]): The names from the settings, which come first.
    """

    def __init__(self, path: Path, given: Sequence[str]) -> None:
        self._given = list(given)
        self._path = path
        self._features: list[Any] | None = None

    def add(self, features: Any) -> None:
        """Features that the data comes with."""
        self._features = [features]

    def name(self, tag: Any, field: str, where: str) -> str:
        """The name of a tag of some field."""
        if is_a(tag, str):
            return str(tag)
        if not is_a(tag, int):
            raise FormatError(where, f"{field} has {shown(tag)}; expected names of tags, or numbers")
        names = self._given or self._of_field(field)
        if not names:
            reason = f"{field} has numbers, and their names are unknown"
            remedy = "list them with --tags O,B-PER,I-PER (tag_names in Python)"
            raise FormatError(where, f"{reason}; {remedy}, or put {_FEATURES[0]} into the same folder")
        if not 0 <= tag < len(names):
            reason = f"{field} has {shown(tag)}, but there are names for 0 to {len(names) - 1} only"
            raise FormatError(where, f"{reason}: {', '.join(names)}")
        return names[tag]

    def _of_field(self, field: str) -> list[str]:
        if self._features is None:
            files = [self._path.parent / name for name in _FEATURES]
            self._features = [
                item.value for file in files if file.is_file() for item in read_items(file, ConversionReport())
            ]
        found = (_names_in(features, field) for features in self._features)
        return next((names for names in found if names), [])


def _names_in(features: Any, field: str) -> list[str]:
    """The names of the tags of a field, wherever the features have them."""
    if isinstance(features, dict) and all(is_a(number, int) for number in features.values()):  # from names to numbers
        in_order = sorted(features, key=lambda name: features[name])
        return in_order if [features[name] for name in in_order] == list(range(len(in_order))) else []
    for one in _objects(features):
        if field in one or one.get("name") == field:
            for part in _objects(one.get(field, one)):
                names = part.get("names")
                if isinstance(names, dict):  # from numbers to names, as in the metadata of a dataset card
                    names = list(names.values())
                if isinstance(names, list) and names and all(is_a(name, str) for name in names):
                    return names
    return []


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """All objects in a value, outer ones first."""
    waiting = deque([value])
    while waiting:
        value = waiting.popleft()
        if isinstance(value, dict):
            yield value
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
