"""What the benchmarks share: fresh processes, the machine and its load, goals, and tables."""

import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
RESULTS = Path(__file__).parent / "results"
_PACKAGES = ("numpy", "spacy", "thinc", "blis", "torch", "spacy-nested-ner")
# Rows of long_document.json with the time of nested_ner by itself begin so, and end with the span limit.
ALONE = "nested_ner alone, spans of up to"
# OMP for BLIS and PyTorch, the others for what NumPy may be built with.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def progress(text: str) -> None:
    print(f"  … {text}", file=sys.stderr, flush=True)


def run_task(script: str, task: Any, *, threads: int | None = 1) -> Any:
    """Start a script again in a fresh process, with `--task` and a task as JSON; `answer_task` is its counterpart.

    threads (int | None): How many threads matrix products may use; None leaves it to the libraries.
    RETURNS (Any): What the task returned. Ends the program with the error output if the task failed.
    """
    environment = {name: value for name, value in os.environ.items() if name not in _THREADS}
    environment |= {"HF_HUB_OFFLINE": "1", **({name: str(threads) for name in _THREADS} if threads else {})}
    run = subprocess.run(
        [sys.executable, script, "--task", json.dumps(task)], env=environment, capture_output=True, text=True
    )
    if run.returncode:
        sys.exit(f"{run.stderr}\n{Path(script).name} failed with the task {task}")
    return json.loads(run.stdout.splitlines()[-1])


def answer_task(tasks: Mapping[str, Callable[..., Any]]) -> bool:
    """If this process was started for a task, run it: the name of a function, and its arguments.

    RETURNS (bool): Whether it was.
    """
    if sys.argv[1:2] != ["--task"]:
        return False
    name, arguments = json.loads(sys.argv[2])
    print(json.dumps(tasks[name](**arguments)))
    return True


def clock(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def best_of(functions: dict[str, Callable[[], object]], rounds: int, repeats: dict[str, int]) -> dict[str, float]:
    """Seconds of every function: the best of `rounds`, in each of which all take their turn."""
    best = dict.fromkeys(functions, float("inf"))
    for _ in range(rounds):
        for name, function in functions.items():
            for _ in range(repeats.get(name, 1)):
                best[name] = min(best[name], clock(function))
    return best


def machine() -> dict[str, Any]:
    """Where a benchmark ran: processor, cores, system, and versions of what matters."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "blas": blas_name(),
        **{name: version for name in _PACKAGES if (version := _version(name))},
    }


def describe(load: Mapping[str, Sequence[float]]) -> str:
    """The machine, and its load before and after, in two lines."""
    here = machine()
    versions = ", ".join(f"{name} {here[name]}" for name in ("python", *_PACKAGES) if name in here)
    loads = "; ".join(f"{when} {' '.join(f'{value:.2f}' for value in values)}" for when, values in load.items())
    return (
        f"{here['processor']}, {here['cores']} cores, {here['system']}; {versions}; "
        f"NumPy multiplies with {here['blas']}.\n"
        f"Load average over 1, 5 and 15 minutes: {loads}."
    )


def load_average() -> list[float]:
    return list(os.getloadavg()) if hasattr(os, "getloadavg") else []


def blas_name() -> str:
    """The BLAS that NumPy is built with."""
    import numpy

    blas = numpy.show_config(mode="dicts")["Build Dependencies"]["blas"]  # type: ignore[index, call-overload]
    name = str(blas.get("name", "unknown"))
    return "OpenBLAS" if "openblas" in name else name


def verdict(value: float, *, at_least: float | None = None, at_most: float | None = None) -> str:
    """A goal, and whether it is reached; empty if there is none."""
    if at_least is not None:
        return f"≥ {at_least:g} {'reached' if value >= at_least else 'MISSED'}"
    if at_most is not None:
        return f"≤ {at_most:g} {'reached' if value <= at_most else 'MISSED'}"
    return ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table that is also readable as it is: the first column left, the others right."""
    lines = [list(head), *map(list, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    padded = [
        [line[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:]))] for line in lines
    ]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join(f"| {' | '.join(line)} |" for line in [padded[0], rule, *padded[1:]])


def write(folder: Path, name: str, record: dict[str, Any], text: str) -> None:
    """Keep a result as `name`.json and `name`.txt."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (folder / f"{name}.txt").write_text(text + "\n", encoding="utf-8")


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
