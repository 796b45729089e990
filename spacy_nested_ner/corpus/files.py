"""Files: find them, and read them line by line."""

import zlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from .conversion_report import FormatError

# Of all the characters that Unicode calls whitespace, only these separate words in a file.
BLANK = " \t\r"


# At the beginning of a file it says that the file is UTF-8, and is no part of the text.
BYTE_ORDER_MARK = "\ufeff"

# A whole number. Nothing is counted in more digits, and Python refuses to convert thousands of them.
NUMBER = r"[0-9]{1,15}"

# zlib and gzip make at most so many bytes of one.
_LARGEST_FACTOR = 1032
_CHUNK = 1 << 20


class Line(NamedTuple):
    """A line of a file without its line end. The first line is number 1."""

    number: int
    text: str


def place(path: Path, line: int) -> str:
    """How messages name a line of a file."""
    return f"{path}, line {line}"


def read_lines(path: Path, *, keep_ends: bool = False) -> Iterator[Line]:
    """The lines of a UTF-8 file. Only a line feed ends a line.

    keep_ends (bool): With what ends them.
    """
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            try:
                text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                reason = f"byte {raw[error.start]:#04x} is not UTF-8; save the file as UTF-8"
                raise FormatError(place(path, number), reason) from None
            yield Line(number, text if keep_ends else text.rstrip("\r\n"))


def read_paragraphs(path: Path) -> Iterator[list[Line]]:
    """The lines between blank lines, together."""
    paragraph: list[Line] = []
    for line in read_lines(path):
        if line.text.strip(BLANK):
            paragraph.append(line)
        elif paragraph:
            yield paragraph
            paragraph = []
    if paragraph:
        yield paragraph


def visible_files(folder: Path) -> list[Path]:
    """The files in a folder, and in folders inside it, in order. Hidden ones are left out, and so is what is in hidden
    folders: systems and editors put them there, and what is being written is in one."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return [path for path in paths if not any(part.startswith(".") for part in path.relative_to(folder).parts)]


def input_files(path: Path, suffixes: tuple[str, ...], names: Collection[str] | None = None) -> list[Path]:
    """A file itself, or the files in a folder, and in folders inside it, that end in one of the suffixes.

    names (Collection[str] | None): Only these files, named with or without their suffix; None for all.
    """
    if not path.exists():
        raise FormatError(str(path), "no such file or folder")
    found = [path] if path.is_file() else [f for f in visible_files(path) if f.name.lower().endswith(suffixes)]
    if names is not None:
        if not names:
            raise FormatError(str(path), "the list of files to read is empty; name at least one")
        missing = set(names).difference(*({file.name, file.stem} for file in found))
        if missing:
            some = ", ".join(sorted(missing)[:3])
            reason = f"{len(missing)} of the {len(names)} named files are missing: {some}; correct the names"
            raise FormatError(str(path), reason)
        found = [file for file in found if file.name in names or file.stem in names]
    if not found:
        raise FormatError(str(path), f"the folder has no file whose name ends in {' or '.join(suffixes)}")
    return found


def decompresses_to_more_than(limit: int, file: BinaryIO, size: int) -> bool:
    """Whether a file that zlib has compressed is larger than a limit without that. Damaged files are not.

    size (int): Its size as it is.
    """
    if size <= limit // _LARGEST_FACTOR:
        return False
    decompressor, found = zlib.decompressobj(), 0
    try:
        while chunk := decompressor.unconsumed_tail or file.read(_CHUNK):
            found += len(decompressor.decompress(chunk, _CHUNK))
            if found > limit:
                return True
    except zlib.error:
        pass
    return False
