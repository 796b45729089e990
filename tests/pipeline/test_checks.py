"""Settings and pipelines that cannot be right."""

import warnings

import pytest
import spacy
from nested_examples import TINY, make_examples, train

from spacy_nested_ner.decoders import SpanLayout
from spacy_nested_ner.pipeline.checks import check_keys, check_memory, check_settings

FINE = {
    "threshold": None,
    "temperature": 1.0,
    "label_smoothing": 0.0,
    "missing_rate": 0.5,
    "max_span_length": "auto",
    "use_sentences": True,
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


def test_a_component_checks_its_settings():
    with pytest.raises(ValueError, match=r"threshold is 1\.5; expected"):
        spacy.blank("en").add_pipe("nested_ner", config={"threshold": 1.5})
    with pytest.raises(ValueError, match="spans_key and incorrect_spans_key are both 'sc'"):
        spacy.blank("en").add_pipe("nested_ner", config={"incorrect_spans_key": "sc"})


def test_scores_that_need_much_memory_are_reported(monkeypatch):
    monkeypatch.setattr("spacy_nested_ner.decoders._memory.physical_memory", lambda: 2.0**36)
    message = (
        r"^the scores of 30,000 tokens with spans of up to 30,000 tokens and 7 labels need 11\.7 GiB\. To need less, "
        r"set max_span_length, split the text into sentences, or make smaller batches$"
    )
    with pytest.warns(UserWarning, match=message):
        check_memory(SpanLayout([30_000]), 7)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_memory(SpanLayout([30_000], 20), 7)


def test_another_spans_key_must_be_in_the_score_weights():
    config = {**TINY, "spans_key": "mentions"}
    nlp = spacy.blank("en")
    nlp.add_pipe("nested_ner", config=config)
    with pytest.warns(UserWarning, match=r"does not name spans_mentions_f: its column would stay at 0\.00"):
        nlp.initialize(lambda: make_examples(nlp, "mentions"))
    nlp = spacy.blank("en")
    nlp.add_pipe("nested_ner", config=config)
    nlp.config["training"]["score_weights"] = {"spans_mentions_f": 1.0}
    train(nlp, make_examples(nlp, "mentions"), steps=60)
    scores = nlp.evaluate(make_examples(nlp, "mentions"))
    assert scores["spans_mentions_f"] > 0.9


def test_a_tok2vec_that_nothing_listens_to_is_reported():
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec")
    nlp.add_pipe("nested_ner", config=TINY)
    with pytest.warns(
        UserWarning, match=r"the pipeline has tok2vec, but no component listens to it: .* or leave tok2vec"
    ):
        nlp.initialize(lambda: make_examples(nlp))
