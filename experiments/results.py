"""Where results are kept: one file per group, one line per run.

A finished run is saved in a file of its own under experiments/runs, which git ignores, so that several processes can
work at the same time. `collect` merges these files into experiments/results/<group>.json. A run is done if it is in
either place; to repeat it, delete it from both.
"""

import json
import os
import re
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results"
RUNS = FOLDER / "runs"

Result = dict[str, Any]


def load(group: str) -> dict[str, Result]:
    """The results of a group by key. What was saved counts for more than what was merged: it is newer."""
    path = RESULTS / f"{group}.json"
    results = _read(path) if path.exists() else {}
    for saved in _saved(group):
        results |= _read(saved)
    return results


def save(group: str, key: str, result: Result) -> None:
    """Save the result of one run, rounded to five significant digits."""
    _write(RUNS / group / f"{file_name(key)}.json", {key: _rounded(result)})


def collect(group: str) -> None:
    """Merge what was saved into the file of the group. The saved files stay: if two processes merge at the same time
    and one overwrites the other, nothing is lost."""
    if _saved(group):
        _write(RESULTS / f"{group}.json", load(group))


def file_name(key: str) -> str:
    return re.sub(r"[^\w.-]+", "_", key.replace("/", "-"))


def _saved(group: str) -> list[Path]:
    return sorted((RUNS / group).glob("*.json"))


def _read(path: Path) -> dict[str, Result]:
    return json.loads(path.read_text(encoding="utf-8"))


def _write(path: Path, results: dict[str, Result]) -> None:
    """Replace the file as a whole, so that nobody reads half of it."""
    lines = [f"{json.dumps(key)}: {json.dumps(results[key], separators=(',', ':'))}" for key in sorted(results)]
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}.tmp")
    unfinished.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    os.replace(unfinished, path)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(each) for each in value]
    return value
