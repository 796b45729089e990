"""Files and folders are written as a whole or not at all, even if the process is killed."""

import os
import stat
import subprocess
import sys

import pytest
from nested_documents import save

from spacy_nested_ner import _whole
from spacy_nested_ner._whole import check_file, check_folder, remove_unfinished, whole_files, whole_folder, write_whole


def names(folder):
    return sorted(file.name for file in folder.iterdir())


def killed(program, folder):
    """Run a program that kills itself where it says DIE."""
    head = "import os, sys\nfrom pathlib import Path\nfrom spacy_nested_ner import _whole\nfolder = Path(sys.argv[1])\n"
    program = head + program.replace("DIE", "os.kill(os.getpid(), 9)")
    assert subprocess.run([sys.executable, "-c", program, str(folder)]).returncode == -9


# ---- files ----


def test_files_are_moved_in_the_end(tmp_path):
    target = tmp_path / "new" / "folder"
    with whole_files(target) as stage:
        save(stage / "a.txt", "new")
        assert not (target / "a.txt").exists()
    assert names(target) == ["a.txt"]


def test_files_are_not_moved_after_an_error(tmp_path):
    def fail():
        with whole_files(tmp_path) as stage:
            save(stage / "a.txt", "new")
            raise KeyError

    save(tmp_path / "a.txt", "old")
    with pytest.raises(KeyError):
        fail()
    assert (tmp_path / "a.txt").read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


def test_a_file_that_is_replaced_keeps_its_mode(tmp_path):
    save(tmp_path / "a.txt", "old").chmod(0o640)
    write_whole(tmp_path / "a.txt", "new")
    assert (tmp_path / "a.txt").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o640


@pytest.mark.parametrize("same_device", [True, False])
def test_what_a_link_leads_to_is_replaced(tmp_path, monkeypatch, same_device):
    target = save(tmp_path / "elsewhere" / "b.txt", "old")
    target.chmod(0o600)
    (tmp_path / "a.txt").symlink_to(target)
    if not same_device:
        replace = os.replace

        def refuse(old, new):
            if os.path.dirname(new) == str(target.parent) and not str(old).startswith(str(target.parent)):
                raise OSError(_whole.errno.EXDEV, "another device")
            replace(old, new)

        monkeypatch.setattr(os, "replace", refuse)
    write_whole(tmp_path / "a.txt", "new")
    assert (tmp_path / "a.txt").is_symlink()
    assert target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert names(tmp_path) == ["a.txt", "elsewhere"]
    assert names(target.parent) == ["b.txt"]


def test_what_is_no_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for name in ("pipe", "link"):
        with pytest.raises(ValueError, match=rf"{name} is a pipe; it is left as it is: name a file or folder to write"):
            check_file(tmp_path / name)
    with pytest.raises(ValueError, match=r"is a folder; name the file to write"):
        check_file(tmp_path)
    (tmp_path / "astray").symlink_to(tmp_path / "nowhere" / "a.txt")
    with pytest.raises(ValueError, match=r"there is no folder .*nowhere, to which the link .*astray leads"):
        check_file(tmp_path / "astray")
    (tmp_path / "loop").symlink_to("loop")
    for check in (check_file, check_folder):
        with pytest.raises(ValueError, match=r"loop is a link that leads back to itself; remove it, or name another"):
            check(tmp_path / "loop")
    with pytest.raises(ValueError, match=r"pipe is a pipe; it is left as it is"), whole_files(tmp_path) as stage:
        save(stage / "pipe", "")
    assert (tmp_path / "pipe").is_fifo()


def test_devices_are_refused(tmp_path):
    try:
        os.mknod(tmp_path / "null", stat.S_IFCHR | 0o600, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("only root makes devices")
    with pytest.raises(ValueError, match=r"null is a device; it is left as it is"):
        check_file(tmp_path / "null")


def test_what_is_no_file_can_be_written_to(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_whole(tmp_path / "pipe", "text")
    assert os.read(reader, 10) == b"text"
    os.close(reader)
    assert names(tmp_path) == ["pipe"]


# ---- folders ----


def test_a_file_is_not_replaced_by_a_folder(tmp_path):
    save(tmp_path / "a", "mine")
    with (
        pytest.raises(ValueError, match=r"a is a file; name a new folder, or an empty one"),
        whole_files(tmp_path) as s,
    ):
        (s / "a").mkdir()
    assert (tmp_path / "a").read_text() == "mine"


@pytest.fixture(params=[True, False], ids=["exchange", "two renames"])
def exchange(request, monkeypatch):
    if not request.param:
        monkeypatch.setattr(_whole, "_exchange", lambda one, other: False)
    return request.param


@pytest.mark.parametrize("exists", [False, True])
def test_a_whole_folder_is_replaced(tmp_path, exchange, exists):
    target = tmp_path / "model"
    if exists:
        save(target / "old", "").parent.chmod(0o750)
    with whole_folder(target) as folder:
        save(folder / "new", "")
    assert names(target) == ["new"]
    assert names(tmp_path) == ["model"]
    assert not exists or stat.S_IMODE(target.stat().st_mode) == 0o750


@pytest.mark.skipif(sys.platform != "linux", reason="other systems and file systems may not exchange folders")
def test_linux_exchanges_folders_in_one_step(tmp_path):
    save(tmp_path / "a" / "of_a", "")
    save(tmp_path / "b" / "of_b", "")
    assert _whole._exchange(tmp_path / "a", tmp_path / "b")
    assert (names(tmp_path / "a"), names(tmp_path / "b")) == (["of_b"], ["of_a"])
    assert not _whole._exchange(tmp_path / "a", tmp_path / "nothing")


@pytest.mark.parametrize("exists", [False, True])
def test_a_whole_folder_is_as_it_was_after_an_error(tmp_path, exchange, exists):
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


def test_a_whole_folder_comes_back_if_it_cannot_be_replaced(tmp_path, exchange):
    save(tmp_path / "model" / "old", "")
    with pytest.raises(FileNotFoundError), whole_folder(tmp_path / "model") as folder:
        folder.rmdir()
    assert names(tmp_path / "model") == ["old"]
    assert names(tmp_path) == ["model"]


# ---- killed ----

HALF = "with _whole.whole_files(folder) as stage:\n    (stage / 'a.txt').write_text('half')\n    DIE"
BETWEEN = """
replace = os.replace
def once(old, new):
    replace(old, new)
    DIE
os.replace = once
_whole._exchange = lambda one, other: False
with _whole.whole_folder(folder / 'model') as new:
    (new / 'new').write_text('')
"""


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path):
    killed(HALF, tmp_path)
    [left] = names(tmp_path)
    assert left.startswith(".writing-")
    write_whole(tmp_path / "b.txt", "b")
    assert names(tmp_path) == ["b.txt"]


def test_what_is_being_written_is_left_alone(tmp_path):
    with whole_files(tmp_path) as stage:
        save(stage / "a.txt", "a")
        write_whole(tmp_path / "b.txt", "b")
        remove_unfinished(tmp_path)
    assert names(tmp_path) == ["a.txt", "b.txt"]


def test_a_folder_that_was_being_replaced_comes_back(tmp_path):
    save(tmp_path / "model" / "old", "")
    killed(BETWEEN, tmp_path)
    assert not (tmp_path / "model").exists()
    remove_unfinished(tmp_path)
    assert names(tmp_path) == ["model"]
    assert names(tmp_path / "model") == ["old"]


def test_what_took_the_place_of_a_folder_stays(tmp_path):
    save(tmp_path / "model" / "old", "")
    killed(BETWEEN, tmp_path)
    save(tmp_path / "model" / "mine", "")
    remove_unfinished(tmp_path)
    assert names(tmp_path / "model") == ["mine"]
