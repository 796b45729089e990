"""Nested named entities for spaCy, by exact inference."""

__version__ = "0.1.0"
