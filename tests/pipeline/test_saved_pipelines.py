"""Pipelines saved by earlier versions give the same mentions and probabilities. So does training, if it is repeated.

`sample.json` has what the sample pipeline found when it was saved. CONTRIBUTING.md says when it may change.
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import spacy
from commands import ROOT
from nested_examples import TINY, make_examples, train
from pipeline.save_pipeline import SAVED, results, write_results
from spacy.tokens import Doc

from spacy_nested_ner import load_sample
from spacy_nested_ner.corpus import read_docs

EXPECTED = Path(__file__).parent / "sample.json"


def test_the_sample_pipeline_finds_what_it_found_when_it_was_saved():
    nlp = load_sample()
    if os.environ.get("UPDATE_SAMPLE"):
        docs = read_docs(ROOT / "assets" / "sample" / "test.txt")
        texts = [doc.text for _, doc in zip(range(8), docs)]
        write_results(EXPECTED, results(nlp, texts))
    expected = json.loads(EXPECTED.read_text("utf-8"))
    found = list(results(nlp, [doc["text"] for doc in expected]))
    assert sum(len(doc["mentions"]) for doc in expected) > 100
    check_equal(found, expected)


@pytest.mark.parametrize("version", sorted(path.name for path in SAVED.iterdir()))
def test_pipelines_of_all_versions_find_what_they_found_when_they_were_saved(version):
    """They have a threshold, a temperature, and a decoder and a limit that were chosen by their training data."""
    nlp = spacy.load(SAVED / version)
    expected = json.loads((SAVED / version / "expected.json").read_text("utf-8"))
    found = list(results(nlp, [Doc(nlp.vocab, words=doc["text"].split()) for doc in expected]))
    assert sum(len(doc["mentions"]) for doc in expected) > 15
    check_equal(found, expected)


def check_equal(found, expected):
    for now, then in zip(found, expected, strict=True):
        assert [mention[:3] for mention in now["mentions"]] == [mention[:3] for mention in then["mentions"]]
        probabilities = [mention[3] for mention in then["mentions"]]
        assert [mention[3] for mention in now["mentions"]] == pytest.approx(probabilities, abs=1e-5)
        assert now["log_probability"] == pytest.approx(then["log_probability"], abs=1e-3)
        assert now["entropy"] == pytest.approx(then["entropy"], abs=1e-3)


def weights(nlp):
    model = nlp.get_pipe("nested_ner").model
    return [node.get_param(name) for node in model.walk() for name in node.param_names if node.has_param(name)]


def test_two_trainings_with_one_seed_give_the_same_weights():
    both = []
    for _ in range(2):
        nlp = spacy.blank("en")
        nlp.add_pipe("nested_ner", config=TINY)
        both.append(weights(train(nlp, make_examples(nlp), steps=5)))
    assert len(both[0]) > 10
    for one, other in zip(*both, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("size", [2, 3, 1000])
def test_predictions_do_not_depend_on_the_batch(size):
    nlp = load_sample()
    texts = [doc["text"] for doc in json.loads(EXPECTED.read_text("utf-8"))]
    sentences = [sentence for text in texts for sentence in text.split(". ")]
    texts = ["", *texts, *sentences, " ", sentences[0].split()[0]]
    alone, together = list(nlp.pipe(texts, batch_size=1)), list(nlp.pipe(texts, batch_size=size))
    for one, other in zip(alone, together, strict=True):
        one, other = one.spans["sc"], other.spans["sc"]
        assert [(span.start, span.end, span.label) for span in one] == [(s.start, s.end, s.label) for s in other]
        np.testing.assert_allclose(one.attrs["scores"], other.attrs["scores"], rtol=0, atol=1e-6)
        for number in ("log_probability", "entropy"):  # sums over the whole text
            assert one.attrs[number] == pytest.approx(other.attrs[number], rel=1e-5, abs=1e-5)
