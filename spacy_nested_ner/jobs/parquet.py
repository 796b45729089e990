"""Parquet, in and out. pyarrow is an extra, and is imported when it is needed."""

from array import array
from collections.abc import Iterator
from io import BytesIO
from typing import Any, BinaryIO, NamedTuple

from ..export import PlacedMention

# How many rows are read at once.
_ROWS = 1000


def pyarrow() -> Any:
    """The library; a ValueError if it is missing."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ValueError(
            "Parquet needs pyarrow: pip install 'spacy-nested-ner[parquet]'; JSONL input with --to spacy needs nothing"
        ) from None
    return pyarrow


def row_group_sizes(file: BinaryIO, name: str) -> list[int]:
    """The bytes of every row group of a file."""
    metadata = _opened(file, name).metadata
    return [metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups)]


class Row(NamedTuple):
    """A row of a file. The first one is number 0."""

    number: int
    text: Any
    id: Any


def read_rows(
    file: BinaryIO, name: str, *, start: int, stop: int | None, text_field: str, id_field: str
) -> Iterator[Row]:
    """The rows of some row groups.

    file (BinaryIO): The file.
    name (str): How messages name it.
    start (int): The first row group.
    stop (int | None): The row group after the last one; None if there is none.
    text_field (str): The column with the text. A ValueError if there is none.
    id_field (str): The column with the id, which may be missing.
    """
    opened = _opened(file, name)
    metadata, columns = opened.metadata, opened.schema_arrow.names
    if text_field not in columns:
        raise ValueError(f"{name} has no column {text_field!r}; it has {', '.join(columns)}; see --text-field")
    groups = range(metadata.num_row_groups)[start:stop]
    number = sum(metadata.row_group(earlier).num_rows for earlier in range(start))
    wanted = [field for field in (text_field, id_field) if field in columns]
    for batch in opened.iter_batches(_ROWS, row_groups=list(groups), columns=wanted):
        texts = _values(batch.column(text_field))
        ids = _values(batch.column(id_field)) if id_field in wanted else [None] * len(texts)
        for text, id in zip(texts, ids):
            yield Row(number, text, id)
            number += 1


def _values(column: Any) -> list[Any]:
    """The values of a column. Strings that are not UTF-8, which other programs write, are bytes."""
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        return [_value(scalar) for scalar in column]


def _value(scalar: Any) -> Any:
    try:
        return scalar.as_py()
    except UnicodeDecodeError:
        return scalar.cast(pyarrow().binary()).as_py()


def _opened(file: BinaryIO, name: str) -> Any:
    arrow = pyarrow()
    try:
        return arrow.parquet.ParquetFile(file)
    except arrow.ArrowInvalid as error:
        raise ValueError(f"{name} is not a Parquet file: {error}") from None


class MentionColumns:
    """The rows of a shard, column by column: a million dictionaries would take longer than the pipeline."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.texts: list[str] = []
        self.n_tokens = array("i")
        self.log_probabilities: list[float | None] = []
        self.entropies: list[float | None] = []
        self.offsets = array("i", [0])
        self.numbers = {name: array("i") for name in ("start_char", "end_char", "start", "end", "depth")}
        self.labels: list[str] = []
        self.probabilities: list[float | None] = []

    def add(
        self,
        id: str,
        mentions: list[PlacedMention],
        *,
        text: str | None,
        n_tokens: int,
        log_probability: float | None,
        entropy: float | None,
    ) -> None:
        """Append a document, with its text if the shard has texts."""
        self.ids.append(id)
        if text is not None:
            self.texts.append(text)
        self.n_tokens.append(n_tokens)
        self.log_probabilities.append(log_probability)
        self.entropies.append(entropy)
        for name, column in self.numbers.items():
            column.extend([getattr(mention, name) for mention in mentions])
        self.labels += [mention.label for mention in mentions]
        self.probabilities += [mention.probability for mention in mentions]
        self.offsets.append(len(self.labels))

    def to_bytes(self, *, with_text: bool) -> bytes:
        """The Parquet file. The same documents give the same bytes.

        with_text (bool): Whether it has a column with the texts.
        """
        pa = pyarrow()
        inside = {name: _int32(column) for name, column in self.numbers.items()}
        inside["label"] = pa.array(self.labels, pa.string())
        inside["probability"] = pa.array(self.probabilities, pa.float32())
        names = ("start_char", "end_char", "start", "end", "label", "probability", "depth")
        mentions = pa.StructArray.from_arrays([inside[name] for name in names], names)
        columns = {
            "id": pa.array(self.ids, pa.string()),
            "mentions": pa.ListArray.from_arrays(_int32(self.offsets), mentions),
            "log_probability": pa.array(self.log_probabilities, pa.float64()),
            "entropy": pa.array(self.entropies, pa.float64()),
            "n_tokens": _int32(self.n_tokens),
        }
        if with_text:
            columns["text"] = pa.array(self.texts, pa.string())
        file = BytesIO()
        pa.parquet.write_table(pa.table(columns), file, compression="zstd")
        return file.getvalue()


def _int32(numbers: array) -> Any:
    pa = pyarrow()
    return pa.Array.from_buffers(pa.int32(), len(numbers), [None, pa.py_buffer(numbers)])
