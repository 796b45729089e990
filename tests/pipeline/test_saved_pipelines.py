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

from spacy_nested_ner import load_sample
from spacy_nested_ner.corpus import read_docs

EXPECTED = Path(__file__).parent / "sample.json"


def results(nlp, texts):
    for doc in nlp.pipe(texts):
        group = doc.spans["sc"]
        scores = np.asarray(group.attrs["scores"], dtype="float64").round(7).tolist()
        yield {
            "text": doc.text,
            "mentions": [[span.start, span.end, span.label_, score] for span, score in zip(group, scores)],
            "log_probability": round(group.attrs["log_probability"], 7),
            "entropy": round(group.attrs["entropy"], 7),
        }


def test_the_sample_pipeline_finds_what_it_found_when_it_was_saved():
    nlp = load_sample()
    if os.environ.get("UPDATE_SAMPLE"):
        docs = read_docs(ROOT / "assets" / "sample" / "test.txt")
        texts = [doc.text for _, doc in zip(range(8), docs)]
        EXPECTED.write_text(json.dumps(list(results(nlp, texts)), indent=1, ensure_ascii=False) + "\n", "utf-8")
    expected = json.loads(EXPECTED.read_text("utf-8"))
    found = list(results(nlp, [doc["text"] for doc in expected]))
    assert sum(len(doc["mentions"]) for doc in expected) > 100
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


def test_predictions_do_not_depend_on_the_batch():
    nlp = load_sample()
    texts = [doc["text"] for doc in json.loads(EXPECTED.read_text("utf-8"))]
    alone, together = list(nlp.pipe(texts, batch_size=1)), list(nlp.pipe(texts, batch_size=len(texts)))
    for one, other in zip(alone, together, strict=True):
        assert [*map(str, one.spans["sc"])] == [*map(str, other.spans["sc"])]
        np.testing.assert_allclose(one.spans["sc"].attrs["scores"], other.spans["sc"].attrs["scores"], atol=1e-6)
