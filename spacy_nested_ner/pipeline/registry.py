"""Decoders, as a config names them: @misc = "spacy-nested-ner.QuadraticDecoder.v1"."""

from ..decoders import AutoDecoder, CubicDecoder, Decoder, FlatDecoder, QuadraticDecoder


def make_flat_decoder(multi_label: bool = False) -> Decoder:
    """No mention inside another. O(n²).

    multi_label (bool): Allow several labels on one span.
    """
    return FlatDecoder(multi_label=multi_label)


def make_quadratic_decoder(max_short_child: int = 1, multi_label: bool = False) -> Decoder:
    """Nested mentions with at most one long child each. O(n²).

    max_short_child (int): Children of up to this many tokens are short.
    multi_label (bool): Allow several labels on one span.
    """
    return QuadraticDecoder(max_short_child=max_short_child, multi_label=multi_label)


def make_cubic_decoder(multi_label: bool = False) -> Decoder:
    """Any nested mentions. O(n³).

    multi_label (bool): Allow several labels on one span.
    """
    return CubicDecoder(multi_label=multi_label)


def make_auto_decoder(min_coverage: float = 0.999) -> Decoder:
    """The cheapest of the other decoders that keeps almost all mentions of the training data, chosen when
    the component is initialized.

    min_coverage (float): The share of mentions to keep.
    """
    return AutoDecoder(min_coverage=min_coverage)
