"""The temperature that makes probabilities right."""

import numpy as np
import pytest
import spacy
from nested_examples import (
    SAMPLE_DEV,
    SENTENCES,
    make_doc,
    make_examples,
    reluctant,
    save_timid,
    trained,
)
from spacy.language import Language
from spacy.tokens import Doc, Span

from spacy_nested_ner import load_sample
from spacy_nested_ner.corpus import Record, read_records
from spacy_nested_ner.evaluation.calibration import calibrate, minimum
from spacy_nested_ner.evaluation.predictions import THRESHOLDS, make_example


@pytest.fixture(scope="module")
def timid(tmp_path_factory):
    return save_timid(tmp_path_factory.mktemp("calibration"))


def test_the_network_runs_once_per_document(timid, count_calls):
    nlp = spacy.load(timid / "model")
    nlp.batch_size = 2
    calls = count_calls(nlp.get_pipe("nested_ner"))
    result = calibrate(nlp, read_records(timid / "dev.spacy"))
    assert calls == [2, 1]
    assert result.after.temperature < 1 < result.before.temperature


def test_later_components_do_not_matter(timid):
    nlp = spacy.load(timid / "model")
    expected = calibrate(nlp, read_records(timid / "dev.spacy"))

    @Language.component("test_calibration_clear")
    def clear(doc):
        raise AssertionError("not needed")

    nlp.add_pipe("test_calibration_clear")
    nlp.get_pipe("nested_ner").cfg["temperature"] = 6.0
    assert calibrate(nlp, read_records(timid / "dev.spacy")) == expected


def test_the_likelihood_is_that_of_training(timid):
    """At temperature 1 and without label smoothing, the loss of the component itself."""
    nlp = spacy.load(timid / "model")
    pipe = nlp.get_pipe("nested_ner")
    pipe.cfg["temperature"] = 1.0
    result = calibrate(nlp, read_records(timid / "dev.spacy"), gold_tokens=True)
    pipe.cfg["label_smoothing"] = 0.0
    loss = pipe.update(make_examples(nlp), drop=0.0)["nested_ner"]
    assert result.before.nll == pytest.approx(loss, rel=1e-4)


def test_a_random_half_of_wrong_labels_lowers_confidence():
    """A model that is sure of everything, on data where every second label is another."""
    nlp = trained()
    pipe = nlp.get_pipe("nested_ner")
    docs = [make_doc(nlp.vocab, SENTENCES), make_doc(nlp.vocab, [(text, []) for text, _ in SENTENCES])]
    result = calibrate(nlp, [Record(doc, "here") for doc in docs], gold_tokens=True)
    assert result.after.temperature == pipe.cfg["temperature"] > 1
    assert result.after.ece < result.before.ece
    doc = pipe(make_doc(nlp.vocab, SENTENCES, key=None))
    assert np.mean(doc.spans["sc"].attrs["scores"]) == pytest.approx(0.5, abs=0.1)


def test_minimum():
    for lowest in (0.2, 1.0, 7.0):
        assert minimum(lambda t, at=lowest: (np.log(t) - np.log(at)) ** 2, 0.1, 10) == pytest.approx(lowest, rel=1e-3)
    assert minimum(lambda t: t, 0.1, 10) == pytest.approx(0.1, rel=2e-3)


def test_incomplete_documents_are_no_measure(timid):
    nlp = spacy.load(timid / "model")
    records = list(read_records(timid / "dev.spacy"))
    whole = calibrate(nlp, records)
    half = [Record(record.doc.copy(), record.where) for record in records]
    for record in half:
        record.doc.spans["sc"] = list(record.doc.spans["sc"])[::2]
        record.doc.spans["sc"].attrs["incomplete"] = True
    nlp.get_pipe("nested_ner").cfg["temperature"] = 6.0
    assert whole.left_out == 0
    assert calibrate(nlp, [*records, *half]) == whole._replace(left_out=len(half))
    with pytest.raises(ValueError, match=rf"none of {len(half)} documents can be used: .* annotated in full"):
        calibrate(nlp, half)


# ---- the threshold ----


@pytest.fixture(scope="module")
def sample_dev():
    """With spaces between the words, so that pipelines tokenize the text themselves."""
    docs = [record.doc for record in read_records(SAMPLE_DEV)][:8]
    spaced = [Doc(doc.vocab, words=[token.text for token in doc], spaces=[True] * len(doc)) for doc in docs]
    for doc, old in zip(spaced, docs):
        doc.spans["sc"] = [Span(doc, span.start, span.end, label=span.label) for span in old.spans["sc"]]
    return [Record(doc, "here") for doc in spaced]


class Halves:
    """A tokenizer that also splits inside words, where mentions of the gold cannot begin or end."""

    def __init__(self, vocab):
        self.vocab = vocab

    def __call__(self, text):
        words, spaces = [], []
        for word in text.split():
            parts = [word[:4], word[4:]] if len(word) > 6 else [word]
            words += parts
            spaces += [False] * (len(parts) - 1) + [True]
        return Doc(self.vocab, words=words, spaces=spaces)


def scores_at(nlp, records, threshold):
    """Precision, recall and F, as `spacy evaluate` computes them."""
    nlp.get_pipe("nested_ner").cfg["threshold"] = threshold
    scores = nlp.evaluate([make_example(nlp, record.doc) for record in records])
    return tuple(scores[f"spans_sc_{letter}"] for letter in "prf")


@pytest.mark.parametrize("tokenizer", [None, Halves])
def test_the_threshold_is_the_one_with_the_highest_f(sample_dev, tokenizer):
    nlp = reluctant()
    pipe = nlp.get_pipe("nested_ner")
    assert pipe.decoder.multi_label
    if tokenizer:
        nlp.tokenizer = tokenizer(nlp.vocab)
    before = scores_at(nlp, sample_dev, None)
    choice = calibrate(nlp, sample_dev, tune_threshold=True).threshold
    stored = pipe.threshold
    assert choice.before == (None, *map(pytest.approx, before))
    assert choice.after.threshold == stored == nlp.get_pipe_config("nested_ner")["threshold"]
    scores = {threshold: scores_at(nlp, sample_dev, threshold) for threshold in (None, *THRESHOLDS)}
    assert [score.threshold for score in choice.scores] == list(scores)
    for score, expected in zip(choice.scores, scores.values()):
        assert score[1:] == pytest.approx(expected)
    assert stored == max(scores, key=lambda threshold: scores[threshold][2])
    assert scores[stored][2] > scores[None][2] + 0.01


def test_the_threshold_needs_no_other_run_of_the_network(sample_dev, count_calls):
    nlp = reluctant()
    nlp.batch_size = 5
    calls = count_calls(nlp.get_pipe("nested_ner"))
    calibrate(nlp, sample_dev, tune_threshold=True)
    assert calls == [5, 3]


def test_a_threshold_that_gains_nothing_is_removed(timid):
    nlp = spacy.load(timid / "model")
    pipe = nlp.get_pipe("nested_ner")
    pipe.configure(nlp, threshold=0.9)
    choice = calibrate(nlp, read_records(timid / "dev.spacy"), tune_threshold=True).threshold
    assert choice.before.threshold == 0.9
    assert choice.before.f < choice.after.f == 1
    assert pipe.threshold is choice.after.threshold is nlp.get_pipe_config("nested_ner")["threshold"] is None


def test_a_gain_that_may_be_chance_is_left_alone():
    """The sample pipeline itself: the best threshold on dev has a lower F on test."""
    nlp = load_sample()
    records = list(read_records(SAMPLE_DEV))
    choice = calibrate(nlp, records, tune_threshold=True).threshold
    assert choice.gain.low < 0 < choice.gain.value
    assert choice.after.threshold is nlp.get_pipe("nested_ner").threshold is None
    test = list(read_records(SAMPLE_DEV.with_name("test.txt")))
    assert scores_at(nlp, test, choice.best.threshold)[2] < scores_at(nlp, test, None)[2]


def test_the_threshold_is_tuned_only_on_request(sample_dev):
    nlp, other = reluctant(), reluctant()
    for each in (nlp, other):
        each.get_pipe("nested_ner").configure(each, threshold=0.7)
    result, tuned = calibrate(nlp, sample_dev), calibrate(other, sample_dev, tune_threshold=True)
    assert nlp.get_pipe("nested_ner").threshold == nlp.get_pipe_config("nested_ner")["threshold"] == 0.7
    assert result.threshold is None
    assert result == tuned._replace(threshold=None)
    assert tuned.threshold.after.threshold == other.get_pipe("nested_ner").threshold < 0.7


def test_incomplete_documents_do_not_tune_the_threshold(sample_dev):
    half = [Record(record.doc.copy(), record.where) for record in sample_dev]
    for record in half:
        record.doc.spans["sc"] = list(record.doc.spans["sc"])[::2]
        record.doc.spans["sc"].attrs["incomplete"] = True
    expected = calibrate(reluctant(), sample_dev, tune_threshold=True)
    result = calibrate(reluctant(), [*half, *sample_dev], tune_threshold=True)
    assert result == expected._replace(left_out=len(half))
