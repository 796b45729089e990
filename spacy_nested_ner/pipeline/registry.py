"""The decoders that a config can name, for example @misc = "spacy-nested-ner.QuadraticDecoder.v1"."""

from ..decoders import AutoDecoder, CubicDecoder, Decoder, FlatDecoder, QuadraticDecoder


def make_flat_decoder(multi_label: bool = False) -> Decoder:
    """Mentions without nesting. O(n²).

    multi_label (bool): Allow several labels per span.
    RETURNS (Decoder): The decoder.
    """
    return FlatDecoder(multi_label=multi_label)


def make_quadratic_decoder(max_short_child: int = 1, multi_label: bool = False) -> Decoder:
    """Nested mentions, each with at most one long child. O(n²).

    max_short_child (int): Children of up to this many tokens are short.
    multi_label (bool): Allow several labels per span.
    RETURNS (Decoder): The decoder.
    """
    return QuadraticDecoder(max_short_child=max_short_child, multi_label=multi_label)


def make_cubic_decoder(multi_label: bool = False) -> Decoder:
    """Nested mentions of any shape. O(n³).

    multi_label (bool): Allow several labels per span.
    RETURNS (Decoder): The decoder.
    """
    return CubicDecoder(multi_label=multi_label)


def make_auto_decoder(min_coverage: float = 0.999) -> AutoDecoder:
    """The cheapest of the other decoders that keeps almost all mentions of the training data. It is chosen when the
    component is initialized.

    min_coverage (float): The share of mentions to keep.
    RETURNS (AutoDecoder): What chooses the decoder.
    """
    return AutoDecoder(min_coverage=min_coverage)
