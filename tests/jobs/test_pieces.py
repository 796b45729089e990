"""Pieces: what is read together."""

import os
import pickle
import sys
from pathlib import Path

import pytest
from collections_of_texts import TEXTS, jsonl
from hypothesis import given
from hypothesis import strategies as st

from spacy_nested_ner.jobs.pieces import InputFile, find_input, format_of, plan
from spacy_nested_ner.jobs.reading import Fields, read_piece
from spacy_nested_ner.jobs.storage import StoredFile


def names(*given):
    return [file.name for file in find_input(list(map(str, given)))]


def test_names_of_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one/a.txt", "one/sub/b.jsonl.gz", "one/README.md", "two/a.txt", "two/c.parquet"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    assert names("one") == ["a.txt", "sub/b.jsonl.gz"], "by their path in the folder"
    assert names(tmp_path / "one") == ["a.txt", "sub/b.jsonl.gz"]
    assert names("one/*.txt", "two/*.parquet") == ["one/a.txt", "two/c.parquet"], "as they are given"
    assert names("one/a.txt", "one/a.txt") == ["one/a.txt"], "once"
    both = [str(tmp_path / "one" / "a.txt"), "sub/b.jsonl.gz", str(tmp_path / "two" / "a.txt"), "c.parquet"]
    assert names("one", "two") == both, "ids must differ"
    with pytest.raises(ValueError, match="three: no such file or folder, and no file that matches"):
        names("three")
    with pytest.raises(ValueError, match=r"one/README.md: found no file that ends in .jsonl, "):
        names("one/README.md")


@pytest.mark.parametrize(
    "name, format",
    [
        ("a.jsonl", "jsonl"),
        ("A.NDJSON.GZ", "jsonl"),
        ("a.txt.zst", "text"),
        ("a.parquet", "parquet"),
        ("a.spacy", "spacy"),
        ("a.spacy.gz", None),
        ("a.json", None),
        ("a", None),
    ],
)
def test_formats_by_name(name, format):
    assert format_of(name) == format


def file_of(name, size):
    return InputFile(name, StoredFile(f"/{name}", size, ""))


def test_small_files_are_put_together_and_large_ones_are_divided():
    files = [file_of(f"{n}.txt", 40) for n in range(5)]
    files += [file_of("big.jsonl", 250), file_of("big.jsonl.gz", 250), file_of("big.spacy", 250)]
    pieces = plan(files, 100)
    read = [[(part.name, part.start, part.stop) for part in piece.parts] for piece in pieces]
    assert read == [
        [("0.txt", 0, None), ("1.txt", 0, None)],
        [("2.txt", 0, None), ("3.txt", 0, None)],
        [("4.txt", 0, None)],
        [("big.jsonl", 0, 83)],
        [("big.jsonl", 83, 166)],
        [("big.jsonl", 166, 250)],
        [("big.jsonl.gz", 0, None)],
        [("big.spacy", 0, None)],
    ]
    assert [piece.number for piece in pieces] == list(range(8))
    assert pieces[7].name == "part-00007"
    assert sum(piece.size for piece in pieces) == 5 * 40 + 3 * 250
    assert pickle.loads(pickle.dumps(pieces)) == pieces


@given(st.integers(1, 400), st.lists(st.sampled_from([*TEXTS, "a", "a\nb"]), max_size=12), st.booleans())
def test_divided_anywhere_jsonl_has_every_document_once(tmp_path_factory, shard_size, texts, ends):
    content = jsonl(texts)
    path = tmp_path_factory.mktemp("jsonl") / "a.jsonl"
    path.write_bytes(content if ends else content.rstrip(b"\n"))
    pieces = plan(find_input([str(path)]), shard_size)
    documents = [document for piece in pieces for document in read_piece(piece, Fields("text", "id"))]
    assert [document.id for document in documents] == [f"doc{k}" for k in range(len(texts))]
    assert [document.content for document in documents] == texts


@pytest.mark.parametrize("shard_size", [1, 300, 10**6])
def test_divided_parquet_has_every_document_once(tmp_path, shard_size):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    texts = [f"{text} {n}" for n in range(20) for text in TEXTS]
    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.table({"text": texts}), path, row_group_size=7)
    pieces = plan(find_input([str(path)]), shard_size)
    assert len(pieces) == {1: 18, 300: len(pieces), 10**6: 1}[shard_size]
    documents = [document for piece in pieces for document in read_piece(piece, Fields("text", "id"))]
    assert [document.content for document in documents] == texts
    assert [document.id for document in documents] == [f"{path}:{n}" for n in range(len(texts))]
    assert sum(piece.size for piece in pieces) == pytest.approx(path.stat().st_size, abs=len(pieces))


def test_no_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "a.parquet"
    path.write_bytes(b"nonsense" * 100)
    with pytest.raises(ValueError, match=r"a.parquet is not a Parquet file: "):
        plan(find_input([str(path)]), 100)


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are Unicode there")
def test_names_that_are_not_unicode_can_be_written(tmp_path):
    Path(os.fsdecode(os.fsencode(tmp_path / "caf") + b"\xe9.txt")).touch()
    [file] = find_input([str(tmp_path)])
    assert file.name == "caf\\udce9.txt"
    assert os.path.exists(file.stored.path)
