"""The benchmarks run. Their figures are not tested: speed is no matter of right and wrong."""

import json
import os
import subprocess
import sys

import pytest
from commands import ROOT

OFTEN_WITHOUT = {"transformer alone", "transformer, nested_ner", "transformer, spancat"}


def run(script, *arguments):
    command = [sys.executable, ROOT / "benchmarks" / script, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=environment)
    assert result.returncode == 0, result.stdout + result.stderr
    return result


@pytest.mark.slow
def test_pipelines(tmp_path):
    result = run("pipeline.py", "--quick", "--output", tmp_path)
    assert "round 1 of 1: nested_ner on sample" in result.stderr
    record = json.loads((tmp_path / "pipeline.json").read_text(encoding="utf-8"))
    assert record["machine"]["processor"]
    systems = set(record["results"]) - OFTEN_WITHOUT
    assert {"tok2vec alone", "ner", "nested_ner", "spancat, 1–3-grams", "spancat, span_finder", "cubic"} <= systems
    for system in systems:
        numbers = record["results"][system]["sample"]
        assert all(numbers[f"{phase} {blas}"] > 0 for phase in ("predict", "train") for blas in ("blis", "numpy"))
    text = (tmp_path / "pipeline.txt").read_text(encoding="utf-8")
    assert text == result.stdout
    assert "Load average" in text
    assert "sample, predict, BLIS: share of tok2vec alone" in text
    assert (tmp_path / "pipeline.png").stat().st_size


@pytest.mark.slow
def test_processes(tmp_path):
    result = run("processes.py", "--quick", "--output", tmp_path)
    rows = json.loads((tmp_path / "processes.json").read_text(encoding="utf-8"))["rows"]
    assert {row["n_process"] for row in rows} == {1, 2}
    assert (tmp_path / "processes.txt").read_text(encoding="utf-8") == result.stdout


def test_a_corpus_that_does_not_exist(tmp_path):
    command = [sys.executable, ROOT / "benchmarks" / "pipeline.py", tmp_path / "genia"]
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stderr.strip().endswith(
        "train.spacy does not exist: every corpus is a folder with train.spacy and dev.spacy"
    )
