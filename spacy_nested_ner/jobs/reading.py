"""The documents of a piece, one after another, and what is wrong with those that cannot be read."""

import bz2
import gzip
import json
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BufferedReader, BytesIO
from typing import Any, BinaryIO, NamedTuple

from spacy.tokens import DocBin
from spacy.vocab import Vocab

from ..corpus.files import decompresses_to_more_than
from .parquet import pyarrow, read_rows
from .pieces import Part, Piece
from .storage import open_file, read_file

# No document is that large; what is larger is usually made to fill the memory.
MAX_BYTES = 2**30
_CHUNK = 2**20


class Document(NamedTuple):
    """A document to annotate.

    id (str): From the input, or else the name of the file and where the document begins there.
    place (str): Where it was found, for messages.
    content (str | bytes): The text, or a Doc as `Doc.to_bytes` gives it, if the input has tokens.
    """

    id: str
    place: str
    content: str | bytes


class Failure(NamedTuple):
    """A document that could not be read or annotated.

    id (str): As that of a document.
    place (str): Where it was found.
    reason (str): What is wrong with it.
    """

    id: str
    place: str
    reason: str

    def line(self) -> str:
        """As a line of JSON."""
        return json.dumps(self._asdict()) + "\n"


class Fields(NamedTuple):
    """Where documents are in a file.

    text (str): Name of the field or column.
    id (str): Name of the field or column.
    max_bytes (int): How long they may be: a line of JSON, a text, or all documents of a `.spacy` file, decompressed.
    """

    text: str
    id: str
    max_bytes: int = MAX_BYTES


def read_piece(piece: Piece, fields: Fields) -> Iterator[Document | Failure]:
    """Read a piece. What is wrong with a document, or with the content of a file, is a Failure. That a file cannot be
    opened, or has no such column, is an error: trying again, or correcting the command, will help."""
    for part in piece.parts:
        yield from _READERS[part.format](part, fields)


def reason_of(error: BaseException) -> str:
    """An error in one line, with the one behind it, which spaCy hides at times."""
    cause = f" ({type(error.__cause__).__name__}: {error.__cause__})" if error.__cause__ else ""
    return " ".join(f"{type(error).__name__}: {error}{cause}".split())[:500]


def _read_jsonl(part: Part, fields: Fields) -> Iterator[Document | Failure]:
    with _decompressed(part.path) as file:
        offset = 0
        if part.start:
            file.seek(part.start - 1)
            # The line that begins before belongs to the part before.
            offset = part.start - 1 + len(file.readline())
        while part.stop is None or offset < part.stop:
            place = f"{part.name}, byte {offset}"
            id = f"{part.name}:{offset}"
            try:
                line = file.readline(fields.max_bytes + 1)
                size = len(line)
                if size > fields.max_bytes:
                    yield _too_large(id, place, "the line", fields)
                    size += _skip_line(file, line)
                    line = b""
            except Exception as error:
                yield _damaged(part, id, place, error)
                return
            if not size:
                return
            if line.strip():
                yield _from_line(line, id, place, fields, first=offset == 0)
            offset += size


def _skip_line(file: BinaryIO, begun: bytes) -> int:
    """Pass over the rest of a line. Returns its size."""
    size = 0
    while begun and not begun.endswith(b"\n"):
        begun = file.readline(_CHUNK)
        size += len(begun)
    return size


def _from_line(line: bytes, id: str, place: str, fields: Fields, *, first: bool) -> Document | Failure:
    try:
        record = json.loads(line.decode("utf-8-sig" if first else "utf-8"))
    except (ValueError, RecursionError) as error:
        return Failure(id, place, f"not a line of JSON in UTF-8: {reason_of(error)}")
    if not isinstance(record, dict):
        return Failure(id, place, f"expected a JSON object, not {type(record).__name__}")
    checked = _checked(record.get(fields.text, ""), record.get(fields.id), id, place, fields)
    if isinstance(checked, Document) and fields.text not in record:
        names = ", ".join(map(repr, record)) or "none"
        return Failure(checked.id, place, f"no field {fields.text!r}; its fields are {names}; see --text-field"[:500])
    return checked


def _read_parquet(part: Part, fields: Fields) -> Iterator[Document | Failure]:
    with open_file(part.path) as file:
        rows = read_rows(file, part.name, start=part.start, stop=part.stop, text_field=fields.text, id_field=fields.id)
        number = -1
        try:
            for number, text, id in rows:
                default = f"{part.name}:{number}"
                yield _checked(text, id, default, f"{part.name}, row {number}", fields)
        except (pyarrow().ArrowInvalid, OSError) as error:
            default = f"{part.name}:{number + 1}"
            yield _damaged(part, default, f"{part.name}, after row {number}", error)


def _read_text(part: Part, fields: Fields) -> Iterator[Document | Failure]:
    with _decompressed(part.path) as file:
        try:
            content = file.read(fields.max_bytes + 1)
            if len(content) > fields.max_bytes:
                yield _too_large(part.name, part.name, "the text", fields)
                return
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            yield Failure(part.name, part.name, f"byte {error.start} is not UTF-8; save the file as UTF-8")
        except Exception as error:
            yield _damaged(part, part.name, part.name, error)
        else:
            yield Document(part.name, part.name, text)


def _read_docbin(part: Part, fields: Fields) -> Iterator[Document | Failure]:
    content = read_file(part.path)
    if decompresses_to_more_than(fields.max_bytes, BytesIO(content), len(content)):
        yield _too_large(part.name, part.name, "the file", fields)
        return
    number = 0
    try:
        # A vocab of its own, so that the strings of the file do not stay with the pipeline.
        for doc in DocBin().from_bytes(content).get_docs(Vocab()):
            default, place = f"{part.name}:{number}", f"{part.name}, document {number}"
            checked = _checked("", doc.user_data.get(fields.id), default, place, fields)
            yield checked._replace(content=doc.to_bytes()) if isinstance(checked, Document) else checked
            number += 1
    except Exception as error:  # zlib, msgpack, NumPy and spaCy raise errors of all kinds
        reason = f"not a .spacy file, or damaged from here on: {reason_of(error)}"
        yield Failure(f"{part.name}:{number}", f"{part.name}, document {number}", reason)


_READERS: dict[str, Callable[[Part, Fields], Iterator[Document | Failure]]] = {
    "jsonl": _read_jsonl,
    "parquet": _read_parquet,
    "spacy": _read_docbin,
    "text": _read_text,
}


def _checked(text: Any, id: Any, default_id: str, place: str, fields: Fields) -> Document | Failure:
    """A document, if text and id are what they should be."""
    if id is None:
        id = default_id
    elif isinstance(id, bool) or not isinstance(id, str | int):
        reason = f"{fields.id!r} is {type(id).__name__} {id!r:.40}; expected a string or a whole number; see --id-field"
        return Failure(default_id, place, reason)
    id = str(id)
    if not isinstance(text, str):
        reason = f"{fields.text!r} is {type(text).__name__} {text!r:.40}; expected a string; see --text-field"
        return Failure(id, place, reason)
    for field, value in (fields.id, id), (fields.text, text):
        try:
            value.encode()
        except UnicodeEncodeError as error:  # JSON can have half of a character
            reason = f"{field!r} has {value[error.start]!a}, half of a character, at {error.start}; correct the text"
            return Failure(id if value is text else default_id, place, reason)
    return Document(id, place, text)


@contextmanager
def _decompressed(path: str) -> Iterator[BinaryIO]:
    """A file to read from, without its compression."""
    with open_file(path) as file:
        opener = _OPENERS.get(path.lower().rsplit(".", 1)[-1])
        if opener is None:
            yield file
        else:
            with opener(file) as plain:
                yield plain


def _open_zstd(file: BinaryIO) -> Any:
    try:
        from compression import zstd  # from Python 3.14 on
    except ImportError:
        try:
            from pyarrow import CompressedInputStream
        except ImportError:
            raise ValueError(
                "to read .zst, pip install 'spacy-nested-ner[parquet]' or use Python 3.14; other files need nothing"
            ) from None
        return BufferedReader(CompressedInputStream(file, "zstd"))
    return zstd.open(file)


_OPENERS: dict[str, Callable[[BinaryIO], Any]] = {
    "gz": gzip.open,
    "bz2": bz2.open,
    "xz": lzma.open,
    "zst": _open_zstd,
}


def _too_large(id: str, place: str, what: str, fields: Fields) -> Failure:
    reason = f"{what} has more than {fields.max_bytes:,} bytes; if it is to be read, raise --max-bytes"
    return Failure(id, place, reason)


# What bz2 and pyarrow say, which have no class of their own for it.
_WORDS_OF_DAMAGE = (
    "Corrupt",
    "Couldn't deserialize thrift",
    "GZipCodec failed",
    "Invalid BYTE_ARRAY",
    "Invalid data stream",
    "Received invalid number of bytes",
    "Truncated compressed stream",
    "Unexpected end of stream",
    "ZSTD decompress",
)


def _damaged(part: Part, id: str, place: str, error: Exception) -> Failure:
    """What is said of a file whose content is damaged. Any other error is raised: it may not be there next time."""
    damage = isinstance(error, EOFError | ValueError | zlib.error | gzip.BadGzipFile | lzma.LZMAError)
    damage = damage or type(error).__name__ == "ZstdError"
    damage = damage or (isinstance(error, OSError) and str(error).startswith(_WORDS_OF_DAMAGE))
    if not damage:
        raise error
    return Failure(id, place, f"{part.name} is damaged from here on: {reason_of(error)}")
