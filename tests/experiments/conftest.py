"""The scripts of the experiments, a place for results, and what they are tried on."""

import sys
from types import SimpleNamespace

import pytest
from commands import ROOT

from spacy_nested_ner.corpus import convert

FOLDER = ROOT / "experiments"


@pytest.fixture(scope="module")
def scripts():
    """The scripts, imported as they import each other."""
    sys.path.insert(0, str(FOLDER))
    try:
        import accuracy
        import bfloat16
        import confidence
        import confidence_tables
        import folds
        import leads
        import markup
        import plan
        import results
        import sizes
        import subset
        import tables
        import trial

        yield SimpleNamespace(
            accuracy=accuracy,
            bfloat16=bfloat16,
            confidence=confidence,
            confidence_tables=confidence_tables,
            folds=folds,
            leads=leads,
            markup=markup,
            plan=plan,
            results=results,
            sizes=sizes,
            subset=subset,
            tables=tables,
            trial=trial,
        )
    finally:
        sys.path.remove(str(FOLDER))


@pytest.fixture
def store(scripts, tmp_path, monkeypatch):
    """An empty place for results."""
    monkeypatch.setattr(scripts.results, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(scripts.results, "RUNS", tmp_path / "runs")
    return scripts.results


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sample")
    for part in ("train", "dev", "test"):
        convert(ROOT / "assets" / "sample" / f"{part}.txt", folder / f"{part}.spacy")
    return folder
