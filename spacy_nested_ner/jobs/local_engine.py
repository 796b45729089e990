"""Run a job on this machine: in this process, or in several that each take whole pieces."""

import multiprocessing
import os
import signal
import threading
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

from .engine import ATTEMPTS, ONE_THREAD, Raised, not_finished
from .job import Done, Job
from .pieces import Piece


def run(job: Job, pieces: Sequence[Piece], *, n_process: int = 1) -> Iterator[Done]:
    """Run a job.

    job (Job): What to do.
    pieces (Sequence[Piece]): The pieces that are not finished.
    n_process (int): How many processes work at the same time. One is this process itself.
    YIELDS (Done): One for each piece, as they are finished.
    """
    if n_process < 1:
        raise ValueError(f"n_process is {n_process}; expected 1 or more")
    if n_process > 1:
        yield from _Pool(job, pieces).run(min(n_process, len(pieces)))
    elif pieces:
        yield from map(job.worker(), pieces)


# What a process says first.
_LOADED = "loaded"


@dataclass(eq=False)
class _Member:
    """Another process, the piece that it is working on, and whether it has loaded the pipeline."""

    process: SpawnProcess
    connection: Connection
    piece: Piece | None = None
    loaded: bool = False


class _Pool:
    """Processes that each take one piece at a time. If one dies, another one takes its piece."""

    def __init__(self, job: Job, pieces: Sequence[Piece]):
        self.job = job
        self.waiting = deque(pieces)
        self.deaths: Counter[int] = Counter()
        self.deaths_while_loading = 0  # since the last process that has loaded the pipeline
        self.lost: list[Piece] = []
        self.members: list[_Member] = []

    def run(self, n_process: int) -> Iterator[Done]:
        try:
            for _ in range(n_process):
                self.members.append(_start(self.job))
            while self._hand_out():
                by_connection = {member.connection: member for member in self.members if member.piece is not None}
                for connection in wait(list(by_connection)):
                    done = self._receive(by_connection[connection])  # type: ignore[index]
                    if done is not None:
                        yield done
        finally:
            for member in self.members:
                member.process.kill()
            for member in self.members:
                member.process.join()
                member.connection.close()
        if self.lost:
            raise not_finished(self.lost)

    def _hand_out(self) -> bool:
        """Give every idle member a piece. False if there is nothing to wait for."""
        for member in self.members:
            if member.piece is None and self.waiting:
                member.piece = self.waiting.popleft()
                with suppress(OSError):  # it has died; that shows when it is waited for
                    member.connection.send(member.piece)
        return any(member.piece is not None for member in self.members)

    def _receive(self, member: _Member) -> Done | None:
        """What a member has to say about a piece; None if it has died, or loaded the pipeline."""
        try:
            answer = member.connection.recv()
        except (EOFError, OSError):
            self._replace(member)
            return None
        if isinstance(answer, Raised):
            raise answer.error()
        if answer == _LOADED:
            member.loaded, self.deaths_while_loading = True, 0
            return None
        member.piece = None
        return Done(*answer)

    def _replace(self, dead: _Member) -> None:
        dead.process.join()
        dead.connection.close()
        piece = dead.piece
        assert piece is not None
        if dead.loaded:
            self.deaths[piece.number] += 1
        else:
            self._count_death_while_loading()
        if self.deaths[piece.number] < ATTEMPTS:
            self.waiting.appendleft(piece)
        else:
            self.lost.append(piece)
        self.members.remove(dead)
        if self.waiting:
            self.members.append(_start(self.job))

    def _count_death_while_loading(self) -> None:
        """No piece is to blame: every one of them would meet the same end."""
        self.deaths_while_loading += 1
        if self.deaths_while_loading == ATTEMPTS:
            raise ValueError(
                f"processes died {ATTEMPTS} times while they loaded {self.job.model!r}. If memory is short, use fewer "
                "processes; in a script, start the work below `if __name__ == '__main__':`"
            )


def _start(job: Job) -> _Member:
    # Not forked: that copies threads and locks of libraries in the middle of what they do.
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(job, theirs), daemon=True)
    with _environment_of_members():
        process.start()
    theirs.close()  # so that there is an end of the file when the process dies
    return _Member(process, ours)


@contextmanager
def _environment_of_members() -> Iterator[None]:
    """One thread per process, and Ctrl-C for this process only, which then ends the others."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    in_main_thread = threading.current_thread() is threading.main_thread()
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN) if in_main_thread else None
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        if in_main_thread:
            signal.signal(signal.SIGINT, handler)


def _work(job: Job, connection: Connection) -> None:
    """What a process does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        worker = job.worker()
        connection.send(_LOADED)
        while True:
            connection.send(tuple(worker(connection.recv())))
    except Exception as error:
        connection.send(Raised.now(error))


def _end_with_parent() -> None:
    """Do not go on alone after the process that started this one was killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
