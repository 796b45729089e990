"""The documents of a piece, in every format, and what is wrong with some."""

import bz2
import gzip
import lzma
import sys
import tracemalloc

import pytest
import spacy
from collections_of_texts import TEXTS, jsonl, save_docbin
from spacy.tokens import Doc, DocBin

from spacy_nested_ner.jobs.pieces import find_input, plan
from spacy_nested_ner.jobs.reading import Document, Failure, Fields, read_piece

IDS = [f"doc{k}" for k in range(len(TEXTS))]


def read(path, text="text", id="id", **limit):
    [piece] = plan(find_input([str(path)]), 10**9)
    return list(read_piece(piece, Fields(text, id, **limit)))


def zstd(content):
    pyarrow = pytest.importorskip("pyarrow")
    sink = pyarrow.BufferOutputStream()
    with pyarrow.CompressedOutputStream(sink, "zstd") as file:
        file.write(content)
    return sink.getvalue().to_pybytes()


COMPRESSIONS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstd}


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_jsonl(tmp_path, suffix):
    path = tmp_path / f"a.jsonl{suffix}"
    path.write_bytes(COMPRESSIONS[suffix](b"\xef\xbb\xbf" + jsonl() + b"\n  \n" + b'{"text": "Last", "id": 7}'))
    documents = read(path)
    assert [document.content for document in documents] == [*TEXTS, "Last"]
    assert [document.id for document in documents] == [*IDS, "7"]
    start = len(b"\xef\xbb\xbf") + len(jsonl()) + 4
    assert documents[-1].place == f"{path}, byte {start}"


def test_ids_without_a_field_are_places(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b'{"text": "One"}\n{"text": "Two", "id": null}\n')
    assert [document.id for document in read(tmp_path)] == ["a.jsonl:0", "a.jsonl:16"]


def test_fields_have_any_name(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b'{"body": "One", "key": "k"}\n')
    assert read(tmp_path, "body", "key") == [Document("k", "a.jsonl, byte 0", "One")]


@pytest.mark.parametrize(
    "line, id, reason",
    [
        (b'{"text": "a"', "a.jsonl:0", "not a line of JSON in UTF-8: JSONDecodeError: Expecting ',' delimiter"),
        (b'{"text": "\xff"}', "a.jsonl:0", "not a line of JSON in UTF-8: UnicodeDecodeError: "),
        (b"[" * 200_000, "a.jsonl:0", "not a line of JSON in UTF-8: RecursionError"),
        (b"[1]", "a.jsonl:0", "expected a JSON object, not list"),
        (b'{"body": "a", "id": 5}', "5", "no field 'text'; its fields are 'body', 'id'; see --text-field"),
        (b'{"body": "a"}', "a.jsonl:0", "no field 'text'; its fields are 'body'; see --text-field"),
        (b'{"text": 3, "id": "x"}', "x", "'text' is int 3; expected a string; see --text-field"),
        (b'{"text": null, "id": "x"}', "x", "'text' is NoneType None; expected a string"),
        (b'{"text": "a", "id": true}', "a.jsonl:0", "'id' is bool True; expected a string or a whole number"),
        (b'{"text": "a", "id": [1]}', "a.jsonl:0", "'id' is list [1]; expected a string or a whole number"),
        (b'{"text": "a\\ud800", "id": "x"}', "x", r"'text' has '\ud800', half of a character, at 1"),
        (b'{"text": "a", "id": "\\ud800"}', "a.jsonl:0", r"'id' has '\ud800', half of a character, at 0"),
    ],
)
def test_bad_lines_are_failures_and_the_rest_goes_on(tmp_path, line, id, reason):
    (tmp_path / "a.jsonl").write_bytes(line + b'\n{"text": "Good", "id": "g"}\n')
    failure, good = read(tmp_path)
    assert isinstance(failure, Failure)
    assert failure.id == id
    assert failure.place == "a.jsonl, byte 0"
    assert failure.reason.startswith(reason)
    assert (good.id, good.content) == ("g", "Good")
    assert failure.line().endswith("\n")


def test_folders_of_text(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "b.txt").write_bytes(b"\xef\xbb\xbfOne\n\nTwo\n")
    (tmp_path / "sub" / "a.txt.gz").write_bytes(gzip.compress(b"Three"))
    (tmp_path / "c.txt").write_bytes(b"a\xff")
    assert read(tmp_path) == [
        Document("b.txt", "b.txt", "One\n\nTwo\n"),
        Failure("c.txt", "c.txt", "byte 1 is not UTF-8; save the file as UTF-8"),
        Document("sub/a.txt.gz", "sub/a.txt.gz", "Three"),
    ]


def test_spacy_keeps_tokens(tmp_path):
    save_docbin(tmp_path / "a.spacy")
    documents = read(tmp_path)
    assert [document.id for document in documents] == IDS
    docs = [Doc(spacy.blank("en").vocab).from_bytes(document.content) for document in documents]
    assert [[token.text for token in doc] for doc in docs] == [text.split() for text in TEXTS]
    assert read(tmp_path, id="other")[1].id == "a.spacy:1"


def test_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table({"text": [*TEXTS, None], "id": [*range(len(TEXTS)), None], "other": [0.5] * 7})
    parquet.write_table(table, tmp_path / "a.parquet")
    *documents, failure = read(tmp_path)
    assert [document.content for document in documents] == TEXTS
    assert [document.id for document in documents] == [str(n) for n in range(len(TEXTS))]
    reason = "'text' is NoneType None; expected a string; see --text-field"
    assert failure == Failure("a.parquet:6", "a.parquet, row 6", reason)
    with pytest.raises(ValueError, match=r"a.parquet has no column 'body'; it has text, id, other; see --text-field"):
        read(tmp_path, text="body")


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_damage_ends_a_file_and_not_the_run(tmp_path, suffix):
    content = b"".join(b'{"text": "%d", "id": "%d"}\n' % (n * 7919, n) for n in range(20_000))
    whole = COMPRESSIONS[suffix](content)
    (tmp_path / f"a.jsonl{suffix}").write_bytes(whole[: len(whole) // 2])
    (tmp_path / f"b.jsonl{suffix}").write_bytes(b"nonsense" * 10)
    (tmp_path / "c.jsonl").write_bytes(b'{"text": "Good"}')
    documents = read(tmp_path)
    failed = [entry for entry in documents if isinstance(entry, Failure)]
    assert [entry.place.split(",")[0] for entry in failed] == [f"a.jsonl{suffix}", f"b.jsonl{suffix}"]
    assert all("is damaged from here on: " in entry.reason for entry in failed)
    assert documents[-1].content == "Good"
    assert [entry.id for entry in documents[:10]] == [str(n) for n in range(10)] or suffix == ".bz2", "large blocks"


@pytest.mark.slow
@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_documents_that_are_too_large_are_passed_over(tmp_path, suffix):
    """However small they are compressed. A line is not kept while its end is looked for."""
    large = b'{"text": "%s"}' % (b"x " * 8_000_000)
    lines = (b'{"text": "One"}', large, b'{"text": "Two"}', large)
    (tmp_path / f"a.jsonl{suffix}").write_bytes(COMPRESSIONS[suffix](b"\n".join(lines)))
    (tmp_path / f"b.txt{suffix}").write_bytes(COMPRESSIONS[suffix](large))
    one, *bombs, two, last, text = read(tmp_path, max_bytes=100_000)
    assert (one.content, two.content) == ("One", "Two")
    failures = [*bombs, last]
    offsets = [16, 16 + len(large) + 1 + 16]
    assert [failure.id for failure in failures] == [f"a.jsonl{suffix}:{offset}" for offset in offsets]
    reason = "has more than 100,000 bytes; if it is to be read, raise --max-bytes"
    assert {failure.reason for failure in failures} == {f"the line {reason}"}
    assert text == Failure(f"b.txt{suffix}", f"b.txt{suffix}", f"the text {reason}")
    tracemalloc.start()
    read(tmp_path, max_bytes=100_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 14_000_000  # lzma needs most of it
    assert len(read(tmp_path, max_bytes=len(large) + 1)) == 5


def test_docs_that_are_too_large_are_refused(tmp_path):
    doc = Doc(spacy.blank("en").vocab, ["One"])
    doc.user_data["large"] = "x" * 2**20
    DocBin(docs=[doc], store_user_data=True).to_disk(tmp_path / "a.spacy")
    [failure] = read(tmp_path, max_bytes=2**20)
    reason = "the file has more than 1,048,576 bytes; if it is to be read, raise --max-bytes"
    assert failure == Failure("a.spacy", "a.spacy", reason)
    [document] = read(tmp_path, max_bytes=2**21)
    assert document.id == "a.spacy:0"


def test_damaged_docs(tmp_path):
    (tmp_path / "a.spacy").write_bytes(b"nonsense")
    [failure] = read(tmp_path)
    assert failure.place == "a.spacy, document 0"
    assert failure.reason.startswith("not a .spacy file, or damaged from here on: ValueError: [E1014]")


def test_a_file_that_is_gone_is_an_error(tmp_path):
    """It may be there again when the command goes on; the shard must not be finished without it."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(jsonl())
    [piece] = plan(find_input([str(path)]), 10**9)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        list(read_piece(piece, Fields("text", "id")))


def test_extras_are_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "compression", None)
    (tmp_path / "a.jsonl.zst").write_bytes(b"")
    with pytest.raises(ValueError, match=r"to read .zst, pip install 'spacy-nested-ner\[parquet\]'"):
        read(tmp_path)
    (tmp_path / "a.jsonl.zst").rename(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"Parquet needs pyarrow: pip install 'spacy-nested-ner\[parquet\]'"):
        read(tmp_path)


def test_parquet_with_strings_that_are_not_utf8(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    texts = pyarrow.array([b"Good", b"Ostr\xe9l", b"Good, too"], pyarrow.binary()).view(pyarrow.string())
    parquet.write_table(pyarrow.table({"text": texts}), tmp_path / "a.parquet")
    first, failure, last = read(tmp_path)
    assert (first.content, last.content) == ("Good", "Good, too")
    reason = "'text' is bytes b'Ostr\\xe9l'; expected a string; see --text-field"
    assert failure == Failure("a.parquet:1", "a.parquet, row 1", reason)


@pytest.mark.parametrize("compression, where", [("none", 0), ("zstd", 0), ("snappy", 100), ("gzip", 100)])
def test_damaged_parquet_ends_a_file_and_not_the_run(tmp_path, compression, where):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table({"text": [str(n * 7919) for n in range(3000)]})
    path = tmp_path / "a.parquet"
    parquet.write_table(table, path, compression=compression, row_group_size=1000, use_dictionary=False)
    place = parquet.ParquetFile(path).metadata.row_group(1).column(0).data_page_offset + where
    content = path.read_bytes()
    path.write_bytes(content[:place] + b"\xff" * 100 + content[place + 100 :])
    (tmp_path / "b.jsonl").write_bytes(b'{"text": "Good"}')
    *documents, failure, last = read(tmp_path)
    assert [document.content for document in documents] == table["text"].to_pylist()[:1000]
    assert failure.place == "a.parquet, after row 999"
    assert failure.reason.startswith("a.parquet is damaged from here on: OSError: ")
    assert last.content == "Good"
