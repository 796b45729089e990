"""Pieces of work. Each gives one shard of the output, and they depend on nothing but the input and the shard size."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from .storage import StoredFile, absolute, find_files, is_folder, open_file

# Formats by the ends of names.
SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".spacy": "spacy", ".txt": "text"}
COMPRESSED = (".gz", ".bz2", ".xz", ".zst")


class Part(NamedTuple):
    """A file of the input, or a stretch of it.

    path (str): An absolute path, or an address such as `s3://bucket/file.jsonl`.
    name (str): How ids and messages name the file.
    format (str): jsonl, parquet, spacy or text.
    size (int): How many bytes it has, about.
    start (int): Where it begins: a byte of JSONL, a row group of Parquet; otherwise 0.
    stop (int | None): Where it ends; None if that is the end of the file.
    """

    path: str
    name: str
    format: str
    size: int
    start: int = 0
    stop: int | None = None


@dataclass(frozen=True)
class Piece:
    """What one worker takes at a time. It can be pickled.

    number (int): From 0.
    parts (tuple[Part, ...]): What to read, in this order.
    """

    number: int
    parts: tuple[Part, ...]

    @property
    def name(self) -> str:
        """The name of its shard, without a suffix."""
        return f"part-{self.number:05d}"

    @property
    def size(self) -> int:
        """How many bytes it has, about."""
        return sum(part.size for part in self.parts)


class InputFile(NamedTuple):
    """A file of the input.

    name (str): How ids and messages name it.
    stored (StoredFile): Where it is.
    """

    name: str
    stored: StoredFile


def find_input(given: Sequence[str]) -> list[InputFile]:
    """All files of the input, in the order in which they are given, those of a folder or pattern by name.

    Files of a folder are named by their path inside it, if that is no name of another file; all others as they are
    given.

    given (Sequence[str]): Files, folders, and patterns with wildcards.
    RETURNS (list[InputFile]): At least one.
    """
    found: dict[str, InputFile] = {}
    for each in given:
        path = absolute(each)
        folder = is_folder(path)
        files = find_files(path)
        if not files:
            raise ValueError(f"{each}: no such file or folder, and no file that matches")
        known = [file for file in files if format_of(file.path) is not None]
        if not known:
            names = ", ".join(SUFFIXES)
            raise ValueError(f"{each}: found no file that ends in {names}, or in one of these and .gz, .bz2, .xz, .zst")
        for file in known:
            name = file.path[len(path) :].lstrip("/\\") if folder else _as_given(file.path, each, path)
            found.setdefault(file.path, InputFile(_writable(name), file))
    return _with_unique_names(list(found.values()))


def format_of(path: str) -> str | None:
    """The format that the name of a file shows; None if it shows none."""
    name = path.lower()
    for suffix in COMPRESSED:
        if name.endswith(suffix):
            name = name.removesuffix(suffix)
            # These two have a compression of their own, and are not read from the beginning to the end.
            return None if name.endswith((".parquet", ".spacy")) else _format_of_plain(name)
    return _format_of_plain(name)


def plan(files: Iterable[InputFile], shard_size: int) -> list[Piece]:
    """Pieces of about the same size. Large JSONL and Parquet files are divided, small files are put together.

    files (Iterable[InputFile]): The input.
    shard_size (int): The size of a piece in bytes of the input.
    RETURNS (list[Piece]): At least one, numbered from 0.
    """
    pieces: list[list[Part]] = [[]]
    size = 0
    for file in files:
        for part in _divide(file, shard_size):
            if pieces[-1] and size + part.size > shard_size:
                pieces.append([])
                size = 0
            pieces[-1].append(part)
            size += part.size
    return [Piece(number, tuple(parts)) for number, parts in enumerate(pieces)]


def _format_of_plain(name: str) -> str | None:
    return next((format for suffix, format in SUFFIXES.items() if name.endswith(suffix)), None)


def _as_given(path: str, given: str, absolute_path: str) -> str:
    """A path that a pattern matches, relative to where the pattern is relative to."""
    prefix = absolute_path.removesuffix(given)
    return path.removeprefix(prefix) if prefix != absolute_path else path


def _with_unique_names(files: list[InputFile]) -> list[InputFile]:
    """Two documents must not get the same id because two folders have files of the same name."""
    times: dict[str, int] = {}
    for file in files:
        times[file.name] = times.get(file.name, 0) + 1
    return [file if times[file.name] == 1 else InputFile(_writable(file.stored.path), file.stored) for file in files]


def _writable(name: str) -> str:
    """The name of a file as it can be written to the output. On Linux, names can have bytes that are no character."""
    return name.encode(errors="backslashreplace").decode()


def _divide(file: InputFile, shard_size: int) -> Iterator[Part]:
    path, size, _ = file.stored
    format = format_of(path)
    assert format is not None
    whole = Part(path, file.name, format, size)
    if size <= shard_size or path.lower().endswith(COMPRESSED):
        yield whole
    elif format == "jsonl":
        count = -(-size // shard_size)
        bounds = [size * number // count for number in range(count + 1)]
        for start, stop in pairwise(bounds):
            yield whole._replace(size=stop - start, start=start, stop=stop)
    elif format == "parquet":
        yield from _row_groups(whole, shard_size)
    else:
        yield whole


def _row_groups(whole: Part, shard_size: int) -> Iterator[Part]:
    """Neighboring row groups together, as far as they fit."""
    from .parquet import row_group_sizes

    with open_file(whole.path) as file:
        sizes = row_group_sizes(file, whole.name)
    scale = whole.size / max(sum(sizes), 1)  # compressed sizes, so that they add up to that of the file
    start, size = 0, 0.0
    for number, group in enumerate(sizes):
        if number > start and size + group * scale > shard_size:
            yield whole._replace(size=round(size), start=start, stop=number)
            start, size = number, 0.0
        size += group * scale
    yield whole._replace(size=round(size), start=start, stop=len(sizes))
