"""The pipeline that comes with the package."""

import json

import pytest

from spacy_nested_ner import load_sample
from spacy_nested_ner.sample import SAMPLE_PATH


@pytest.fixture(scope="module")
def nlp():
    return load_sample()


def test_it_finds_mentions_inside_mentions(nlp):
    doc = nlp("The wife of the president of Kestria arrived at the airport in Dorvin.")
    group = doc.spans["sc"]
    found = {(span.text, span.label_): score for span, score in zip(group, group.attrs["scores"])}
    assert ("The wife of the president of Kestria", "PER") in found
    assert ("the president of Kestria", "PER") in found
    assert ("Kestria", "GPE") in found
    assert all(0.5 < score <= 1 for score in found.values())


def test_it_is_calibrated(nlp):
    assert nlp.get_pipe("nested_ner").temperature > 1


def test_options_are_those_of_spacy_load():
    assert load_sample(disable=["nested_ner"]).pipe_names == ["tok2vec"]


def test_it_is_small_and_was_made_with_project_yml():
    files = [path for path in SAMPLE_PATH.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 3_000_000
    meta = json.loads((SAMPLE_PATH / "meta.json").read_text(encoding="utf-8"))
    assert meta["performance"]["spans_sc_f"] > 0.7
    config = (SAMPLE_PATH / "config.cfg").read_text(encoding="utf-8")
    assert 'train = "corpus/sample/train.spacy"' in config
