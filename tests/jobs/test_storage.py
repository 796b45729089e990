"""Files, on this machine and elsewhere."""

import os
import sys

import pytest

from spacy_nested_ner.jobs.storage import (
    absolute,
    find_files,
    is_folder,
    is_inside,
    is_remote,
    join,
    list_names,
    open_file,
    read_file,
    remove_file,
    remove_unfinished,
    write_file,
)


@pytest.fixture(params=["local", "remote"])
def folder(request, tmp_path):
    """A folder on this machine, and one on a file system of fsspec."""
    if request.param == "local":
        yield str(tmp_path)
        return
    fsspec = pytest.importorskip("fsspec")
    yield f"memory://{tmp_path.name}"
    system = fsspec.filesystem("memory")
    system.store.clear()
    system.pseudo_dirs[:] = [""]


def test_files_are_found_by_name_folder_and_pattern(folder):
    for name in ("b.txt", "a.txt", "sub/c.txt", ".hidden/d.txt", "sub/.e.txt"):
        write_file(join(folder, name), name.encode())

    def names(pattern):
        return [file.path.removeprefix(f"{folder}/") for file in find_files(pattern)]

    assert names(folder) == names(f"{folder}/") == ["a.txt", "b.txt", "sub/c.txt"]
    assert names(join(folder, "*.txt")) == ["a.txt", "b.txt"]
    assert names(join(folder, "**", "c.txt")) == ["sub/c.txt"]
    assert names(join(folder, "b.txt")) == ["b.txt"]
    assert names(join(folder, "*")) == ["a.txt", "b.txt", "sub/c.txt"]
    assert names(join(folder, "nothing*")) == names(join(folder, "nothing")) == []
    assert is_folder(folder)
    assert not is_folder(join(folder, "a.txt"))


def test_sizes_and_versions(folder):
    path = join(folder, "a.txt")
    write_file(path, b"abc")
    [before] = find_files(path)
    assert before.size == 3
    assert before.version
    write_file(path, b"abcd")
    [after] = find_files(path)
    assert after.size == 4
    assert after.version != before.version
    assert after.path == before.path


def test_reading_and_removing(folder):
    path = join(folder, "a.txt")
    write_file(path, b"one\ntwo\n")
    assert read_file(path) == b"one\ntwo\n"
    with open_file(path) as file:
        file.seek(4)
        assert file.readline() == b"two\n"
    remove_file(path)
    remove_file(path)
    assert list_names(folder) == []
    assert list_names(join(folder, "nothing")) == []
    with pytest.raises(FileNotFoundError):
        read_file(path)


def test_what_could_not_be_written_is_not_there(folder):
    write_file(join(folder, "a.txt"), b"old")
    with pytest.raises(TypeError):
        write_file(join(folder, "a.txt"), object())
    assert list_names(folder) == ["a.txt"]
    assert read_file(join(folder, "a.txt")) == b"old"


def test_a_name_is_there_only_when_all_is_written(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(os, "fsync", lambda file: seen.append(os.listdir(tmp_path)))
    write_file(str(tmp_path / "a.txt"), b"abc")
    [[unfinished]] = seen
    assert unfinished.startswith(".writing-")
    assert os.listdir(tmp_path) == ["a.txt"]


def test_unfinished_files_are_removed(folder):
    write_file(join(folder, ".writing-1-a.txt"), b"a")
    write_file(join(folder, ".other"), b"a")
    write_file(join(folder, "a.txt"), b"a")
    remove_unfinished(folder)
    assert list_names(folder) == [".other", "a.txt"]


def test_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert absolute("a.txt") == str(tmp_path / "a.txt")
    assert absolute(f"file://{tmp_path}/a.txt") == str(tmp_path / "a.txt")
    assert absolute("s3://bucket/a.txt") == "s3://bucket/a.txt"
    assert is_remote("s3://bucket")
    assert not is_remote("C://folder")
    assert join("s3://bucket/", "a", "b") == "s3://bucket/a/b"


def test_file_systems_that_are_not_there(monkeypatch):
    with pytest.raises(ValueError, match="nonsense://a cannot be used: Protocol not known"):
        find_files("nonsense://a")
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(ValueError, match=r"s3://a is not on this machine; .* pip install 'spacy-nested-ner\[remote\]'"):
        find_files("s3://a")


def test_what_is_inside_a_folder():
    for path in ("/data/in/out", "/data/in"):
        assert is_inside(absolute(path), absolute("/data/in"))
        assert is_inside(absolute(path), absolute("/"))
        assert not is_inside(absolute(path), absolute("/data/i"))
    assert is_inside("s3://bucket/in/out", "s3://bucket/in/")
    assert not is_inside("s3://bucket/input", "s3://bucket/in")
    assert not is_inside("s3://bucket/in", absolute("/"))


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_links_that_lead_back_are_not_followed(tmp_path):
    (tmp_path / "in" / "sub").mkdir(parents=True)
    (tmp_path / "in" / "a.txt").touch()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "b.txt").touch()
    (tmp_path / "in" / "sub" / "back").symlink_to(tmp_path / "in")
    (tmp_path / "in" / "sub" / "other").symlink_to(tmp_path / "elsewhere")
    found = [os.path.relpath(file.path, tmp_path / "in") for file in find_files(str(tmp_path / "in"))]
    assert found == ["a.txt", "sub/other/b.txt"]
