"""`spacy nested-ner annotate`, as users call it."""

import contextlib
import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from collections_of_texts import TEXTS, failures, jsonl, rows, shards
from commands import fails, run
from helpers import listen_to_interrupts
from spacy.tokens import DocBin

from spacy_nested_ner import load_sample, mentions

pytest.importorskip("pyarrow")


@pytest.fixture
def collection(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").write_bytes(jsonl())
    (tmp_path / "in" / "b.jsonl.gz").write_bytes(gzip.compress(b'{"text": "Milo Brandt left Dorvin."}\n{"text": 3}\n'))
    return tmp_path / "in"


def test_it_writes_parquet_and_prints_a_summary(collection, tmp_path):
    result = run("annotate", collection, tmp_path / "out", "--model", "sample", "--with-text")
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)
    assert list(summary) == [
        *("documents", "words", "mentions", "errors", "shards", "kept_shards", "seconds", "words_per_second")
    ]
    found = rows(tmp_path / "out")
    assert (summary["documents"], summary["errors"], summary["shards"]) == (7, 1, 1)
    nlp = load_sample()
    for row in found:
        expected = [(m["start"], m["end"], m["label"], m["depth"]) for m in mentions(nlp(row["text"]))]
        assert [(m["start"], m["end"], m["label"], m["depth"]) for m in row["mentions"]] == expected
        for mention in row["mentions"]:
            assert row["text"][mention["start_char"] : mention["end_char"]].strip()
    assert found[-1]["id"] == "b.jsonl.gz:0"
    assert [failure["id"] for failure in failures(tmp_path / "out")] == ["b.jsonl.gz:37"]
    again = run("annotate", collection, tmp_path / "out", "--model", "sample", "--with-text")
    assert json.loads(again.stdout)["kept_shards"] == 1
    assert "1 of 1 shards were finished before" in again.stderr
    message = fails("annotate", collection, tmp_path / "out", "--model", "sample")
    assert "has shards of another run: with_text was True, and now is False" in message
    assert run("annotate", collection, tmp_path / "out", "--model", "sample", "--overwrite").exit_code == 0


def test_standard_input_and_fields(tmp_path):
    content = b'{"body": "Milo Brandt left Dorvin.", "key": 7}\n'
    options = ["--model", "sample", "--text-field", "body", "--id-field", "key", "--to", "spacy"]
    result = run("annotate", "-", tmp_path / "out", *options, input=content)
    assert result.exit_code == 0, result.output
    nlp = load_sample()
    [doc] = DocBin().from_disk(tmp_path / "out" / "part-00000.spacy").get_docs(nlp.vocab)
    assert doc.text == "Milo Brandt left Dorvin."
    assert doc.user_data["id"] == "7"
    assert doc.spans["sc"]


def test_patterns_and_several_inputs(collection, tmp_path):
    (collection / "c.txt").write_text(TEXTS[0])
    arguments = [f"{collection}/*.jsonl", collection / "c.txt", tmp_path / "out", "-m", "sample"]
    result = run("annotate", *arguments, "--shard-size", "0.0005")
    assert result.exit_code == 0, result.output
    assert [row["id"] for row in rows(tmp_path / "out")] == [*(f"doc{n}" for n in range(6)), str(collection / "c.txt")]
    assert json.loads(result.stdout)["shards"] == 2


def test_errors(collection, tmp_path):
    message = fails("annotate", collection, tmp_path / "out", "-m", "sample", "--text-field", "body")
    assert f"Documents that failed: 8; see {tmp_path / 'out'}/errors\n" in message
    assert "Error: no document could be annotated" in message
    out = tmp_path / "other"
    assert "MODEL is 'nothing', but there is no such" in fails("annotate", collection, out, "-m", "nothing")
    assert "threshold is 2.0; expected a number between 0" in fails(
        "annotate", collection, out, "-m", "sample", "--threshold", 2
    )
    assert "no component of the pipeline writes to doc.spans['x']" in fails(
        "annotate", collection, tmp_path / "third", "-m", "sample", "-k", "x"
    )
    assert "workers on other machines cannot read standard input" in fails(
        "annotate", "-", out, "-m", "sample", "--engine", "ray", input=b""
    )


def test_ctrl_c_says_how_to_go_on(collection, tmp_path, monkeypatch):
    def stopped(job, pieces, n_process):
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr("spacy_nested_ner.jobs.local_engine.run", stopped)
    result = run("annotate", collection, tmp_path / "out", "-m", "sample")
    assert result.exit_code == 130
    assert result.stderr == f"Stopped. The same command goes on with what is in {tmp_path / 'out'}\n"


def test_options(options_of):
    assert options_of("annotate") == set(
        "INPUT OUTPUT --model --to --with-text --text-field --id-field --spans-key --threshold --shard-size "
        "--batch-words --max-bytes --n-process --gpu-id --engine --address --workers --gpus-per-worker "
        "--overwrite".split()
    )


ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, sys.path))}


@pytest.fixture
def command():
    """Run the command in a process of its own, which ends with the test."""
    started = []

    def start(*arguments):
        program = [sys.executable, "-m", "spacy", "nested-ner", "annotate", *map(str, arguments)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        listen_to_interrupts()
        started.append(subprocess.Popen(program, env=ENVIRONMENT, start_new_session=True, **pipes))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def workers_of(process):
    """The processes that annotate for another one. Python has a process of its own there, too."""
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError):
            child = f"PPid:\t{process.pid}\n" in status.read_text()
            if child and b"spawn_main" in status.with_name("cmdline").read_bytes():
                found.append(int(status.parent.name))
    return found


def wait_for(condition, process):
    limit = time.monotonic() + 120
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < limit, "it takes too long"
        time.sleep(0.01)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """Many small pieces, and what becomes of them without an interruption."""
    folder = tmp_path_factory.mktemp("uninterrupted")
    lines = jsonl([f"{text} {n}" for n in range(40) for text in TEXTS])
    (folder / "in.jsonl").write_bytes(lines + b"nonsense\n")
    options = [folder / "in.jsonl", "--model", "sample", "--shard-size", "0.0004"]
    result = run("annotate", *options, folder / "out")
    assert result.exit_code == 0, result.output
    assert len(shards(folder / "out")) > 40
    return options, folder / "out"


@pytest.mark.slow
@pytest.mark.parametrize(
    "kill, n_process",
    [(signal.SIGKILL, 1), (signal.SIGKILL, 2), (signal.SIGINT, 1), (signal.SIGINT, 2)],
)
def test_killed_and_started_again_it_gives_the_same_files(uninterrupted, command, tmp_path, kill, n_process):
    options, whole = uninterrupted
    out = tmp_path / "out"
    process = command(*options, out, "--n-process", n_process)
    wait_for(lambda: len(shards(out)) >= 3, process)
    # Ctrl-C in a terminal goes to all processes of the command.
    (os.killpg if kill == signal.SIGINT else os.kill)(process.pid, kill)
    printed, said = process.communicate(timeout=60)
    assert printed == ""
    if kill == signal.SIGINT:
        assert process.returncode == 130
        assert said.endswith(f"Stopped. The same command goes on with what is in {out}\n")
        assert "Traceback" not in said
        assert not list(out.rglob(".*"))
    kept = shards(out)
    assert 3 <= len(kept) < len(shards(whole))
    assert kept.items() <= shards(whole).items()
    result = run("annotate", *options, out)
    assert result.exit_code == 0, result.output
    assert shards(out) == shards(whole)
    assert failures(out) == failures(whole)
    assert not list(out.rglob(".*"))


@pytest.mark.slow
def test_several_processes_give_the_same_files(uninterrupted, tmp_path):
    options, whole = uninterrupted
    result = run("annotate", *options, tmp_path / "out", "--n-process", 2)
    assert result.exit_code == 0, result.output
    assert shards(tmp_path / "out") == shards(whole)
    assert failures(tmp_path / "out") == failures(whole)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="processes are found in /proc")
def test_a_killed_worker_loses_nothing(uninterrupted, command, tmp_path):
    options, whole = uninterrupted
    out = tmp_path / "out"
    process = command(*options, out, "--n-process", 2)
    wait_for(lambda: len(shards(out)) >= 3, process)
    os.kill(workers_of(process)[0], signal.SIGKILL)
    printed, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    assert json.loads(printed)["documents"] == 240
    assert shards(out) == shards(whole)


@pytest.mark.slow
def test_the_command_line_starts_without_the_extras():
    program = "import sys, spacy_nested_ner.cli, spacy_nested_ner.jobs.collection; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert not {"pyarrow", "ray", "fsspec", "spacy_nested_ner.jobs.ray_engine"} & set(done.stdout.split())
