"""Corpora with nested mentions: formats to Docs and back, one format a module."""

from .conversion import FORMATS, convert, read_docs, read_records, write_docs
from .documents import Record, Settings
from .report import ConversionReport, FormatError

__all__ = [
    "FORMATS",
    "ConversionReport",
    "FormatError",
    "Record",
    "Settings",
    "convert",
    "read_docs",
    "read_records",
    "write_docs",
]
