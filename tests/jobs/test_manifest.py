"""A run goes on with its own shards, and with no others."""

import json
import shutil
from dataclasses import replace

import pytest
from collections_of_texts import jsonl

from spacy_nested_ner.jobs.job import Job
from spacy_nested_ner.jobs.manifest import begin, differences, make_manifest
from spacy_nested_ner.jobs.pieces import find_input, plan
from spacy_nested_ner.sample import SAMPLE_PATH


@pytest.fixture
def job(tmp_path):
    (tmp_path / "in").mkdir()
    for name in ("a", "b", "c"):
        (tmp_path / "in" / f"{name}.jsonl").write_bytes(jsonl())
    return Job("sample", str(tmp_path / "out"))


@pytest.fixture
def manifest_of(tmp_path):
    def make(job, shard_size=10**6):
        files = find_input([str(tmp_path / "in")])
        return make_manifest(job, files, plan(files, shard_size), shard_size)

    return make


def test_it_records_input_model_and_settings(job, manifest_of, tmp_path):
    assert begin(job.output, manifest_of(job)) == set()
    manifest = json.loads((tmp_path / "out" / "_manifest.json").read_text())
    assert manifest["shards"] == 1
    assert manifest["input"]["a.jsonl"]["size"] == len(jsonl())
    assert manifest["model"]["name"].startswith("en_")
    assert len(manifest["model"]["digest"]) == 64
    assert manifest["settings"]["batch_words"] == job.batch_words
    assert "spacy" in manifest["packages"]


def test_going_on_keeps_shards_and_removes_what_is_unfinished(job, manifest_of, tmp_path):
    begin(job.output, manifest_of(job))
    out = tmp_path / "out"
    (out / "errors").mkdir()
    for name in ("part-00000.parquet", ".writing-1-part-00001.parquet", "errors/.writing-2-part-00001.jsonl"):
        (out / name).write_bytes(b"")
    assert begin(job.output, manifest_of(job)) == {"part-00000.parquet"}
    left = sorted(path.name for path in out.rglob("*") if path.is_file())
    assert left == ["_manifest.json", "part-00000.parquet"]


def test_where_model_and_output_are_does_not_matter(job, manifest_of, tmp_path):
    shutil.copytree(SAMPLE_PATH, tmp_path / "model")
    moved = replace(job, model=str(tmp_path / "model"), output="elsewhere", gpu_id=1)
    assert differences(manifest_of(job), manifest_of(moved)) == []


def test_another_run_is_refused(job, manifest_of, tmp_path):
    shutil.copytree(SAMPLE_PATH, tmp_path / "model")
    with (tmp_path / "model" / "meta.json").open("a") as file:
        file.write(" ")
    old = manifest_of(job)
    begin(job.output, old)
    for other, message in [
        (replace(job, threshold=0.3), "threshold was None, and now is 0.3"),
        (
            replace(job, to="spacy", with_text=True),
            "to was 'parquet', and now is 'spacy'; with_text was False, and now",
        ),
        (replace(job, model=str(tmp_path / "model")), "its model was sample (en_pipeline 0.0.0, digest "),
    ]:
        with pytest.raises(ValueError, match="has shards of another run") as error:
            begin(job.output, manifest_of(other))
        assert message in str(error.value)
        assert "Name another folder, run the same command as before, or remove these shards with --overwrite" in str(
            error.value
        )
    assert differences(old, manifest_of(job, 10)) == ["shard_size was 1000000, and now is 10"]
    (tmp_path / "in" / "a.jsonl").write_bytes(b"")
    (tmp_path / "in" / "b.jsonl").unlink()
    (tmp_path / "in" / "c.jsonl").unlink()
    (tmp_path / "in" / "d.jsonl").write_bytes(b"")
    assert differences(old, manifest_of(job)) == [
        "b.jsonl and 1 other files are missing from the input",
        "d.jsonl is new in the input",
        "a.jsonl is changed since then",
    ]


def test_overwriting_removes_files_of_the_run_only(job, manifest_of, tmp_path):
    begin(job.output, manifest_of(job))
    out = tmp_path / "out"
    (out / "errors").mkdir()
    for name in ("part-00000.parquet", "part-00001.spacy", "errors/_part-00000.jsonl", "notes.txt", "errors/notes"):
        (out / name).write_bytes(b"")
    assert begin(job.output, manifest_of(replace(job, threshold=0.5)), overwrite=True) == set()
    left = sorted(path.name for path in out.rglob("*") if path.is_file())
    assert left == ["_manifest.json", "notes", "notes.txt"]


def test_a_folder_of_something_else_is_left_alone(job, manifest_of, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "part-00000.parquet").write_bytes(b"of Spark")
    for overwrite in (False, True):
        with pytest.raises(ValueError, match="out has files, but none of this command; name a new or an empty folder"):
            begin(job.output, manifest_of(job), overwrite=overwrite)
    (tmp_path / "out" / "_manifest.json").write_text("{")
    with pytest.raises(ValueError, match=r"_manifest.json is damaged \(Expecting .*name another folder"):
        begin(job.output, manifest_of(job))
    (tmp_path / "out" / "_manifest.json").write_text("{}")
    with pytest.raises(ValueError, match=r"_manifest.json is not of this command; name another folder"):
        begin(job.output, manifest_of(job), overwrite=True)
    assert (tmp_path / "out" / "part-00000.parquet").read_bytes() == b"of Spark"


def test_another_order_of_the_input_is_another_run(job, tmp_path):
    """Shards are numbered in that order: some documents would be there twice, and others not at all."""
    first, second = (
        make_manifest(job, files, plan(files, 10), 10)
        for names in ("abc", "acb")
        for files in [find_input([str(tmp_path / "in" / f"{name}.jsonl") for name in names])]
    )
    begin(job.output, first)
    begin(job.output, first)
    with pytest.raises(ValueError, match=r"the files of the input are in another order, from .*c.jsonl on"):
        begin(job.output, second)
