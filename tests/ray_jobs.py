"""Jobs for tests of the Ray engine. Its workers import this module."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from spacy_nested_ner.jobs.job import Done, Job, Worker
from spacy_nested_ner.jobs.pieces import Part, Piece

SECONDS = 0.3


@dataclass(frozen=True)
class SlowJob(Job):
    """A job that takes long enough to disturb it. Each worker leaves a file that is named after its process."""

    def worker(self) -> "SlowWorker":
        return SlowWorker(self)


class SlowWorker(Worker):
    def __init__(self, job: Job):
        super().__init__(job)
        _leave_name(job.output)

    def __call__(self, piece: Piece) -> Done:
        time.sleep(SECONDS)
        return super().__call__(piece)


@dataclass(frozen=True)
class FakeJob:
    """A job without a pipeline, which is faster. Its workers leave a file for each piece, too.

    output (str): Folder for the files.
    seconds (float): How long a piece takes.
    fails (str): What goes wrong: "loading", "dying while loading", "piece 2", "dying in piece 2", or nothing.
    """

    output: str
    seconds: float = 0.05
    fails: str = ""
    model: str = "fake"
    gpu_id: int = -1

    def worker(self) -> "FakeWorker":
        return FakeWorker(self)


class FakeWorker:
    def __init__(self, job: FakeJob):
        if job.fails == "loading":
            raise ValueError("no such pipeline")
        if job.fails == "dying while loading":
            os.kill(os.getpid(), signal.SIGKILL)
        self.job = job
        _leave_name(job.output)

    def __call__(self, piece: Piece) -> Done:
        time.sleep(self.job.seconds)
        if self.job.fails == f"piece {piece.number}":
            raise OSError("no space left on device")
        if self.job.fails == f"dying in piece {piece.number}":
            os.kill(os.getpid(), signal.SIGKILL)
        Path(self.job.output, piece.name).write_text(str(os.getpid()))
        return Done(piece.number, 1, 10, self.job.gpu_id, 0, self.job.seconds)


def fake_pieces(number: int) -> list[Piece]:
    return [Piece(n, (Part(f"/{n}.txt", f"{n}.txt", "text", 10),)) for n in range(number)]


def processes(output: Path) -> list[int]:
    """Those of all workers that have loaded their pipeline, the latest one last."""
    files = sorted(output.glob("worker-*"), key=lambda path: path.stat().st_mtime)
    return [int(path.name.removeprefix("worker-")) for path in files]


def _leave_name(output: str) -> None:
    environment = "\n".join(f"{name}={value}" for name, value in os.environ.items())
    Path(output, f"worker-{os.getpid()}").write_text(environment)
