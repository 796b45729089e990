"""Finding and reading files, and writing them all or not at all."""

import pytest
from nested_documents import save

from spacy_nested_ner.corpus import FormatError
from spacy_nested_ner.corpus.files import input_files, read_lines, read_paragraphs, staging, whole_folder


def names(folder):
    return sorted(file.name for file in folder.iterdir())


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


def test_staged_files_are_moved_in_the_end(tmp_path):
    target = tmp_path / "new" / "folder"
    with staging(target) as stage:
        save(stage / "a.txt", "new")
        assert not (target / "a.txt").exists()
    assert names(target) == ["a.txt"]


def test_staged_files_are_not_moved_after_an_error(tmp_path):
    def fail():
        with staging(tmp_path) as stage:
            save(stage / "a.txt", "new")
            raise KeyError

    save(tmp_path / "a.txt", "old")
    with pytest.raises(KeyError):
        fail()
    assert (tmp_path / "a.txt").read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("exists", [False, True])
def test_a_whole_folder_is_replaced(tmp_path, exists):
    target = tmp_path / "model"
    if exists:
        save(target / "old", "")
    with whole_folder(target) as folder:
        save(folder / "new", "")
    assert names(target) == ["new"]
    assert names(tmp_path) == ["model"]


@pytest.mark.parametrize("exists", [False, True])
def test_a_whole_folder_is_as_it_was_after_an_error(tmp_path, exists):
    def fail():
        with whole_folder(target) as folder:
            save(folder / "new", "")
            raise KeyError

    target = tmp_path / "model"
    if exists:
        save(target / "old", "")
    with pytest.raises(KeyError):
        fail()
    assert names(tmp_path) == (["model"] if exists else [])
    if exists:
        assert names(target) == ["old"]


def test_a_whole_folder_comes_back_if_it_cannot_be_replaced(tmp_path):
    save(tmp_path / "model" / "old", "")
    with pytest.raises(FileNotFoundError), whole_folder(tmp_path / "model") as folder:
        folder.rmdir()
    assert names(tmp_path / "model") == ["old"]
    assert names(tmp_path) == ["model"]
