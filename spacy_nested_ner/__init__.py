"""Nested named entities for spaCy, by exact inference."""

from typing import TYPE_CHECKING

from ._lazy import lazy_names

if TYPE_CHECKING:
    from .configs import init_config
    from .corpus import ConversionReport, FormatError, Record, Settings, convert, read_docs, read_records, write_docs
    from .decoders import (
        AutoDecoder,
        CubicDecoder,
        Decoder,
        FlatDecoder,
        Mention,
        PackedScores,
        QuadraticDecoder,
        SearchSpace,
        SpanLayout,
    )
    from .display.rendering import render
    from .evaluation import calibrate, collect_statistics, measure, measure_coverage, predict
    from .export import mention_tree, mentions
    from .pipeline.component import NestedNER
    from .sample import load_sample
    from .word_vectors import make_word_vectors

__version__ = "0.1.0"

# The public names. They load their module when they are asked for, so that importing the package costs next to nothing.
_MODULES = {
    "configs": ("init_config",),
    "corpus": (
        "ConversionReport",
        "FormatError",
        "Record",
        "Settings",
        "convert",
        "read_docs",
        "read_records",
        "write_docs",
    ),
    "decoders": (
        "AutoDecoder",
        "CubicDecoder",
        "Decoder",
        "FlatDecoder",
        "Mention",
        "PackedScores",
        "QuadraticDecoder",
        "SearchSpace",
        "SpanLayout",
    ),
    "display.rendering": ("render",),
    "evaluation": ("calibrate", "collect_statistics", "measure", "measure_coverage", "predict"),
    "export": ("mention_tree", "mentions"),
    "pipeline.component": ("NestedNER",),
    "sample": ("load_sample",),
    "word_vectors": ("make_word_vectors",),
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _MODULES)
