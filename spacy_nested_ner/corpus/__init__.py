"""Corpora with nested mentions: formats to Docs and back, one format a module."""

from .conversion import FORMATS, convert, read_docs, write_docs
from .documents import Settings
from .report import ConversionReport, FormatError

__all__ = ["FORMATS", "ConversionReport", "FormatError", "Settings", "convert", "read_docs", "write_docs"]
