"""A disk that is full while something is saved: what was there is still there, and nothing else."""

import errno
import os
import shutil
import subprocess

import pytest
from faults.killing import tree
from nested_examples import trained

from spacy_nested_ner._whole import write_whole
from spacy_nested_ner.pipeline.saving import save_whole


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 1 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if not shutil.which("mount") or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("only root mounts file systems")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_file_that_does_not_fit_leaves_the_old_one(small_disk):
    write_whole(small_disk / "a.txt", "old")
    with pytest.raises(OSError, match="No space left") as caught:
        write_whole(small_disk / "a.txt", "x" * (2 << 20))
    assert caught.value.errno == errno.ENOSPC
    assert (small_disk / "a.txt").read_text() == "old"
    assert os.listdir(small_disk) == ["a.txt"]


def test_a_pipeline_that_does_not_fit_leaves_the_old_one(small_disk):
    nlp = trained(steps=1)
    save_whole(nlp).to_disk(small_disk / "model")
    before = tree(small_disk / "model")
    free = os.statvfs(small_disk)
    (small_disk / "rest").write_bytes(b"x" * (free.f_bavail * free.f_bsize - 100_000))
    with pytest.raises(OSError, match="No space left"):
        save_whole(trained(steps=2)).to_disk(small_disk / "model")
    assert tree(small_disk / "model") == before
    assert sorted(os.listdir(small_disk)) == ["model", "rest"]
