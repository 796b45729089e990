"""Entities, and spans under another key, become mentions."""

import pytest
from nested_documents import make_doc, mentions, read, settings
from spacy.tokens import DocBin, Span

from spacy_nested_ner.corpus import convert


@pytest.fixture
def source(tmp_path):
    """Two mentions, one of which is also an entity, and another entity."""
    doc = make_doc([(["Ada", "of", "Bonn", "sings"], [(0, 1, "PER"), (0, 3, "PER")])])
    doc.ents = [Span(doc, 0, 1, label="PER"), Span(doc, 2, 3, label="GPE", kb_id="Q586")]
    doc.spans["sc"].attrs["scores"] = [0.5, 0.75]
    doc.spans["sc"].attrs["incomplete"] = True
    DocBin(docs=[doc]).to_disk(tmp_path / "in.spacy")
    return tmp_path / "in.spacy"


def test_entities_become_mentions_once(source, tmp_path):
    report = convert(source, tmp_path / "out.spacy", ents=True)
    (doc,), _ = read(tmp_path / "out.spacy")
    assert sorted(mentions(doc)) == [(0, 1, "PER"), (0, 3, "PER"), (2, 3, "GPE")]
    assert [ent.text for ent in doc.ents] == ["Ada", "Bonn"]
    assert [span.kb_id_ for span in doc.spans["sc"]] == ["", "", "Q586"]
    assert doc.spans["sc"].attrs == {"incomplete": True}  # there would be fewer scores than mentions
    assert (report.mentions, report.labels["GPE"]) == (3, 1)


def test_entities_alone(tmp_path):
    doc = make_doc([(["Ada"], [])])
    del doc.spans["sc"]
    doc.ents = [Span(doc, 0, 1, label="PER")]
    DocBin(docs=[doc]).to_disk(tmp_path / "in.spacy")
    assert convert(tmp_path / "in.spacy", tmp_path / "out.jsonl", ents=True).mentions == 1


def test_another_key(source, tmp_path):
    report = convert(source, tmp_path / "out.spacy", to_key="entities")
    (doc,), _ = read(tmp_path / "out.spacy")
    assert list(doc.spans) == ["entities"]
    assert sorted(mentions(doc, "entities")) == [(0, 1, "PER"), (0, 3, "PER")]
    assert doc.spans["entities"].attrs == {"incomplete": True, "scores": [0.5, 0.75]}
    assert report.mentions == 2
    convert(tmp_path / "out.spacy", tmp_path / "back.txt", settings=settings(spans_key="entities"))
    assert (tmp_path / "back.txt").read_text() == "[PER [PER Ada] of Bonn] sings\n"


def test_a_key_that_has_spans_gets_more(source, tmp_path):
    doc = next(iter(read(source)[0]))
    doc.spans["other"] = [Span(doc, 0, 1, label="PER"), Span(doc, 3, 4, label="VERB")]
    DocBin(docs=[doc]).to_disk(tmp_path / "two.spacy")
    convert(tmp_path / "two.spacy", tmp_path / "out.spacy", to_key="other")
    (doc,), _ = read(tmp_path / "out.spacy")
    assert list(doc.spans) == ["other"]
    assert sorted(mentions(doc, "other")) == [(0, 1, "PER"), (0, 3, "PER"), (3, 4, "VERB")]
