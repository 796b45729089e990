"""What a worker does with a piece."""

import json
import os
import subprocess
import sys
from collections import Counter

import pytest
import spacy
from collections_of_texts import TEXTS, failures, jsonl, rows, save_docbin, shards
from spacy.language import Language
from spacy.tokens import DocBin

from spacy_nested_ner import load_sample, mentions
from spacy_nested_ner.jobs import job as job_module
from spacy_nested_ner.jobs.job import Job
from spacy_nested_ner.jobs.pieces import find_input, plan

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def nlp():
    return load_sample()


@pytest.fixture
def make_worker(nlp, monkeypatch, tmp_path):
    """A worker, without loading the pipeline again."""
    monkeypatch.setattr(job_module, "load_pipeline", lambda model, gpu_id: nlp)

    def make(**settings):
        return Job("sample", str(tmp_path / "out"), **settings).worker()

    return make


def run(worker, path, shard_size=10**9):
    return [worker(piece) for piece in plan(find_input([str(path)]), shard_size)]


@pytest.fixture
def many(tmp_path):
    """Documents of very different lengths."""
    texts = [" ".join(TEXTS[k] for k in range(len(TEXTS)) if n & (1 << k)) for n in range(0, 64, 3)]
    path = tmp_path / "many.jsonl"
    path.write_bytes(jsonl(texts))
    return path, texts


def as_parquet(doc):
    fields = ("start_char", "end_char", "start", "end", "label", "probability", "depth")
    return [{name: row[name] for name in fields} for row in mentions(doc)]


@pytest.mark.parametrize("batch_words", [50, 10_000])
def test_parquet_has_what_the_pipeline_finds(make_worker, nlp, many, tmp_path, batch_words):
    path, texts = many
    [done] = run(make_worker(batch_words=batch_words), path)
    found = rows(tmp_path / "out")
    assert [row["id"] for row in found] == [f"doc{n}" for n in range(22)]
    assert set(found[0]) == {"id", "mentions", "log_probability", "entropy", "n_tokens"}
    for row, doc in zip(found, nlp.pipe(texts)):
        expected = as_parquet(doc)
        assert [{**each, "probability": None} for each in row["mentions"]] == [
            {**each, "probability": None} for each in expected
        ]
        for mention, other in zip(row["mentions"], expected):
            assert mention["probability"] == pytest.approx(other["probability"], abs=1e-4)
        assert row["log_probability"] == pytest.approx(doc.spans["sc"].attrs["log_probability"], abs=1e-3)
        assert row["entropy"] == pytest.approx(doc.spans["sc"].attrs["entropy"], abs=1e-3)
        assert row["n_tokens"] == len(doc)
    assert done[:5] == (0, 22, sum(row["n_tokens"] for row in found), sum(len(row["mentions"]) for row in found), 0)
    assert done.mentions > 50
    assert done.seconds > 0


def test_the_text_only_if_it_is_wanted(make_worker, many, tmp_path):
    run(make_worker(with_text=True), many[0])
    assert [row["text"] for row in rows(tmp_path / "out")] == many[1]


def test_spacy_shards_keep_scores_and_ids(make_worker, nlp, tmp_path):
    (tmp_path / "a.jsonl").write_bytes(jsonl())
    run(make_worker(to="spacy"), tmp_path / "a.jsonl")
    docs = list(DocBin().from_disk(tmp_path / "out" / "part-00000.spacy").get_docs(spacy.blank("en").vocab))
    assert [doc.text for doc in docs] == TEXTS
    assert [doc.user_data["id"] for doc in docs] == [f"doc{k}" for k in range(len(TEXTS))]
    for doc, text in zip(docs, TEXTS):
        expected = [(row["start"], row["end"], row["label"]) for row in mentions(nlp(text))]
        assert [(row["start"], row["end"], row["label"]) for row in mentions(doc)] == expected
        assert all(0 < row["probability"] <= 1 for row in mentions(doc))
        assert "entropy" in doc.spans["sc"].attrs


def test_tokens_of_spacy_files_are_kept(make_worker, tmp_path):
    save_docbin(tmp_path / "a.spacy")
    run(make_worker(), tmp_path / "a.spacy")
    assert [row["n_tokens"] for row in rows(tmp_path / "out")] == [len(text.split()) for text in TEXTS]


def test_the_same_piece_gives_the_same_bytes(make_worker, many, tmp_path):
    for to in ("parquet", "spacy"):
        worker = make_worker(to=to, batch_words=100)
        run(worker, many[0], shard_size=2500)
        first = shards(tmp_path / "out")
        pieces = plan(find_input([str(many[0])]), 2500)
        for piece in reversed(pieces):
            worker(piece)
        assert shards(tmp_path / "out") == first


@Language.component("picky")
def picky(doc):
    if "Nobody" in doc.text:
        raise KeyError("nobody is here")
    return doc


def test_documents_that_fail_are_listed_and_the_rest_goes_on(nlp, make_worker, tmp_path):
    lines = jsonl().splitlines(keepends=True)
    lines[2:2] = [b"nonsense\n"]
    lines.append(json.dumps({"text": "a " * 600_000, "id": "long"}).encode())
    (tmp_path / "a.jsonl").write_bytes(b"".join(lines))
    nlp.add_pipe("picky")
    try:
        [done] = run(make_worker(), tmp_path / "a.jsonl")
    finally:
        nlp.remove_pipe("picky")
    assert [row["id"] for row in rows(tmp_path / "out")] == ["doc0", "doc2", "doc3", "doc4", "doc5"]
    assert (done.documents, done.errors) == (5, 3)
    first, second, third = failures(tmp_path / "out")
    assert first["id"] == "doc1"
    assert first["place"] == f"{tmp_path / 'a.jsonl'}, byte {len(lines[0])}"
    assert "KeyError: 'nobody is here'" in first["reason"]
    assert "not a line of JSON" in second["reason"]
    assert third["id"] == "long"
    assert "[E088] Text of length 1200000 exceeds maximum of 1000000" in third["reason"]


def test_what_cannot_be_saved_leaves_nothing_behind(nlp, make_worker, tmp_path):
    @Language.component("unsaved")
    def unsaved(doc):
        if "Nobody" in doc.text:
            doc.user_data["object"] = object()
        return doc

    (tmp_path / "a.jsonl").write_bytes(jsonl())
    nlp.add_pipe("unsaved")
    try:
        run(make_worker(to="spacy"), tmp_path / "a.jsonl")
    finally:
        nlp.remove_pipe("unsaved")
    docs = DocBin().from_disk(tmp_path / "out" / "part-00000.spacy").get_docs(nlp.vocab)
    assert [doc.user_data["id"] for doc in docs] == ["doc0", "doc2", "doc3", "doc4", "doc5"]
    [failure] = failures(tmp_path / "out")
    assert failure["id"] == "doc1"
    assert failure["reason"].startswith("TypeError: can not serialize 'object' object")


def test_batches_have_documents_of_one_length(make_worker, many):
    worker = make_worker(batch_words=200)
    seen = []
    original = worker.nlp.pipe

    def pipe(docs, **settings):
        seen.append([len(doc) for doc in docs])
        return original(docs, **settings)

    worker.nlp.pipe = pipe
    try:
        run(worker, many[0])
    finally:
        del worker.nlp.pipe
    assert [length for batch in seen for length in batch] == sorted(length for batch in seen for length in batch)
    assert all(sum(batch) <= 200 or len(batch) == 1 for batch in seen)
    assert len(seen) > 3


def test_the_vocab_stops_growing(make_worker, monkeypatch, tmp_path):
    """The first words are kept, so that the tokenizer is quick; later ones are forgotten."""
    nlp = load_sample()
    monkeypatch.setattr(job_module, "load_pipeline", lambda model, gpu_id: nlp)
    monkeypatch.setattr(job_module, "_NEW_STRINGS", 100)
    worker = Job("sample", str(tmp_path / "out"), batch_words=20, with_text=True).worker()
    texts = [f"Milo{n} Brandt{n} met the mayor of Dorvin{n}." for n in range(150)]
    (tmp_path / "a.jsonl").write_bytes(jsonl(texts))
    before = len(nlp.vocab.strings)
    run(worker, tmp_path / "a.jsonl")
    grown = len(nlp.vocab.strings) - before
    assert 100 <= grown < 300
    run(worker, tmp_path / "a.jsonl")
    assert len(nlp.vocab.strings) - before == grown
    assert [row["text"] for row in rows(tmp_path / "out")] == texts
    other = load_sample()
    for row, doc in zip(rows(tmp_path / "out"), other.pipe(texts)):
        assert [(m["start"], m["end"], m["label"]) for m in row["mentions"]] == [
            (m["start"], m["end"], m["label"]) for m in mentions(doc)
        ]


def test_threshold(make_worker, many, nlp, tmp_path):
    try:
        [more] = run(make_worker(threshold=0.01), many[0])
        [fewer] = run(make_worker(threshold=0.99), many[0])
    finally:
        nlp.get_pipe("nested_ner").cfg["threshold"] = None
    assert more.mentions > fewer.mentions > 0


def test_settings_that_do_not_fit_the_pipeline(make_worker):
    with pytest.raises(ValueError, match=r"no component of the pipeline writes to doc.spans\['other'\]"):
        make_worker(spans_key="other")
    with pytest.raises(ValueError, match="threshold is 2"):
        make_worker(threshold=2)


def test_a_pipeline_that_is_not_there():
    with pytest.raises(ValueError, match="MODEL is 'nothing', but there is no such folder or package"):
        Job("nothing", "out").worker()


@pytest.mark.slow
def test_memory_stays_flat(tmp_path):
    """New words in every document leave nothing behind. Without memory zones they take 60 MB here."""
    pytest.importorskip("resource")
    (tmp_path / "a.jsonl").write_bytes(jsonl([" ".join(f"name{n}x{k}" for k in range(100)) for n in range(2000)]))
    (tmp_path / "program.py").write_text(_PROGRAM)
    command = [sys.executable, "program.py"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, env=_environment())
    peaks = list(map(float, result.stdout.split()))
    assert len(peaks) > 10
    assert peaks[-1] < peaks[0] + 25, peaks


# In a process of its own: what other tests have used is never given back.
_PROGRAM = """
import resource
import spacy
from spacy.language import Language
from spacy.tokens import SpanGroup
from spacy_nested_ner.jobs import job as job_module
from spacy_nested_ner.jobs.job import Job
from spacy_nested_ner.jobs.pieces import find_input, plan

@Language.component("finds_nothing")
def finds_nothing(doc):
    doc.spans["sc"] = SpanGroup(doc, attrs={"scores": []})
    return doc

nlp = spacy.blank("en")
nlp.add_pipe("finds_nothing")
nlp.to_disk("model")
job_module._NEW_STRINGS = 2000
worker = Job("model", "out", batch_words=1000).worker()
for piece in plan(find_input(["a.jsonl"]), 200_000):
    worker(piece)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000)
"""


def _environment():
    """So that another process finds the package that is tested."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, sys.path))}


def test_counts_are_those_of_the_rows(make_worker, many, tmp_path):
    total = Counter()
    for done in run(make_worker(), many[0], shard_size=1500):
        total.update(done._asdict())
    assert total["documents"] == len(rows(tmp_path / "out")) == 22
    assert len(shards(tmp_path / "out")) > 2


def test_errors_of_an_attempt_that_was_stopped_do_not_remain(make_worker, tmp_path):
    (tmp_path / "a.jsonl").write_bytes(jsonl())
    errors = tmp_path / "out" / "errors" / "_part-00000.jsonl"
    errors.parent.mkdir(parents=True)
    errors.write_text('{"id": "doc1", "place": "a.jsonl, byte 0", "reason": "MemoryError: "}\n')
    run(make_worker(), tmp_path / "a.jsonl")
    assert len(rows(tmp_path / "out")) == len(TEXTS)
    assert failures(tmp_path / "out") == []
