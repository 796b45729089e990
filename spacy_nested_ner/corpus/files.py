"""Files: what is read, line by line, and what is written, all or nothing."""

import os
import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from .report import FormatError

# Of the many characters Unicode calls white space, only these separate anything in a file.
BLANK = " \t\r"


class Line(NamedTuple):
    """A line of a file, counted from 1, without its line end."""

    number: int
    text: str


def place(path: Path, line: int) -> str:
    return f"{path}, line {line}"


def read_lines(path: Path) -> Iterator[Line]:
    """The lines of a UTF-8 file. Only a line feed ends a line."""
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            try:
                text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                reason = f"byte {raw[error.start]:#04x} is not UTF-8; save the file as UTF-8"
                raise FormatError(place(path, number), reason) from None
            yield Line(number, text.rstrip("\r\n"))


def read_paragraphs(path: Path) -> Iterator[list[Line]]:
    """The runs of lines between blank lines."""
    paragraph: list[Line] = []
    for line in read_lines(path):
        if line.text.strip(BLANK):
            paragraph.append(line)
        elif paragraph:
            yield paragraph
            paragraph = []
    if paragraph:
        yield paragraph


def input_files(path: Path, suffixes: tuple[str, ...], names: Collection[str] | None = None) -> list[Path]:
    """A file itself, or the files below a folder that end in one of the suffixes.

    names (Collection[str] | None): Only these, with or without their suffix.
    """
    if not path.exists():
        raise FormatError(str(path), "no such file or folder")
    if path.is_file():
        found = [path]
    else:
        found = sorted(file for file in path.rglob("*") if file.is_file() and file.name.lower().endswith(suffixes))
    if names is not None:
        missing = set(names).difference(*({file.name, file.stem} for file in found))
        if missing:
            some = ", ".join(sorted(missing)[:3])
            raise FormatError(str(path), f"{len(missing)} of the {len(names)} files asked for are not there: {some}")
        found = [file for file in found if file.name in names or file.stem in names]
    if not found:
        raise FormatError(str(path), f"the folder has no file that ends in {' or '.join(suffixes)}")
    return found


@contextmanager
def staging(folder: Path) -> Iterator[Path]:
    """An empty folder inside `folder`. What is in it at the end moves to `folder`,
    by renaming; after an error nothing does."""
    folder.mkdir(parents=True, exist_ok=True)
    stage = Path(tempfile.mkdtemp(prefix=".converting-", dir=folder))
    try:
        yield stage
        for made in sorted(stage.iterdir()):
            os.replace(made, folder / made.name)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """An empty folder beside `folder` that takes its place at the end, by renaming; after an error
    `folder` is as it was."""
    folder = folder.resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    stage = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    new, old = stage / "new", stage / "old"
    try:
        new.mkdir()
        yield new
        if folder.exists():
            os.replace(folder, old)
        os.replace(new, folder)
    finally:
        if old.exists() and not folder.exists():
            os.replace(old, folder)
        shutil.rmtree(stage, ignore_errors=True)
