"""Corpora with nested mentions: formats to Docs and back, one format a module."""

from .conversion import FORMATS, convert, read_docs, read_records, write_docs
from .coverage import Coverage, measure_coverage
from .documents import Record, Settings
from .report import ConversionReport, FormatError
from .statistics import Statistics, collect_statistics

__all__ = [
    "FORMATS",
    "ConversionReport",
    "Coverage",
    "FormatError",
    "Record",
    "Settings",
    "Statistics",
    "collect_statistics",
    "convert",
    "measure_coverage",
    "read_docs",
    "read_records",
    "write_docs",
]
