"""What protects readers against files that want to harm: decompression has a limit, and XML declares no entities."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO
from xml.parsers import expat

from ..conversion_report import FormatError
from ..files import decompresses_to_more_than, place


class Limited:
    """A decompressed file that may be read up to a limit."""

    def __init__(self, file: Any, path: Path, limit: int) -> None:
        self._file, self._path, self._limit = file, path, limit
        self._left = limit

    def read(self, size: int = -1) -> bytes:
        # One more than may be read, so that the end of a file at the limit is no error.
        data: bytes = self._file.read(self._left + 1 if size < 0 else min(size, self._left + 1))
        self._left -= len(data)
        if self._left < 0:
            raise too_large(self._path, self._limit)
        return data


class WithoutEntities:
    """An XML file in which an entity that is declared is an error. They are declared before the first element."""

    def __init__(self, file: Any, path: Path) -> None:
        self._file, self._path = file, path
        self._in_prolog = True
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._leave_prolog
        refuse_entities(self._parser, path)

    def read(self, size: int = -1) -> bytes:
        data: bytes = self._file.read(size)
        if self._in_prolog:
            try:
                with known_encoding(self._path):
                    self._parser.Parse(data, not data)
            except expat.ExpatError:  # the reader will say so
                self._in_prolog = False
        return data

    def _leave_prolog(self, *_: object) -> None:
        self._in_prolog = False


@contextmanager
def known_encoding(path: Path) -> Iterator[None]:
    """While a parser of expat works: the error for an XML file that names an encoding which it cannot read."""
    try:
        yield
    except (LookupError, ValueError) as error:
        if isinstance(error, FormatError) or "encoding" not in str(error):
            raise
        raise FormatError(str(path), f"{error}; save the file as UTF-8, and say so in its first line") from None


def refuse_entities(parser: Any, path: Path) -> None:
    """Let a parser of expat raise an error for an entity that is declared: none can grow, or lead elsewhere."""

    def refuse(name: str, *_: object) -> None:
        reason = f"the file declares the entity {name!r}; replace entities by their text"
        raise FormatError(place(path, parser.CurrentLineNumber), reason)

    parser.EntityDeclHandler = refuse


def check_decompressed(file: BinaryIO, path: Path, limit: int) -> None:
    """Raise an error if a file that zlib has compressed is larger than a limit without that. Damage is no error."""
    if decompresses_to_more_than(limit, file, path.stat().st_size):
        raise too_large(path, limit)


def too_large(path: Path, limit: int) -> FormatError:
    """The error for a file that grows beyond a limit."""
    return FormatError(
        str(path),
        f"it has more than {limit:,} bytes when it is decompressed; if it is no bomb, raise the limit with "
        f"--max-bytes, in Python with Settings(max_bytes=…)",
    )
