"""Settings of the component that are out of range."""

import pytest

from spacy_nested_ner.pipeline.checks import check_keys, check_settings

FINE = {
    "threshold": None,
    "temperature": 1.0,
    "label_smoothing": 0.0,
    "missing_rate": 0.5,
    "max_span_length": "auto",
    "learn_rate_scale": 1.0,
}


@pytest.mark.parametrize(
    "setting, value, message",
    [
        ("threshold", 1.5, r"threshold is 1\.5; expected a number between 0 and 1, or null"),
        ("temperature", float("inf"), "temperature is inf; expected a number above 0; 1 leaves"),
        ("label_smoothing", 1.0, r"label_smoothing is 1\.0; expected a number from 0 to less than 1"),
        (
            "missing_rate",
            0.0,
            r"missing_rate is 0\.0; expected a number above 0 and up to 1, the share of mentions missing",
        ),
        ("max_span_length", 0, 'max_span_length is 0; expected 1 or more tokens, "auto" .* or null for no limit'),
        ("learn_rate_scale", 0.0, r"learn_rate_scale is 0\.0; expected a number above 0"),
    ],
)
def test_values_out_of_range_are_named(setting, value, message):
    check_settings(**FINE)
    with pytest.raises(ValueError, match=message):
        check_settings(**{**FINE, setting: value})


@pytest.mark.parametrize(
    "setting, value",
    [("threshold", 0.0), ("threshold", 1.0), ("max_span_length", None), ("max_span_length", 1), ("missing_rate", 1.0)],
)
def test_limits_are_allowed(setting, value):
    check_settings(**{**FINE, setting: value})


def test_correct_and_incorrect_mentions_have_different_keys():
    check_keys("sc", None)
    check_keys("sc", "wrong")
    with pytest.raises(ValueError, match=r"are both 'sc'; .* not mentions, or null for 'sc_incorrect'"):
        check_keys("sc", "sc")
