"""The connection to a Ray cluster, without what Ray prints: commands show progress and errors themselves."""

import logging
import os
import socket
from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing, contextmanager, redirect_stdout
from importlib import import_module
from typing import Any, TypeVar

from .._warn import warn

T = TypeVar("T")

_START = "Start one with `ray start --head`, or leave the address out to use this machine alone"


def import_ray() -> Any:
    """Ray with Ray Data."""
    try:
        import_module("ray.data")
    except ImportError as error:
        raise ValueError(
            f"the engine ray needs Ray Data ({error}): pip install 'spacy-nested-ner[ray]', or use the engine local"
        ) from error
    return import_module("ray")


_QUIET = {
    # Ray warns about the way in which Ray Data makes actors.
    "RAY_BACKEND_LOG_LEVEL": "fatal",
    # It reports its use to its makers, for which Ray Data starts one more process.
    "RAY_USAGE_STATS_ENABLED": "0",
    # It starts workers that nothing asks for, while the others begin to work.
    "RAY_prestart_worker_first_driver": "0",
    "RAY_enable_worker_prestart": "0",
}


@contextmanager
def connected(ray: Any, address: str, workers: int | None) -> Iterator[None]:
    """Connect to a cluster, and leave it in the end: what runs there for this process ends, too. If this process is
    connected already, it remains so.

    ray (Any): The module.
    address (str): HOST:PORT; `auto` for the cluster of this machine; `local` to start one that ends with this.
    workers (int | None): CPUs of a cluster that is started; None for all that this machine has.
    """
    with _no_console(), _environment_defaults(**_QUIET):
        if ray.is_initialized():
            yield
            return
        _check_address(address)
        settings: dict[str, Any] = {"address": address, "log_to_driver": False, "logging_level": logging.ERROR}
        if address == "local":
            settings.update(num_cpus=workers, include_dashboard=False)
        try:
            with _no_standard_error():
                try:
                    ray.init(**settings)
                except (ConnectionError, RuntimeError, ValueError) as error:
                    raise ValueError(f"no connection to the Ray cluster at {address!r}: {error} {_START}") from error
            yield
        finally:
            with _no_standard_output():
                ray.shutdown()


def _check_address(address: str) -> None:
    """Ray itself tries for minutes to reach an address where nothing is."""
    if address in ("auto", "local"):
        return
    host, colon, port = address.rpartition(":")
    if not colon or "/" in host or not port.isdecimal():
        raise ValueError(
            f"the address is {address!r}; expected HOST:PORT or auto. Run the command on a machine of the cluster, or "
            "submit it with `ray job submit`"
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=30).close()
    except (OSError, OverflowError) as error:
        raise ValueError(f"no Ray cluster can be reached at {address!r}: {error}. {_START}") from error


def number_of_workers(ray: Any, address: str, workers: int | None, gpus_per_worker: float) -> int:
    """How many workers to start: what was asked for, or what the cluster has room for."""
    needs = {"CPU": 1, "GPU": gpus_per_worker} if gpus_per_worker else {"CPU": 1}
    resources = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    room = sum(min(int(each.get(kind, 0) / share) for kind, share in needs.items()) for each in resources)
    if room == 0 and (workers is None or address == "local"):
        each = " and ".join(f"{share:g} {kind}" for kind, share in needs.items())
        raise ValueError(
            f"the Ray cluster at {address!r} has no node with {each} for a worker; add one or, if the cluster grows on "
            "demand, say how many workers to start"
        )
    if workers is not None and workers > room:
        warn(f"The Ray cluster has room for {room} of {workers} workers: the others start when there are more nodes")
    return workers or room


def without_output(results: Generator[T, None, None]) -> Iterator[T]:
    """The same results. Ray prints the deaths of workers to standard output, which is for the output of commands."""
    with closing(results):
        while True:
            with _no_standard_output():
                result = next(results, None)
            if result is None:
                return
            yield result


@contextmanager
def _no_console() -> Iterator[None]:
    """Ray Data writes to its log files only."""
    with ExitStack() as stack:
        for handler in logging.getLogger("ray.data").handlers:
            if isinstance(handler, logging.StreamHandler):
                stack.callback(handler.setLevel, handler.level)
                handler.setLevel(logging.CRITICAL)
        yield


@contextmanager
def _no_standard_output() -> Iterator[None]:
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
        yield


@contextmanager
def _no_standard_error() -> Iterator[None]:
    """What libraries in C++ print is not seen, either."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


@contextmanager
def _environment_defaults(**values: str) -> Iterator[None]:
    """Set variables that are not set, for as long as this lasts."""
    added = {name: value for name, value in values.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]
