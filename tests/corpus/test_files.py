"""Finding and reading files."""

import pytest
from nested_documents import save

from spacy_nested_ner.corpus import FormatError
from spacy_nested_ner.corpus.files import input_files, read_lines, read_paragraphs


def test_only_a_line_feed_ends_a_line(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("\ufeffa\u2028b\x0c\r\nc\n\n\ufeffd".encode())
    assert list(read_lines(path)) == [(1, "a\u2028b\x0c"), (2, "c"), (3, ""), (4, "\ufeffd")]


def test_bytes_that_are_not_utf8_are_named(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"ok\nK\xf6ln\n")
    with pytest.raises(FormatError, match=r"a.txt, line 2: byte 0xf6 is not UTF-8; save the file as UTF-8"):
        list(read_lines(path))


def test_blank_lines_separate_paragraphs(tmp_path):
    path = save(tmp_path / "a.txt", "\n\na\nb\n \t\r\n\u00a0\n")
    assert list(read_paragraphs(path)) == [[(3, "a"), (4, "b")], [(6, "\u00a0")]]


def test_files_in_folders_are_found_by_suffix(tmp_path):
    for name in ("b.txt", "a.TXT", "c.tsv", "more/d.txt"):
        save(tmp_path / name, "")
    (tmp_path / "e.txt").mkdir()
    found = [str(file.relative_to(tmp_path)) for file in input_files(tmp_path, (".txt",))]
    assert found == ["a.TXT", "b.txt", "more/d.txt"]
    assert input_files(tmp_path / "c.tsv", (".txt",)) == [tmp_path / "c.tsv"]
    assert input_files(tmp_path, (".txt",), ["b", "d.txt"]) == [tmp_path / "b.txt", tmp_path / "more" / "d.txt"]


def test_hidden_files_and_folders_are_left_out(tmp_path):
    for name in ("a.txt", ".b.txt", ".writing-1/new/c.txt", "more/.cache/d.txt"):
        save(tmp_path / ".corpus" / name, "")
    assert input_files(tmp_path / ".corpus", (".txt",)) == [tmp_path / ".corpus" / "a.txt"]
    assert input_files(tmp_path / ".corpus" / ".b.txt", (".txt",)) == [tmp_path / ".corpus" / ".b.txt"]
