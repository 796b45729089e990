"""Exact inference for mentions inside mentions. Arrays in, arrays and mentions out."""

from .auto import AutoDecoder
from .auto import from_settings as decoder_from_settings
from .decoder import Analyses, CubicDecoder, Decoder, FlatDecoder, QuadraticDecoder
from .derivation import Derivation, Item, Step
from .layout import SpanLayout, count_spans
from .mention import Mention
from .packed import PackedScores

__all__ = [
    "AutoDecoder",
    "CubicDecoder",
    "Decoder",
    "Derivation",
    "FlatDecoder",
    "Item",
    "Mention",
    "PackedScores",
    "QuadraticDecoder",
    "SpanLayout",
    "Step",
    "count_spans",
]
