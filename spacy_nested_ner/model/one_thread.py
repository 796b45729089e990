"""Matrix products with NumPy's BLAS, on one thread.

Thinc multiplies with BLIS, on one thread. NumPy's BLAS (OpenBLAS in its wheels for Linux and Windows) is up to three
times faster, but divides every product between all cores. For the products of a text, that takes twice the CPU time and
saves no real time; where other processes are busy, it takes far longer. Processes are what scales.
"""

from itertools import product
from threading import Lock
from types import TracebackType
from typing import Any, NamedTuple

from threadpoolctl import ThreadpoolController


class OneThread:
    """A context in which BLAS uses one thread. Several threads may be in it at the same time: the number is that of
    before again when the last of them has left."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._libraries: list[_Library] | None = None
        self._before: list[int] = []

    def __enter__(self) -> None:
        with self._lock:
            if self._libraries is None:
                # Not when this module is imported: NumPy's BLAS must have been loaded.
                self._libraries = _find_libraries()
            if not self._inside:
                self._before = [library.get_number() for library in self._libraries]
                for library in self._libraries:
                    library.set_number(1)
            self._inside += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                for library, number in zip(self._libraries or (), self._before):
                    library.set_number(number)


class _Library(NamedTuple):
    """A BLAS, and its number of threads."""

    get_number: Any
    set_number: Any


def _find_libraries() -> list[_Library]:
    return [_of_library(found) for found in ThreadpoolController().select(user_api="blas").lib_controllers]


def _of_library(found: Any) -> _Library:
    # Newer versions of threadpoolctl let one thread only set the number of OpenBLAS: here it may be any.
    for prefix, suffix in product(("", "scipy_"), ("", "64_", "_64")):
        names = (f"{prefix}openblas_{verb}_num_threads{suffix}" for verb in ("get", "set"))
        functions = [getattr(found.dynlib, name, None) for name in names]
        if all(functions):
            return _Library(*functions)
    return _Library(found.get_num_threads, found.set_num_threads)


one_thread = OneThread()
