"""The sample corpus is what its README and the tutorial need it to be."""

import pytest
from commands import ROOT
from nested_documents import settings

from spacy_nested_ner.corpus import ConversionReport, read_records
from spacy_nested_ner.evaluation import collect_statistics
from spacy_nested_ner.evaluation.statistics import merge

PARTS = ("train", "dev", "test")
LABELS = {"PER", "ORG", "GPE", "LOC", "FAC", "VEH", "WEA"}


@pytest.fixture(scope="module")
def parts():
    report = ConversionReport()
    files = {name: ROOT / "assets" / "sample" / f"{name}.txt" for name in PARTS}
    parts = [
        collect_statistics(read_records(path, settings=settings(), report=report), name) for name, path in files.items()
    ]
    assert not report.losses()
    return parts


def test_every_part_has_every_label(parts):
    assert [set(part.labels) for part in parts] == [LABELS] * 3


def test_it_is_large_and_nested_enough(parts):
    whole = merge(parts)
    assert whole.sentences >= 500
    assert whole.nested >= whole.mentions / 3
    assert max(whole.depths) >= 4
    assert not whole.crossing


def test_search_spaces_and_options_differ_on_it(parts):
    for part in parts:
        assert sum(n for length, n in part.second_children.items() if length > 1) >= 10
        assert part.same_span.total() >= 5


def test_no_sentence_is_there_twice():
    files = [ROOT / "assets" / "sample" / f"{name}.txt" for name in PARTS]
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    sentences = [line for line in lines if line and not line.startswith("# ")]
    assert len(set(sentences)) == len(sentences)
