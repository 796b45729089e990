"""Annotate a collection: plan the pieces, let an engine run those that are not finished, and count."""

import shutil
import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from . import local_engine
from .job import Done, Job, shard_path
from .manifest import begin, clean, make_manifest
from .parquet import pyarrow
from .pieces import InputFile, Piece, find_input, plan
from .progress import Progress, Summary
from .shards import SHARDS
from .storage import StoredFile, absolute, is_folder, is_inside, is_remote

# Runs a job on pieces, and gives what has become of each as it is finished.
Engine = Callable[[Job, Sequence[Piece]], Iterator[Done]]

STANDARD_INPUT = "-"
# Bytes of the input per shard. Large shards suit what reads them, small ones lose less work when a run is stopped.
SHARD_SIZE = 4_000_000
_SPOOLED = ".input-"


def annotate(
    job: Job,
    inputs: Sequence[str],
    *,
    engine: Engine = local_engine.run,
    shard_size: int = SHARD_SIZE,
    overwrite: bool = False,
    standard_input: BinaryIO | None = None,
    progress: bool = False,
) -> Summary:
    """Annotate a collection of documents. To do so again goes on where an earlier run was stopped.

    job (Job): The pipeline, the folder for the output, and the settings.
    inputs (Sequence[str]): Files, folders and patterns: JSONL, Parquet, `.spacy` and text; "-" for standard input.
    engine (Callable): What runs the job: `local_engine.run`, `ray_engine.run`, or one of them with its settings.
    shard_size (int): Bytes of the input per shard, about.
    overwrite (bool): Begin anew, and remove the files of an earlier run.
    standard_input (BinaryIO | None): What "-" is.
    progress (bool): Show on standard error how far it is.
    RETURNS (Summary): What was done.
    """
    # Workers may have another current folder.
    job = replace(job, model=absolute(job.model) if is_folder(job.model) else job.model, output=absolute(job.output))
    _check(job, inputs, shard_size)
    with ExitStack() as stack:
        found = find_input([each for each in inputs if each != STANDARD_INPUT])
        # A pattern can match what an earlier run has written.
        files = [file for file in found if not is_inside(file.stored.path, job.output)]
        if STANDARD_INPUT in inputs:
            files.append(stack.enter_context(_spooled(standard_input, job.output)))
        pieces = plan(files, shard_size)
        finished = begin(job.output, make_manifest(job, files, pieces, shard_size), overwrite=overwrite)
        stack.callback(clean, job.output)
        rest = [piece for piece in pieces if Path(shard_path("", piece, job.to)).name not in finished]
        sizes = {piece.number: piece.size for piece in pieces}
        counting = Progress(
            shards=len(pieces),
            kept_shards=len(pieces) - len(rest),
            size=sum(sizes.values()),
            kept_size=sum(sizes.values()) - sum(piece.size for piece in rest),
            shown=progress,
        )
        results = engine(job, rest)
        if isinstance(results, Generator):
            stack.callback(results.close)  # ends other processes before what they left is removed
        with counting:
            for done in results:
                counting.add(done, sizes[done.piece])
        return counting.summary()


def _check(job: Job, inputs: Sequence[str], shard_size: int) -> None:
    """What is wrong shows before any work."""
    if job.to not in SHARDS:
        raise ValueError(f"to is {job.to!r}; expected {' or '.join(SHARDS)}")
    if job.to == "parquet":
        pyarrow()
    if shard_size < 1 or job.batch_words < 1:
        raise ValueError(f"shard_size is {shard_size}, batch_words is {job.batch_words}; expected 1 or more")
    if job.max_bytes < 1:
        raise ValueError(f"max_bytes is {job.max_bytes}; expected 1 or more bytes")
    if not inputs:
        raise ValueError("there is no input; name files, folders or patterns, or - for standard input")
    for each in inputs:
        if each != STANDARD_INPUT and is_folder(absolute(each)) and is_inside(job.output, absolute(each)):
            raise ValueError(f"the output, {job.output}, is inside the input, {each}; name a folder outside of it")


@contextmanager
def _spooled(standard_input: BinaryIO | None, output: str) -> Iterator[InputFile]:
    """Standard input as a file, so that it can be divided and compared with that of an earlier run."""
    if standard_input is None:
        raise ValueError("the input is -, but there is no standard input")
    if not is_remote(output):
        Path(output).mkdir(parents=True, exist_ok=True)
        for left in Path(output).glob(f"{_SPOOLED}*"):  # after a process was killed
            shutil.rmtree(left)
    with tempfile.TemporaryDirectory(prefix=_SPOOLED, dir=None if is_remote(output) else output) as folder:
        path, digest = Path(folder, "stdin.jsonl"), sha256()
        with path.open("wb") as file:
            while block := standard_input.read(2**20):
                digest.update(block)
                file.write(block)
        yield InputFile("stdin", StoredFile(str(path), path.stat().st_size, digest.hexdigest()))
