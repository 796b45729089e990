"""Files and folders that are written as a whole or not at all.

What is being written lies in a hidden folder next to where it belongs, and is moved there in the end, in one step. If
the process is killed, the hidden folder stays. Readers leave hidden files out, and whoever writes to the same place
next removes it: a lock, which ends with the process, shows that nobody needs it anymore.
"""

import ctypes
import errno
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: what a killed process left is ignored, but not removed
    fcntl = None  # type: ignore[assignment]

UNFINISHED = ".writing-"
"""How the names of files and folders begin that are being written."""

# Inside such a folder: what is written, and what it is about to replace.
_NEW, _OLD = "new", "old"
_AT_CURRENT_FOLDER, _EXCHANGE = -100, 2  # of Linux; macOS has the same number for its own
_KINDS = {
    stat.S_IFIFO: "pipe",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "device",
    stat.S_IFBLK: "device",
}


@contextmanager
def whole_files(folder: Path) -> Iterator[Path]:
    """An empty folder. In the end, what is in it is moved to `folder`, unless there was an error."""
    with _stage(folder) as stage:
        yield stage / _NEW
        for made in sorted((stage / _NEW).iterdir()):
            target = (folder / made.name).resolve()
            if made.is_dir():
                _put_folder(made, target, stage)
            else:
                _put_file(made, target)


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """An empty folder that replaces `folder` in the end. After an error, `folder` is as it was."""
    folder = folder.resolve()
    with _stage(folder.parent) as stage:
        new = stage / _NEW / folder.name
        new.mkdir()
        yield new
        _put_folder(new, folder, stage)


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file, and its folder if there is none. What is there and no file, such as /dev/stdout, is written to.

    content (str | bytes): Text is written in UTF-8.
    """
    content = content.encode("utf-8") if isinstance(content, str) else content
    if path.exists() and not path.is_file() and not path.is_dir():
        path.write_bytes(content)
        return
    check_file(path)
    with whole_files(path.parent) as stage:
        (stage / path.name).write_bytes(content)


def check_file(path: Path) -> None:
    """Raise an error if there is something at a path that a file must not replace. Links are followed."""
    _check_kind(path)
    real = path.resolve()
    if real.is_dir():
        raise ValueError(f"{path} is a folder; name the file to write")
    if path.is_symlink() and not real.parent.is_dir():
        raise ValueError(f"there is no folder {real.parent}, to which the link {path} leads; make it, or name a file")


def check_folder(path: Path) -> None:
    """Raise an error if there is something at a path that a folder must not replace. Links are followed."""
    if path.is_file():
        raise ValueError(f"{path} is a file; name a new folder, or an empty one")
    _check_kind(path)


def _check_kind(path: Path) -> None:
    real = Path(os.path.realpath(path))  # unlike Path.resolve, the same for all versions of Python
    if real.is_symlink():
        raise ValueError(f"{path} is a link that leads back to itself; remove it, or name another place")
    if real.exists() and not real.is_file() and not real.is_dir():
        kind = _KINDS.get(stat.S_IFMT(real.stat().st_mode), "special file")
        raise ValueError(f"{path} is a {kind}; it is left as it is: name a file or folder to write")


def remove_unfinished(folder: Path) -> None:
    """Remove what processes were writing to a folder when they were killed, and put back what they were replacing."""
    for left in sorted(folder.glob(f"{UNFINISHED}*")):
        with _lock(left, wait=False) as is_ours:
            if not is_ours:
                continue
            if left.is_dir():
                _put_back(left)
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)


@contextmanager
def _stage(folder: Path) -> Iterator[Path]:
    """A locked hidden folder for what is written to `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    remove_unfinished(folder)
    while True:
        stage = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=folder))  # here, so that moving is just renaming
        with _lock(stage, wait=True):
            if not stage.exists():  # another process was faster, and took it for a leftover
                continue
            try:
                (stage / _NEW).mkdir()
                yield stage
            finally:
                _put_back(stage)
                shutil.rmtree(stage, ignore_errors=True)
            return


@contextmanager
def _lock(path: Path, *, wait: bool) -> Iterator[bool]:
    """Whether this process has the lock of a file or folder meanwhile."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:  # it is gone, or not ours
        yield False
        return
    try:
        yield _take(descriptor, wait=wait)
    finally:
        os.close(descriptor)


def _take(descriptor: int, *, wait: bool) -> bool:
    if fcntl is None:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:  # another process has it, or the file system has no locks
        return False
    return True


def _put_file(new: Path, target: Path) -> None:
    """Move a file to where it belongs, with the mode of the one that was there."""
    check_file(target)
    if target.exists():
        shutil.copymode(target, new)
    with new.open("rb") as file:
        os.fsync(file.fileno())
    try:
        os.replace(new, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        with whole_files(target.parent) as nearer:
            shutil.copy(new, nearer / target.name)


def _put_folder(new: Path, target: Path, stage: Path) -> None:
    """Move a folder to where it belongs, with the mode of the one that was there."""
    check_folder(target)
    if target.exists():
        if new.exists():
            shutil.copymode(target, new)
        if _exchange(new, target):
            return
        # If the process is killed between these two steps, the next one puts the old folder back.
        (stage / _OLD).mkdir()
        os.replace(target, stage / _OLD / target.name)
    os.replace(new, target)


def _put_back(stage: Path) -> None:
    """Put back what was to be replaced, if nothing has taken its place."""
    old = stage / _OLD
    for path in sorted(old.iterdir()) if old.is_dir() else ():
        if not (stage.parent / path.name).exists():
            os.replace(path, stage.parent / path.name)


def _exchange(one: Path, other: Path) -> bool:
    """Let two folders change places in one step. False if the system cannot, or there is no such folder."""
    names = os.fsencode(one), os.fsencode(other)
    try:
        library = ctypes.CDLL(None)
        if sys.platform == "linux":
            failed = library.renameat2(_AT_CURRENT_FOLDER, names[0], _AT_CURRENT_FOLDER, names[1], _EXCHANGE)
        elif sys.platform == "darwin":
            failed = library.renamex_np(*names, _EXCHANGE)
        else:
            return False
    except (AttributeError, OSError, TypeError):  # an older system
        return False
    return bool(failed == 0)
