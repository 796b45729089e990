"""Exact inference for mentions inside mentions. Arrays in, arrays and mentions out."""

from .analyses import Analyses, ScoredAnalyses
from .auto import AutoDecoder
from .decoder import CubicDecoder, Decoder, FlatDecoder, QuadraticDecoder, decoder_from_settings
from .derivation import Derivation, Item, Step
from .layout import SpanLayout, count_spans
from .mention import Mention, check_mentions
from .packed import PackedScores
from .space import SearchSpace

__all__ = [
    "Analyses",
    "AutoDecoder",
    "CubicDecoder",
    "Decoder",
    "Derivation",
    "FlatDecoder",
    "Item",
    "Mention",
    "PackedScores",
    "QuadraticDecoder",
    "ScoredAnalyses",
    "SearchSpace",
    "SpanLayout",
    "Step",
    "check_mentions",
    "count_spans",
    "decoder_from_settings",
]
