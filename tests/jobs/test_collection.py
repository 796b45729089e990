"""Collections as a whole: planned, run, stopped, continued and counted."""

import io
import re
from functools import partial
from pathlib import Path

import pytest
from collections_of_texts import TEXTS, failures, jsonl, rows, shards

from spacy_nested_ner import load_sample
from spacy_nested_ner.jobs import job as job_module
from spacy_nested_ner.jobs import local_engine, progress
from spacy_nested_ner.jobs.collection import annotate
from spacy_nested_ner.jobs.job import Job

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def sample():
    return load_sample()


@pytest.fixture(autouse=True)
def _loaded(sample, monkeypatch):
    """Workers of this process do not load the pipeline again."""
    monkeypatch.setattr(job_module, "load_pipeline", lambda model, gpu_id: sample)


@pytest.fixture
def collection(tmp_path):
    """A folder with nine documents, one of which cannot be read."""
    (tmp_path / "in" / "texts").mkdir(parents=True)
    (tmp_path / "in" / "a.jsonl").write_bytes(jsonl() + b"nonsense\n")
    (tmp_path / "in" / "texts" / "b.txt").write_text(TEXTS[0])
    (tmp_path / "in" / "texts" / "c.txt").write_text(TEXTS[1])
    return str(tmp_path / "in")


IDS = [*(f"doc{n}" for n in range(6)), "texts/b.txt", "texts/c.txt"]
SIZE = 200


def job_in(path, **settings):
    return Job("sample", str(path), **settings)


def interrupted(number, job, pieces):
    """An engine that is stopped after some pieces."""
    yield from local_engine.run(job, pieces[:number])
    raise KeyboardInterrupt


def test_every_document_is_there_once(collection, tmp_path):
    summary = annotate(job_in(tmp_path / "out"), [collection], shard_size=SIZE)
    assert [row["id"] for row in rows(tmp_path / "out")] == IDS
    [failure] = failures(tmp_path / "out")
    assert failure["id"] == f"a.jsonl:{len(jsonl())}"
    assert summary.documents == 8
    assert summary.errors == 1
    assert summary.words == sum(row["n_tokens"] for row in rows(tmp_path / "out"))
    assert summary.mentions == sum(len(row["mentions"]) for row in rows(tmp_path / "out"))
    assert (summary.shards, summary.kept_shards) == (len(shards(tmp_path / "out")), 0)
    assert summary.shards > 3
    assert summary.words_per_second == pytest.approx(summary.words / summary.seconds, rel=0.1)


@pytest.mark.parametrize("to", ["parquet", "spacy"])
@pytest.mark.parametrize("number", [0, 2])
def test_stopped_and_started_again_it_gives_the_same_files(collection, tmp_path, to, number):
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    annotate(job_in(whole, to=to), [collection], shard_size=SIZE)
    with pytest.raises(KeyboardInterrupt):
        annotate(job_in(stopped, to=to), [collection], shard_size=SIZE, engine=partial(interrupted, number))
    assert len(shards(stopped)) == number
    asked = []

    def engine(job, pieces):
        asked.extend(piece.number for piece in pieces)
        return local_engine.run(job, pieces)

    summary = annotate(job_in(stopped, to=to), [collection], shard_size=SIZE, engine=engine)
    assert asked == list(range(number, summary.shards))
    assert summary.kept_shards == number
    assert shards(stopped) == shards(whole)
    assert failures(stopped) == failures(whole)
    again = annotate(job_in(stopped, to=to), [collection], shard_size=SIZE)
    assert (again.documents, again.kept_shards) == (0, summary.shards)


def test_another_run_is_refused_or_replaced(collection, tmp_path):
    out = tmp_path / "out"
    annotate(job_in(out), [collection], shard_size=SIZE)
    with pytest.raises(ValueError, match="shard_size was 200, and now is 4000000"):
        annotate(job_in(out), [collection])
    summary = annotate(job_in(out), [collection], overwrite=True)
    assert summary.documents == 8
    assert len(shards(out)) == 1
    assert len(list((out / "errors").iterdir())) == 1


def test_standard_input_can_be_continued_too(tmp_path):
    out = tmp_path / "out"
    run = partial(annotate, job_in(out), ["-"], shard_size=SIZE)
    with pytest.raises(KeyboardInterrupt):
        run(standard_input=io.BytesIO(jsonl()), engine=partial(interrupted, 1))
    assert not list(out.glob(".*"))
    (out / ".input-killed").mkdir()
    summary = run(standard_input=io.BytesIO(jsonl()))
    assert summary.kept_shards == 1
    assert [row["id"] for row in rows(out)] == [f"doc{n}" for n in range(6)]
    assert not list(out.glob(".*"))
    with pytest.raises(ValueError, match="stdin is changed since then"):
        run(standard_input=io.BytesIO(jsonl(TEXTS[1:])))
    with pytest.raises(ValueError, match="the input is -, but there is no standard input"):
        run()


def test_ids_of_standard_input(tmp_path):
    annotate(job_in(tmp_path / "out"), ["-"], standard_input=io.BytesIO(b'{"text": "One"}\n{"text": "Two"}\n'))
    assert [row["id"] for row in rows(tmp_path / "out")] == ["stdin:0", "stdin:16"]


def test_other_file_systems(collection, tmp_path):
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("memory")
    try:
        system.put(collection, "/bucket", recursive=True)
        job = Job("sample", "memory://out/run")
        with pytest.raises(KeyboardInterrupt):
            annotate(job, ["memory://bucket"], shard_size=SIZE, engine=partial(interrupted, 2))
        summary = annotate(job, ["memory://bucket"], shard_size=SIZE)
        assert summary.kept_shards == 2
        annotate(job_in(tmp_path / "here"), [f"file://{collection}"], shard_size=SIZE)
        system.get("/out/run/", str(tmp_path / "fetched"), recursive=True)
        assert shards(tmp_path / "fetched") == shards(tmp_path / "here")
        assert failures(tmp_path / "fetched") == failures(tmp_path / "here")
    finally:
        system.store.clear()
        system.pseudo_dirs[:] = [""]


def test_mistakes_show_before_any_work(collection, tmp_path, monkeypatch):
    out = tmp_path / "out"
    monkeypatch.chdir(collection)
    for job, inputs, settings, message in [
        (job_in("out"), ["."], {}, "is inside the input, .; name a folder outside of it"),
        (job_in(out, to="csv"), [collection], {}, "to is 'csv'; expected parquet or spacy"),
        (job_in(out), [collection], {"shard_size": 0}, "shard_size is 0, batch_words is 10000; expected 1 or more"),
        (job_in(out), [], {}, "there is no input; name files, folders or patterns, or - for standard input"),
        (job_in(Path(collection, "out")), [collection], {}, "is inside the input, .*; name a folder outside of it"),
        (job_in(out), [str(tmp_path / "no")], {}, "no: no such file or folder"),
    ]:
        with pytest.raises(ValueError, match=message):
            annotate(job, inputs, **settings)
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ValueError, match=r"pip install 'spacy-nested-ner\[parquet\]'; .*--to spacy needs nothing"):
        annotate(job_in(out), [collection])
    assert not out.exists()
    assert annotate(job_in(out, to="spacy"), [collection]).documents == 8


def test_progress_is_said_line_by_line_without_a_terminal(collection, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(progress, "_SECONDS_BETWEEN_LINES", 0)
    with pytest.raises(KeyboardInterrupt):
        annotate(job_in(tmp_path / "out"), [collection], shard_size=SIZE, engine=partial(interrupted, 2))
    assert capsys.readouterr().err == ""
    summary = annotate(job_in(tmp_path / "out"), [collection], shard_size=SIZE, progress=True)
    first, *lines = capsys.readouterr().err.splitlines()
    assert first == f"2 of {summary.shards} shards were finished before"
    assert len(lines) == summary.shards - 2
    expected = rf"3 of {summary.shards} shards, \d documents, [\d,]+ words per second, \d errors, 0:\d\d:\d\d left"
    assert re.fullmatch(expected, lines[0])
    assert lines[-1].endswith("1 errors, 0:00:00 left")


def test_progress_is_a_bar_on_a_terminal(collection, tmp_path, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    annotate(job_in(tmp_path / "out"), [collection], shard_size=SIZE, progress=True)
    assert "words per second, 1 errors" in terminal.getvalue()
    assert "100%|" in terminal.getvalue()


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_pattern_that_matches_the_output_does_not_read_it(collection, overwrite):
    job, pattern = job_in(Path(collection, "out"), to="spacy"), str(Path(collection, "*"))
    with pytest.raises(KeyboardInterrupt):
        annotate(job, [pattern], shard_size=SIZE, engine=partial(interrupted, 2))
    summary = annotate(job, [pattern], shard_size=SIZE, overwrite=overwrite)
    assert summary.kept_shards == (0 if overwrite else 2)
    again = annotate(job, [pattern], shard_size=SIZE)
    assert again.kept_shards == again.shards == summary.shards
