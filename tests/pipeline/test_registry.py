"""The decoders that a config can name."""

import pytest
import spacy

from spacy_nested_ner.decoders import AutoDecoder, CubicDecoder, FlatDecoder, QuadraticDecoder


@pytest.mark.parametrize(
    "settings, expected",
    [
        ({}, [FlatDecoder(), QuadraticDecoder(), CubicDecoder()]),
        ({"multi_label": True}, [kind(multi_label=True) for kind in (FlatDecoder, QuadraticDecoder, CubicDecoder)]),
    ],
    ids=["defaults", "multi_label"],
)
def test_decoders_have_the_settings_of_the_config(settings, expected):
    names = ("FlatDecoder", "QuadraticDecoder", "CubicDecoder")
    assert [spacy.registry.misc.get(f"spacy-nested-ner.{name}.v1")(**settings) for name in names] == expected


def test_settings_of_one_decoder():
    quadratic = spacy.registry.misc.get("spacy-nested-ner.QuadraticDecoder.v1")
    assert quadratic(max_short_child=3) == QuadraticDecoder(max_short_child=3)
    auto = spacy.registry.misc.get("spacy-nested-ner.AutoDecoder.v1")
    assert auto(min_coverage=0.9) == AutoDecoder(min_coverage=0.9)
