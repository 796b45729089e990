"""JSON as lines, as a list or as one object: what the formats in JSON have in common.

Whatever is wrong with a file, the error is a `FormatError` with the place: Python's own parser ends with other errors
for brackets nested 100,000 deep and for numbers of 5,000 digits, and is silent about repeated keys and halves of
surrogate pairs.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard, TypeVar

from ..conversion_report import ConversionReport, FormatError, shown
from ..files import place, read_lines
from ._sample import Sample

T = TypeVar("T")

# Files with these names have one value per line. Others may have, too.
LINES = (".jsonl", ".jsonlines", ".ndjson")

_BLANK = re.compile(r"[ \t\r\n]*")
_KEY = re.compile(r'"([^"\\]{1,40})"\s*:')
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class Item(NamedTuple):
    """A value in a file, and where it is."""

    value: Any
    where: str


# Reading


def read_items(path: Path, report: ConversionReport) -> Iterator[Item]:
    """The values in a file: one per line, or the items of a list, or the only one."""
    return _read_by_line(path, report) if _is_by_line(path) else _read_whole(path, report)


def _is_by_line(path: Path) -> bool:
    """Whether there is one value per line. A list or an object over several lines is incomplete on the first one."""
    lines = (line.text.strip() for line in read_lines(path))
    first, second = [*islice(filter(None, lines), 2), "", ""][:2]
    named = path.name.lower().endswith(LINES)
    if first.startswith("{"):
        return named or first.endswith("}")
    if first.startswith("["):
        more = bool(second) and not second.startswith((",", "]"))
        return first.endswith("]") and (more or (named and first.startswith('["')))
    return True


def _read_by_line(path: Path, report: ConversionReport) -> Iterator[Item]:
    for number, text in read_lines(path):
        if text.strip():
            where = place(path, number)
            with report.tolerating():
                with _guarded(where):
                    value = _DECODER.decode(text)
                    _check_surrogates(value, text)
                yield Item(value, where)


def _read_whole(path: Path, report: ConversionReport) -> Iterator[Item]:
    """The items of a list are decoded one by one, so that a large file does not become large objects at once."""
    text = "\n".join(line.text for line in read_lines(path))
    start = _after_blank(text, 0)
    with report.tolerating():
        if text[start : start + 1] == "[":
            yield from _items_of_list(text, start + 1, path)
        else:
            with _guarded(str(path), path):
                value = _DECODER.decode(text)
                _check_surrogates(value, text)
            yield Item(value, str(path))


def _items_of_list(text: str, position: int, path: Path) -> Iterator[Item]:
    """The items of the list that begins before `position`."""
    number = 0
    position = _after_blank(text, position)
    mark = text[position : position + 1]
    while mark != "]":
        number += 1
        where = f"{path}, item {number}"
        begin = position
        with _guarded(where, path):
            value, position = _DECODER.raw_decode(text, begin)
            _check_surrogates(value, text, begin, position)
        yield Item(value, where)
        position = _after_blank(text, position)
        mark = text[position : position + 1]
        if mark == ",":
            position = _after_blank(text, position + 1)
        elif mark != "]":
            reason = "the file ends inside the list" if not mark else f"{mark!r} instead of a comma or a bracket"
            raise FormatError(where, f"not JSON: {reason} after this item; is the file complete?")
    if text[_after_blank(text, position + 1) :]:
        raise FormatError(place(path, text.count("\n", 0, position) + 1), "not JSON: the file goes on after the list")


def _after_blank(text: str, position: int) -> int:
    found = _BLANK.match(text, position)
    return found.end() if found else position


# Guarding


class _RepeatedKeyError(Exception):
    """A key that an object has twice."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise _RepeatedKeyError(Counter(key for key, _ in pairs).most_common(1)[0][0])
    return result


_DECODER = json.JSONDecoder(object_pairs_hook=_unique)


@contextmanager
def _guarded(where: str, path: Path | None = None) -> Iterator[None]:
    """Turn everything that goes wrong in the parser into a `FormatError`.

    path (Path | None): The file, if the text that is parsed is all of it, so that its lines can be counted.
    """
    try:
        yield
    except json.JSONDecodeError as error:
        reason = f"not JSON: {error.msg}, at character {error.colno}"
        raise FormatError(place(path, error.lineno) if path else where, reason) from None
    except RecursionError:
        raise FormatError(where, "brackets are nested too deeply to be read; correct the file") from None
    except _RepeatedKeyError as error:
        raise FormatError(where, f"an object has the key {shown(error.args[0])} twice; remove one") from None
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise FormatError(where, f"{half!r} is half of a surrogate pair; correct the text") from None
    except ValueError:  # Python refuses to convert integers of thousands of digits
        raise FormatError(where, "a number has too many digits to be read; correct it") from None


def _check_surrogates(value: Any, text: str, start: int = 0, end: int | None = None) -> None:
    """Raise a `UnicodeEncodeError` if the value, decoded from a part of the text, has half of a surrogate pair."""
    if _SURROGATE.search(text, start, len(text) if end is None else end):
        json.dumps(value, ensure_ascii=False).encode("utf-8")


# Checking


def is_a(value: Any, kind: type[T]) -> TypeGuard[T]:
    """Whether a value has a type; true and false are no numbers."""
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def list_of(value: Any, kind: type, name: str, where: str) -> list[Any]:
    """A value, if it is a list of values of one type."""
    if not isinstance(value, list) or not all(is_a(item, kind) for item in value):
        raise FormatError(where, f"{name} is {shown(value)}; expected a list of {kind.__name__}")
    return value


def object_with(item: Item, *names: str) -> dict[str, Any]:
    """The value of an item, if it is an object with all these keys."""
    value, where = item
    if not isinstance(value, dict) or not all(name in value for name in names):
        expected = " and ".join(map(repr, names)) or "fields"
        raise FormatError(where, f"expected an object with {expected}, not {shown(value)}")
    return value


# Recognizing


def keys_of(sample: Sample) -> set[str]:
    """The keys of the first object in a file. If it is too long for the sample, all keys that are in the sample; if
    the file is not JSON, none."""
    text = sample.text.lstrip("\ufeff \t\r\n")
    if not text.startswith(("{", "[")):
        return set()
    try:
        with _guarded(sample.name):
            value, _ = _DECODER.raw_decode(text, _after_blank(text, 1) if text.startswith("[") else 0)
    except FormatError:
        value = None
    return set(value) if isinstance(value, dict) else set(_KEY.findall(text))


# Writing


def write_lines(values: Iterable[Any], path: Path) -> None:
    """Write one value per line."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for value in values:
            file.write(json.dumps(value, ensure_ascii=False) + "\n")


def write_list(values: Iterable[Any], path: Path) -> None:
    """Write a list with one value per line."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        before = "[\n"
        for value in values:
            file.write(before + json.dumps(value, ensure_ascii=False))
            before = ",\n"
        file.write("\n]\n" if before == ",\n" else "[]\n")
