"""The decoders that a config can name: "QuadraticDecoder", or @misc = "spacy-nested-ner.QuadraticDecoder.v1"."""

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from inspect import signature
from typing import Any

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

    min_coverage (float): The share of mentions to keep, of those that the widest search space keeps.
    RETURNS (AutoDecoder): What chooses the decoder.
    """
    return AutoDecoder(min_coverage=min_coverage)


_BY_NAME: dict[str, Callable[..., Decoder | AutoDecoder]] = {
    "AutoDecoder": make_auto_decoder,
    "FlatDecoder": make_flat_decoder,
    "QuadraticDecoder": make_quadratic_decoder,
    "CubicDecoder": make_cubic_decoder,
}


def decoder_of(value: Decoder | AutoDecoder | str | Mapping[str, Any]) -> Decoder | AutoDecoder:
    """The decoder that a config asks for.

    value (Decoder | AutoDecoder | str | Mapping[str, Any]): A decoder, which a block with @misc gives; the name of
        one; or settings without a name: those of AutoDecoder or, as before it was the default, of QuadraticDecoder.
    """
    if isinstance(value, str):
        if value not in _BY_NAME:
            raise ValueError(f"decoder is {value!r}; expected {_one_of(value, _BY_NAME)}")
        return _BY_NAME[value]()
    if isinstance(value, Mapping):
        return _from_settings(value)
    return value


def _from_settings(settings: Mapping[str, Any]) -> Decoder | AutoDecoder:
    known: list[str] = []
    for make in (make_auto_decoder, make_quadratic_decoder):
        names = signature(make).parameters
        if settings.keys() <= names.keys():
            return make(**settings)
        known += names
    wrong = next((name for name in settings if name not in known), None)
    if wrong is not None:
        raise ValueError(f"decoder has the setting {wrong!r}; expected {_one_of(wrong, known)}")
    raise ValueError(
        f"decoder has the settings {', '.join(settings)}; expected min_coverage, with which AutoDecoder chooses the "
        f"others, or max_short_child and multi_label"
    )


def _one_of(name: str, names: Iterable[str]) -> str:
    close = get_close_matches(name, names, n=1)
    return f"one of {', '.join(names)}" + "".join(f"; did you mean {other!r}?" for other in close)
