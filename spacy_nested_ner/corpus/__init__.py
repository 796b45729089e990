"""Corpora with nested mentions: read and write them in several formats, convert them, train from them."""

from .conversion import convert, read_docs, read_records, write_docs
from .conversion_report import ConversionReport, FormatError, Loss
from .documents import Record, Settings
from .formats import FORMATS, Format
from .splitting import Split

__all__ = [
    "FORMATS",
    "ConversionReport",
    "Format",
    "FormatError",
    "Loss",
    "Record",
    "Settings",
    "Split",
    "convert",
    "read_docs",
    "read_records",
    "write_docs",
]
