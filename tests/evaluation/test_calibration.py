"""The temperature that makes probabilities right."""

import numpy as np
import pytest
import spacy
from nested_examples import SENTENCES, make_doc, make_examples, save_timid, trained
from spacy.language import Language

from spacy_nested_ner.corpus import Record, read_records
from spacy_nested_ner.evaluation.calibration import calibrate, minimum


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
