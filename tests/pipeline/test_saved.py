"""What a saved component may hold, and which of its settings the config overrides."""

import json
import warnings

import numpy as np
import pytest
import spacy
from nested_examples import SENTENCES, TINY, make_doc, make_examples, plain, trained
from spacy.tokens import Doc
from spacy.training import Example

from spacy_nested_ner.evaluation import calibrate
from spacy_nested_ner.pipeline.saved import CONFIGURED, SETTINGS, apply_config


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory):
    """A pipeline whose threshold was changed after it was configured."""
    nlp = trained({"missing_rate": 0.25}, steps=20)
    nlp.get_pipe("nested_ner").cfg["threshold"] = 0.4
    folder = tmp_path_factory.mktemp("saved")
    nlp.to_disk(folder)
    return folder


def changed(pipeline, tmp_path, **values):
    """A copy whose cfg has other values; `...` removes one."""
    nlp = spacy.load(pipeline)
    nlp.to_disk(tmp_path)
    path = tmp_path / "nested_ner" / "cfg"
    cfg = {**json.loads(path.read_text()), **values}
    path.write_text(json.dumps({name: value for name, value in cfg.items() if value is not ...}))
    return tmp_path


# ---- damaged and hostile files ----


@pytest.mark.parametrize(
    "values, message",
    [
        ({"threshold": -1}, r"threshold is -1; expected a number between 0 and 1, or null for the best analysis"),
        ({"threshold": "0.5"}, r"threshold is 0\.5; expected a number between 0 and 1"),
        ({"temperature": -1}, r"temperature is -1; expected a number above 0"),
        ({"temperature": None}, r"temperature is None; expected a number above 0"),
        ({"label_smoothing": [0]}, r"label_smoothing is \[0\]; expected a number from 0 to less than 1"),
        ({"missing_rate": 2}, r"missing_rate is 2; expected a number above 0 and up to 1"),
        ({"max_span_length": -5}, r'max_span_length is -5; expected 1 or more tokens, "auto"'),
        ({"max_span_length": "all"}, r'max_span_length is all; expected 1 or more tokens, "auto"'),
        ({"max_span_length": 2.5}, r'max_span_length is 2\.5; expected 1 or more tokens, "auto"'),
        ({"learn_rate_scale": None}, r"learn_rate_scale is None; expected a number above 0"),
        ({"use_sentences": "no"}, r"use_sentences is 'no'; expected true or false"),
        ({"spans_key": None}, r"spans_key is None; expected a name"),
        ({"incorrect_spans_key": "sc"}, r"spans_key and incorrect_spans_key are both 'sc'"),
        ({"labels": "PER"}, r"labels is 'PER'; expected a list of different names"),
        ({"labels": [1, 2, 3, 4]}, r"labels has 1; expected a list of different names"),
        ({"labels": ["A", "B", "A", "C"]}, r"labels has 'A' twice; expected a list of different names"),
        ({"labels": None}, r"labels is None; expected a list of different names"),
        ({"label_counts": [1]}, r"label_counts is \[1\]; expected a number of mentions for every label"),
        ({"label_counts": {"PER": "x"}}, r"label_counts is \{'PER': 'x'\}; expected a number of mentions"),
        ({"longest_gold_mention": -2}, r"longest_gold_mention is -2; expected 1 or more"),
        ({"span_limit_choice": {"limit": "x"}}, r"span_limit_choice is \{'limit': 'x'\}; expected whole numbers"),
        ({"decoder_choice": {"kept": -1}}, r"decoder_choice is \{'kept': -1\}; expected whole numbers"),
        ({"chosen_decoder": 3}, r"chosen_decoder is 3; expected the settings of a decoder"),
    ],
)
def test_what_is_loaded_is_checked_like_what_is_constructed(pipeline, tmp_path, values, message):
    with pytest.raises(ValueError, match=rf"cannot load the component 'nested_ner' from .*nested_ner: {message}"):
        spacy.load(changed(pipeline, tmp_path, **values))


@pytest.mark.parametrize("content", ["[]", "3", "null", "{", '{"labels": ' + "[" * 100_000])
def test_files_that_are_no_settings(pipeline, tmp_path, content):
    changed(pipeline, tmp_path)
    (tmp_path / "nested_ner" / "cfg").write_text(content)
    with pytest.raises(ValueError, match=r"the component .nested_ner. (from|in) .*nested_ner(:| has 0 labels)"):
        spacy.load(tmp_path)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_not_finite_are_refused(pipeline, tmp_path, value):
    nlp = spacy.load(pipeline)
    pipe = nlp.get_pipe("nested_ner")
    node = next(node for node in pipe.model.walk() if node.has_param("W"))
    weights = node.get_param("W").copy()
    weights.flat[3] = value
    node.set_param("W", weights)
    nlp.to_disk(tmp_path)
    message = (
        rf"cannot load the component 'nested_ner' from .*nested_ner: the weights 'W' of its layer {node.name!r} have "
        rf"{value}; training has diverged, or the file is damaged: use model-best or an older copy, or train again "
        rf"with a lower learning rate"
    )
    with pytest.raises(ValueError, match=message):
        spacy.load(tmp_path)


# ---- overrides ----


def settings(path, **overrides):
    nlp = spacy.load(path, config={f"components.nested_ner.{name}": value for name, value in overrides.items()})
    return nlp.get_pipe("nested_ner").cfg


def test_without_an_override_what_was_saved_counts(pipeline):
    cfg = settings(pipeline)
    assert (cfg["threshold"], cfg["temperature"], cfg["missing_rate"]) == (0.4, 1.0, 0.25)


@pytest.mark.parametrize(
    "name, value",
    [
        ("threshold", 0.25),
        ("temperature", 2.0),
        ("spans_key", "other"),
        ("max_span_length", 3),
        ("use_sentences", False),
        ("missing_rate", 0.5),
        ("learn_rate_scale", 2.0),
    ],
)
def test_a_config_overrides_what_was_saved(pipeline, name, value):
    before = settings(pipeline)
    assert before[name] != value
    assert {**settings(pipeline, **{name: value}), "configured": None} == {**before, name: value, "configured": None}


@pytest.mark.parametrize("configured, counts", [(0.7000000000000001, 2.0), (0.70001, 0.7)])
def test_digits_that_were_lost_are_no_override(configured, counts):
    """A temperature of 0.7 in the config, which was set to 2 in Python before the component was saved."""
    config = dict.fromkeys(SETTINGS) | {"temperature": 0.7}
    cfg = {**config, "temperature": 2.0, CONFIGURED: {**config, "temperature": configured}}
    apply_config("nested_ner", cfg, config, {})
    assert cfg["temperature"] == counts


def test_an_edited_config_counts(pipeline, tmp_path):
    changed(pipeline, tmp_path)
    path = tmp_path / "config.cfg"
    path.write_text(path.read_text().replace("threshold = null", "threshold = 0.75"))
    assert settings(tmp_path)["threshold"] == 0.75


def test_an_override_is_saved(pipeline, tmp_path):
    spacy.load(pipeline, config={"components.nested_ner.threshold": 0.25}).to_disk(tmp_path)
    assert settings(tmp_path)["threshold"] == 0.25
    assert settings(tmp_path, threshold=None)["threshold"] is None


def test_a_calibrated_temperature_is_kept_and_can_be_overridden(pipeline, tmp_path):
    nlp = spacy.load(pipeline)
    calibrate(nlp, [make_doc(nlp.vocab, SENTENCES)])
    temperature = nlp.get_pipe("nested_ner").temperature
    assert temperature != 1
    nlp.to_disk(tmp_path)
    assert f"temperature = {temperature}"[:18] in (tmp_path / "config.cfg").read_text()
    for _ in range(2):  # and saved again
        nlp = spacy.load(tmp_path)
        assert nlp.get_pipe("nested_ner").temperature == pytest.approx(temperature, rel=1e-9)
        nlp.to_disk(tmp_path)
    assert settings(tmp_path, temperature=1.0)["temperature"] == 1.0


def test_settings_can_be_changed_in_the_config_too(pipeline, tmp_path):
    nlp = spacy.load(pipeline)
    pipe = nlp.get_pipe("nested_ner")
    with pytest.raises(ValueError, match="threshold is 2; expected a number between 0 and 1"):
        pipe.configure(nlp, threshold=2)
    with pytest.raises(ValueError, match="'treshold' is no setting of the component; expected one of spans_key, "):
        pipe.configure(nlp, treshold=0.1)
    assert pipe.threshold == 0.4
    pipe.configure(nlp, threshold=0.1)
    nlp.to_disk(tmp_path)
    assert "threshold = 0.1" in (tmp_path / "config.cfg").read_text()
    assert settings(tmp_path)["threshold"] == 0.1
    assert settings(tmp_path, threshold=None)["threshold"] is None


def test_earlier_versions_did_not_save_what_was_configured(pipeline, tmp_path):
    old = changed(pipeline, tmp_path, configured=...)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert settings(old)["threshold"] == 0.4
        assert settings(old, missing_rate=0.25)["missing_rate"] == 0.25
    with pytest.warns(UserWarning, match=r"threshold = 0\.75 in the config of nested_ner is ignored: .* saved .* 0\.4"):
        assert settings(old, threshold=0.75)["threshold"] == 0.4
    spacy.load(old).to_disk(old)
    assert settings(old, threshold=0.75)["threshold"] == 0.75


def test_bytes_are_like_files(pipeline):
    nlp = spacy.load(pipeline)
    pipe = spacy.blank("en").add_pipe("nested_ner", config={**TINY, "missing_rate": 0.25, "temperature": 3.0})
    pipe.from_bytes(nlp.get_pipe("nested_ner").to_bytes())
    assert (pipe.threshold, pipe.temperature) == (0.4, 3.0)


# ---- divergence ----


def test_divergence_is_named(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("nested_ner", config={**TINY, "learn_rate_scale": 2.0})
    examples = make_examples(nlp)
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 1e9
    message = (
        r"training of nested_ner has diverged: after (\d) updates, a score is (nan|inf|-inf)\. The learning rate is "
        r"2e\+09: lower learn_rate in \[training\.optimizer\], warm it up, or lower learn_rate_scale. model-last is "
        r"useless then; model-best is from before"
    )

    def diverge():
        for _ in range(30):
            nlp.update(examples, sgd=optimizer)

    with np.errstate(all="ignore"), pytest.raises(ValueError, match=message):
        diverge()


def test_scores_that_are_not_finite_have_a_cause(pipeline):
    nlp = spacy.load(pipeline)
    pipe = nlp.get_pipe("nested_ner")
    node = next(node for node in pipe.model.walk() if node.has_param("b"))
    node.set_param("b", np.full_like(node.get_param("b"), np.nan))
    message = (
        r"the network of nested_ner gives scores that are not finite: its weights, or the vectors of tok2vec or the "
        r"transformer, are not; training has diverged, or files are damaged: use model-best or an older copy"
    )
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=message):
        nlp(plain(nlp, SENTENCES))


# ---- data ----


def test_gold_without_a_label_is_an_error_in_training_too(pipeline):
    nlp = spacy.load(pipeline)
    examples = make_examples(nlp)
    reference = examples[0].reference
    reference.spans["sc"] = [*reference.spans["sc"], reference[0:2]]
    with pytest.raises(ValueError, match=r"has 'I am' \(tokens 0 to 2\) without a label in doc\.spans\['sc'\]"):
        nlp.update(examples)


def test_training_data_without_a_token():
    nlp = spacy.blank("en")
    nlp.add_pipe("nested_ner", config=TINY).add_label("PER")
    doc = Doc(nlp.vocab)
    message = r"none of the 1 training docs has a token, so the sizes .* are unknown; expected a text in at least one"
    with pytest.raises(ValueError, match=message):
        nlp.initialize(lambda: [Example(doc, doc.copy())])


@pytest.mark.parametrize("training", [False, True])
def test_scores_that_do_not_fit_into_memory(monkeypatch, training):
    nlp = trained({"max_span_length": None}, steps=0)
    words = ["word"] * 30_000
    doc = Doc(nlp.vocab, words=words)
    example = Example(doc, Doc(nlp.vocab, words=words, spaces=None))
    example.reference.spans["sc"] = []
    monkeypatch.setattr("spacy_nested_ner.decoders._memory.physical_memory", lambda: 2.0**32)
    message = (
        r"the scores of 30000 tokens with spans of up to 30000 tokens and 4 labels need (6|13)\.\d GiB, more than the "
        r"4\.0 GiB there are: set max_span_length, split the text into sentences, or make smaller batches"
    )
    with pytest.raises(MemoryError, match=message):
        nlp.update([example]) if training else nlp(doc)
