"""Settings and pipelines that cannot be right."""

import pytest
import spacy
from nested_examples import TINY, make_examples, train


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


@pytest.mark.parametrize(
    "setting, value, message",
    [
        ("threshold", 1.5, r"threshold is 1\.5; expected a number between 0 and 1"),
        ("temperature", 0.0, r"temperature is 0\.0; expected a number above 0"),
        ("label_smoothing", -0.1, r"label_smoothing is -0\.1"),
        ("incorrect_spans_key", "sc", "spans_key and incorrect_spans_key are both 'sc'; .* null for 'sc_incorrect'"),
        ("missing_rate", 0.0, r"missing_rate is 0\.0; expected a number above 0 and up to 1"),
        ("missing_rate", 1.5, r"missing_rate is 1\.5"),
        ("max_span_length", 0, "max_span_length is 0; expected 1 or more"),
    ],
)
def test_settings_are_checked(setting, value, message):
    with pytest.raises(ValueError, match=message):
        spacy.blank("en").add_pipe("nested_ner", config={setting: value})


def test_a_tok2vec_that_nothing_listens_to_is_reported():
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec")
    nlp.add_pipe("nested_ner", config=TINY)
    with pytest.warns(
        UserWarning, match=r"the pipeline has tok2vec, but no component listens to it: .* or leave tok2vec"
    ):
        nlp.initialize(lambda: make_examples(nlp))
