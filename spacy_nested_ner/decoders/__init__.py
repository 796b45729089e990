"""Exact inference for mentions inside mentions. Arrays in, arrays and mentions out."""

from .auto import AutoDecoder
from .decoder import CubicDecoder, Decoder, FlatDecoder, QuadraticDecoder
from .derivation import Derivation, Item, Step
from .mention import Mention
from .packed import PackedScores, count_spans, span_starts_and_ends

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
    "Step",
    "count_spans",
    "span_starts_and_ends",
]
