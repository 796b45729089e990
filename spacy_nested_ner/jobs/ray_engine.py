"""Run a job on a Ray cluster: Ray Data spreads the pieces over a pool of actors that load the pipeline once each.

- The driver puts the pieces into the cluster, so that Ray Data needs no tasks to read them: workers can have all CPUs.
- Ray restarts workers that die, on another node if need be, and repeats what they were doing without end. `_Attempts`
  sets an end.
- Ray Data takes up to 0.2 s to give a worker its next block. The first blocks have several pieces, the last ones have
  one, so that workers rarely wait, and end together.
- Errors in Python come back as results: Ray Data would wait forever for an actor that raises while it is restarted.
"""

import os
import pickle
import socket
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

from .engine import ATTEMPTS, ONE_THREAD, Raised, not_finished
from .job import Done, Job, Worker
from .pieces import Piece
from .ray_cluster import connected, import_ray, number_of_workers, without_output

T = TypeVar("T")

# It takes a millisecond to put a block into the cluster.
_MAX_BLOCKS = 10_000
# If a worker dies, Ray repeats its whole block.
_MAX_PIECES = 8


def run(
    job: Job,
    pieces: Sequence[Piece],
    *,
    address: str | None = None,
    workers: int | None = None,
    gpus_per_worker: float = 0,
) -> Iterator[Done]:
    """Run a job. If this process is connected to a Ray cluster already, that is used and left connected.

    job (Job): What to do.
    pieces (Sequence[Piece]): The pieces that are not finished.
    address (str | None): The cluster, such as `10.0.0.1:6379`, or `auto` for the one of this machine. None for the
        environment variable RAY_ADDRESS; without it, a cluster of this machine alone is started, and ends with the run.
    workers (int | None): How many processes; None for as many as the cluster has CPUs (or GPUs) for.
    gpus_per_worker (float): GPUs of each process, or a fraction to share one; 0 to use none.
    YIELDS (Done): One for each piece, as they are finished.
    """
    _check_settings(workers, gpus_per_worker)
    ray = import_ray()
    if not pieces:
        return
    address = address or os.environ.get("RAY_ADDRESS") or "local"
    missing = {piece.number: piece for piece in pieces}
    lost: list[Piece] = []
    with connected(ray, address, workers):
        workers = min(number_of_workers(ray, address, workers, gpus_per_worker), len(pieces))
        try:
            for result in without_output(_results(ray, job, pieces, workers=workers, gpus_per_worker=gpus_per_worker)):
                if isinstance(result, Raised):
                    raise result.error()
                piece = missing.pop(result.piece, None)
                if piece is None:  # what Ray repeats can be reported twice
                    continue
                if isinstance(result, _Died):
                    lost.append(piece)
                else:
                    yield result
        except ray.exceptions.RayError as error:
            reason = str(error).strip().splitlines()[-1]  # of a long story
            raise ValueError(
                f"the Ray cluster at {address!r} cannot go on: {reason}. Every node needs this package, and the same "
                "versions of Python and Ray; the log files of Ray say more"
            ) from error
    if missing:
        raise RuntimeError(f"Ray Data ended without {len(missing)} of {len(pieces)} pieces")
    if lost:
        raise not_finished(lost)


def _check_settings(workers: int | None, gpus_per_worker: float) -> None:
    if workers is not None and workers < 1:
        raise ValueError(f"workers is {workers}; expected 1 or more, or nothing to use the whole cluster")
    if gpus_per_worker < 0 or (gpus_per_worker > 1 and gpus_per_worker % 1):
        raise ValueError(
            f"gpus_per_worker is {gpus_per_worker}; expected a whole number or, to share a GPU, a fraction such as 0.5"
        )


def _results(
    ray: Any, job: Job, pieces: Sequence[Piece], *, workers: int, gpus_per_worker: float
) -> "Generator[Done | _Died | Raised, None, None]":
    """What the workers say about each piece, as soon as they say it."""
    from ray.data import ActorPoolStrategy
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    attempts = ray.remote(num_cpus=0, scheduling_strategy=here)(_Attempts).remote()
    blocks = [{"pieces": pickle.dumps(block)} for block in _blocks(pieces, workers)]
    dataset = ray.data.from_items(blocks, override_num_blocks=len(blocks))
    dataset.context.enable_progress_bars = False
    dataset.context.target_max_block_size = 1  # each result leaves its worker at once, not with those that follow
    if gpus_per_worker:
        job = replace(job, gpu_id=0)  # Ray shows each worker its own GPUs only
    dataset = dataset.flat_map(
        _Actor,
        fn_constructor_args=(job, attempts),
        # A second block in the queue of a worker would wait there while others have nothing left to do.
        compute=ActorPoolStrategy(size=workers, max_tasks_in_flight_per_actor=1),
        num_cpus=1,
        num_gpus=gpus_per_worker or None,
        # Ray itself limits the threads of OpenMP only, and only on nodes where they are not set.
        runtime_env={"env_vars": ONE_THREAD},
    )
    # Without prefetching: it would hold each result back until the next one comes.
    with closing(iter(dataset.iter_batches(batch_size=None, prefetch_batches=0))) as batches:
        for batch in batches:
            yield from map(pickle.loads, batch["result"])


def _blocks(pieces: Sequence[Piece], workers: int) -> Iterator[Sequence[Piece]]:
    """What a worker gets at a time."""
    at_least = -(-len(pieces) // _MAX_BLOCKS)
    at_most = max(at_least, _MAX_PIECES)
    while pieces:
        size = min(max(len(pieces) // (3 * workers), at_least), at_most)
        yield pieces[:size]
        pieces = pieces[size:]


class _Died(NamedTuple):
    """A piece is not finished, because the processes that worked on it died."""

    piece: int


class _Attempts:
    """Counts what workers began and did not finish. It is an actor on the node of the driver."""

    def __init__(self) -> None:
        self.begun: Counter[str] = Counter()

    def begin(self, key: str) -> bool:
        """False if there have been enough attempts."""
        self.begun[key] += 1
        return self.begun[key] <= ATTEMPTS

    def finish(self, key: str) -> None:
        del self.begun[key]


class _Actor:
    """What runs in each process of the pool.

    job (Job): What to do.
    attempts (Any): The `_Attempts`.
    """

    def __init__(self, job: Job, attempts: Any):
        import ray

        self.attempts = attempts
        self.host = socket.gethostname()
        advice = "if memory is short, use fewer workers per node"
        died = Raised(True, f"workers died {ATTEMPTS} times on {self.host} while they loaded {job.model!r}; {advice}")
        actor = str(ray.get_runtime_context().get_actor_id())  # the same after a restart
        self.worker: Worker | Raised = self._try(job.worker, key=actor, died=died)

    def __call__(self, row: dict[str, bytes]) -> Iterator[dict[str, bytes]]:
        """Take a block, given as a row, and answer with a row per piece."""
        for piece in pickle.loads(row["pieces"]):
            result: Done | _Died | Raised
            if isinstance(self.worker, Raised):
                result = self.worker
            else:
                result = self._try(partial(self.worker, piece), key=piece.name, died=_Died(piece.number))
            yield {"result": pickle.dumps(result)}

    def _try(self, step: Callable[[], T], *, key: str, died: Any) -> T | Any:
        """Take a step, unless earlier attempts have ended their processes."""
        import ray

        try:
            if not ray.get(self.attempts.begin.remote(key)):
                return died
            result = step()
        except Exception as error:
            raised = Raised.now(error)
            return raised._replace(text=f"{raised.text} (on {self.host})")
        self.attempts.finish.remote(key)
        return result
