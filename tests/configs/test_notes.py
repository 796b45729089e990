"""Notes about data that people should know before they train."""

from collections import Counter

import pytest
from small_corpora import FLAT, NESTED, save_docs

import spacy_nested_ner.configs.notes
from spacy_nested_ner import init_config
from spacy_nested_ner.configs.contents import Contents
from spacy_nested_ner.configs.evidence import Evidence, Part
from spacy_nested_ner.configs.notes import find_notes
from spacy_nested_ner.decoders import Mention


def notes(tmp_path, *documents, **options):
    return init_config(save_docs(tmp_path / "train.spacy", *documents, **options)).notes


def test_nothing_to_say(tmp_path):
    assert notes(tmp_path, [NESTED]) == []


def test_flat_data(tmp_path):
    assert notes(tmp_path, [FLAT]) == ["No mention is inside another, so spaCy's own `ner` may be all you need."]


def test_documents_that_are_not_annotated(tmp_path):
    def remove(doc):
        if len(doc) == 6:
            del doc.spans["sc"]

    (note,) = notes(tmp_path, [NESTED], [FLAT], [FLAT], change=remove)
    assert note.startswith("2 of 3 documents have no group doc.spans['sc']. They count as not annotated")


def test_an_outlier(tmp_path):
    def about(lengths):
        contents = Contents(tmp_path, spans=Counter(sc=2000))
        segments = [([Mention(0, length, "PER")], 30) for length, n in lengths.items() for _ in range(n)]
        evidence = Evidence(mentions=2000, labels=Counter(PER=2000), nested=1, segments=segments)
        return find_notes(Part(contents, evidence), None, "sc", has_transformer=False)

    assert about({1: 1000, 5: 999, 9: 1}) == []
    assert about({1: 1000, 5: 990, 30: 10}) == []
    (note,) = about({1: 1000, 5: 999, 30: 1})
    assert note == (
        "1 of 2,000 mentions are left out of training, because they have more than 20 tokens; the longest has 30. Look "
        "for mistakes; max_span_length = 30 keeps them, and makes training slower."
    )


def test_development_data(tmp_path):
    train = save_docs(tmp_path / "train.spacy", [NESTED], [FLAT], [NESTED, NESTED])
    dev = save_docs(tmp_path / "dev.spacy", [NESTED], [("Norline sailed .", [(0, 1, "ORG"), (0, 1, "VEH")])])
    assert init_config(train, dev).notes == [
        "1 of 2 development texts are also in the training data, so scores will be too high; keep them apart.",
        "The development data have labels that the training data lack: ORG, VEH.",
    ]
    assert "3 of 3 development texts" in init_config(train, train).notes[0]


@pytest.mark.parametrize("installed", [True, False])
def test_a_transformer_needs_a_package(installed, tmp_path, monkeypatch):
    monkeypatch.setattr(spacy_nested_ner.configs.notes, "find_spec", lambda name: object() if installed else None)
    path = save_docs(tmp_path / "train.spacy", [NESTED])
    expected = ["spacy-transformers is missing: pip install 'spacy-nested-ner[transformers]'"]
    assert init_config(path, transformer="x").notes == ([] if installed else expected)
    assert init_config(path).notes == []
