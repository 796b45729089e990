"""Corpora with nested mentions: formats to Docs and back, one format a module."""

from .analysis import Analysis, analyze
from .conversion import FORMATS, convert, read_docs, read_records, write_docs
from .coverage import Coverage, measure_coverage
from .documents import Record, Settings
from .report import ConversionReport, FormatError

__all__ = [
    "FORMATS",
    "Analysis",
    "ConversionReport",
    "Coverage",
    "FormatError",
    "Record",
    "Settings",
    "analyze",
    "convert",
    "measure_coverage",
    "read_docs",
    "read_records",
    "write_docs",
]
