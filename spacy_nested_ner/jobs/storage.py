"""Files, on this machine and elsewhere.

A path with a scheme, such as `s3://bucket/folder`, is left to fsspec. Anything else needs the standard library only.
"""

import glob
import os
import re
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from .. import _whole

# A single letter is a drive of Windows.
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
# What file systems call the version of a file, the most reliable one first.
_VERSIONS = ("ETag", "etag", "generation", "mtime", "LastModified", "last_modified", "modified", "created")


class StoredFile(NamedTuple):
    """A file that has been found.

    path (str): As it can be opened.
    size (int): In bytes.
    version (str): Changes with the content: when the file was written, or what the file system has for that.
    """

    path: str
    size: int
    version: str


def is_remote(path: str) -> bool:
    """Whether a path has a scheme."""
    return _SCHEME.match(path) is not None


def absolute(path: str) -> str:
    """The same file or folder, wherever a worker runs."""
    if path.startswith("file://"):
        path = path.removeprefix("file://")
    return path if is_remote(path) else os.path.abspath(os.path.expanduser(path))


def join(folder: str, *names: str) -> str:
    """A path below a folder."""
    return "/".join((folder.rstrip("/"), *names)) if is_remote(folder) else os.path.join(folder, *names)


def is_folder(path: str) -> bool:
    """Whether there is such a folder."""
    if is_remote(path):
        system, inside = _remote(path)
        return bool(system.isdir(inside))
    return os.path.isdir(path)


def is_inside(path: str, folder: str) -> bool:
    """Whether an absolute path is that of a folder, or of something below it."""
    if is_remote(path) or is_remote(folder):
        return f"{path.rstrip('/')}/".startswith(f"{folder.rstrip('/')}/")
    return Path(path).is_relative_to(folder)


def find_files(pattern: str) -> list[StoredFile]:
    """A file itself, the files of a folder and of the folders inside it, or those that match a pattern; in order.

    pattern (str): An absolute path, which may have the wildcards `*`, `?`, `[…]` and `**`.
    RETURNS (list[StoredFile]): Without hidden files; empty if there is nothing.
    """
    if is_remote(pattern):
        return _find_remote(pattern)
    matches = [pattern] if os.path.exists(pattern) else glob.glob(pattern, recursive=True)
    # Several wildcards can lead to one file.
    found = {path for match in matches for path in (_walk(match) if os.path.isdir(match) else [match])}
    return [_stored(path) for path in sorted(found)]


def list_names(folder: str) -> list[str]:
    """The names of everything in a folder, hidden files too; none if there is no such folder."""
    if is_remote(folder):
        system, inside = _remote(folder)
        system.invalidate_cache()
        entries = system.ls(inside, detail=False) if system.isdir(inside) else []
        return sorted(entry.rstrip("/").rsplit("/", 1)[-1] for entry in entries)
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else []


def open_file(path: str) -> BinaryIO:
    """A file to read from."""
    if is_remote(path):
        system, inside = _remote(path)
        return cast(BinaryIO, system.open(inside, "rb"))
    return open(path, "rb")


def read_file(path: str) -> bytes:
    """All of a file."""
    with open_file(path) as file:
        return file.read()


def write_file(path: str, content: bytes) -> None:
    """Write a file and its folder. Under its name there is all of it or nothing, even if the machine fails."""
    if not is_remote(path):
        _whole.write_whole(Path(path), content)
        return
    folder, name = path.rsplit("/", 1)
    system, inside = _remote(join(folder, f"{_whole.UNFINISHED}{uuid.uuid4().hex}-{name}"))
    system.makedirs(_remote(folder)[1], exist_ok=True)
    try:
        system.pipe_file(inside, content)
        system.mv(inside, _remote(path)[1])
    finally:
        if system.exists(inside):
            system.rm_file(inside)


def remove_file(path: str) -> None:
    """Remove a file, if there is one."""
    if not is_remote(path):
        Path(path).unlink(missing_ok=True)
        return
    system, inside = _remote(path)
    if system.exists(inside):
        system.rm_file(inside)


def remove_unfinished(folder: str) -> None:
    """Remove what was being written to a folder when a process ended."""
    if not is_remote(folder):
        _whole.remove_unfinished(Path(folder))
        return
    for name in list_names(folder):
        if name.startswith(_whole.UNFINISHED):
            remove_file(join(folder, name))


def _remote(path: str) -> tuple[Any, str]:
    """The file system of a path, and the path inside it."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise ValueError(f"{path} is not on this machine; to use it, pip install 'spacy-nested-ner[remote]'") from None
    try:
        system, inside = url_to_fs(path)
    except (ImportError, ValueError) as error:  # the package of this scheme is missing, or there is no such scheme
        raise ValueError(f"{path} cannot be used: {error}") from None
    return system, inside


def _find_remote(pattern: str) -> list[StoredFile]:
    pattern = pattern.rstrip("/")
    system, inside = _remote(pattern)
    system.invalidate_cache()
    if glob.has_magic(inside) and not system.exists(inside):
        matches = [match for match in system.glob(inside) if not match.rsplit("/", 1)[-1].startswith(".")]
    else:
        matches = [inside] if system.exists(inside) else []
    found: dict[str, Any] = {}
    for match in matches:
        for path, info in system.find(match, detail=True).items():  # of a file: itself
            if "/." not in path.removeprefix(match):
                found[path] = info
    # The scheme, and the server if there is one, which paths inside the file system do not have.
    prefix = pattern.removesuffix(inside)
    return [
        StoredFile(prefix + path, int(info.get("size") or 0), _version(info)) for path, info in sorted(found.items())
    ]


def _version(info: dict[str, Any]) -> str:
    return next((str(info[key]) for key in _VERSIONS if info.get(key) is not None), "")


def _walk(folder: str) -> Iterator[str]:
    for place, folders, names in os.walk(folder, followlinks=True):
        folders[:] = [name for name in folders if not name.startswith(".") and not _leads_back(place, name)]
        yield from (os.path.join(place, name) for name in names if not name.startswith("."))


def _leads_back(place: str, name: str) -> bool:
    """Whether a folder is a link to one that it is in: its files would be found again and again."""
    path = os.path.join(place, name)
    return os.path.islink(path) and is_inside(os.path.realpath(place), os.path.realpath(path))


def _stored(path: str) -> StoredFile:
    found = os.stat(path)
    return StoredFile(path, found.st_size, str(found.st_mtime_ns))
