"""Works through the plan, as many runs at a time as asked for. What is done already is not done again.

    python experiments/run.py [--group main …] [--name spancat …] [--corpus genia …] [--seed 0 …] [--jobs 2]

Every run is a process of its own on one thread. Its result is written when it is complete: stop this
at any time, and start it again to go on with the runs that are missing.
"""

import argparse
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from plan import ROOT, Run, read_plan

# One thread a run, and no model from the network. Memory of arrays that are no longer needed stays with the process
# (glibc): giving it back after every update and taking it again can be half of the time. trial.py does it every
# 50 updates.
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "HF_HUB_OFFLINE": "1",
    "MALLOC_MMAP_THRESHOLD_": str(2**32 - 1),
    "MALLOC_TRIM_THRESHOLD_": str(2**32 - 1),
    "MALLOC_TOP_PAD_": str(2**26),
    "MALLOC_ARENA_MAX": "1",
}


def work(run: Run, number: int, total: int) -> bool:
    """One run, its progress shown line by line."""
    if run.result.exists():
        return True
    started = time.perf_counter()
    title = f"[{number}/{total}] {run.title}"
    print(f"{title}: started", flush=True)
    arguments = [run.group, run.name, run.corpus, str(run.seed)]
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).parent / "trial.py"), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | ENVIRONMENT,
        cwd=ROOT,
    )
    lines = []
    for line in process.stdout or ():
        lines.append(line)
        if " updates " in line:
            print(f"{title}: {line.rstrip()}", flush=True)
    if process.wait() or not run.result.exists():
        print(f"{title}: failed\n{''.join(lines[-30:])}", flush=True)
        return False
    print(
        f"{title}: done in {(time.perf_counter() - started) / 60:.0f} min, {run.result.relative_to(ROOT)}", flush=True
    )
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description="Work through the plan of experiments.")
    for name in ("group", "name", "corpus"):
        parser.add_argument(f"--{name}", nargs="+", help=f"only these, by {name}")
    parser.add_argument("--seed", nargs="+", type=int, help="only these seeds")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at a time")
    parser.add_argument("--list", action="store_true", help="only say what is done and what is missing")
    wanted = parser.parse_args()
    runs = [
        run
        for run in read_plan()
        if all(not getattr(wanted, name) or getattr(run, name) in getattr(wanted, name) for name in _CHOICES)
    ]
    if not runs:
        sys.exit("no run of experiments/plan.yml is of this group, name, corpus and seed")
    missing = [run for run in runs if not run.result.exists()]
    print(f"{len(runs)} runs, {len(runs) - len(missing)} of them done already")
    if wanted.list:
        for run in runs:
            print(f"{'done   ' if run.result.exists() else 'missing'} {run.title}")
        return
    for run in missing:
        for part in (run.train, "dev.spacy", "test.spacy"):
            if not (run.folder / part).exists():
                sys.exit(
                    f"{run.folder / part} is missing: convert the corpus {run.corpus!r} first, see docs/experiments.md"
                )
    with ThreadPoolExecutor(max(1, wanted.jobs)) as pool:
        numbers = range(1, len(missing) + 1)
        finished = list(pool.map(work, missing, numbers, [len(missing)] * len(missing)))
    if not all(finished):
        sys.exit(f"{finished.count(False)} of {len(finished)} runs failed; start this again to repeat them")


_CHOICES = ("group", "name", "corpus", "seed")


if __name__ == "__main__":
    main()
