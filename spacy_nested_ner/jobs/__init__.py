"""Annotate a whole collection of documents, in pieces that can be stopped and started again."""

from typing import TYPE_CHECKING

from .._lazy import lazy_names

if TYPE_CHECKING:
    from .collection import annotate
    from .job import Job
    from .progress import Summary

# They load their module when they are asked for, because workers need only some of it.
_MODULES = {"collection": ("annotate",), "job": ("Job",), "progress": ("Summary",)}

__getattr__, __dir__, __all__ = lazy_names(__name__, _MODULES)
