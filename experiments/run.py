"""Work through the plan, several runs at a time. Finished runs are not repeated.

    python experiments/run.py [--group main …] [--name spancat …] [--corpus genia …] [--seed 0 …] [--jobs 2]

Each run is a process of its own on one thread, and saves its result when it is complete: stop this at any time, and
start it again to continue with the runs that are missing.
"""

import argparse
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from plan import ROOT, Run, read_plan
from results import collect, load


def _has_avx512() -> bool:
    processor = Path("/proc/cpuinfo")
    return processor.exists() and " avx512f " in processor.read_text(encoding="utf-8")


CHOICES = ("group", "name", "corpus", "seed")
# One thread per run, and no model from the network. The process keeps freed memory (glibc): returning it after every
# update and requesting it again can take half of the time. trial.py returns it every 50 updates.
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "HF_HUB_OFFLINE": "1",
    "MALLOC_MMAP_THRESHOLD_": str(2**32 - 1),
    "MALLOC_TRIM_THRESHOLD_": str(2**32 - 1),
    "MALLOC_TOP_PAD_": str(2**26),
    "MALLOC_ARENA_MAX": "1",
    # OpenBLAS does not know the newest processors, and takes kernels that are half as fast as those for AVX-512.
    **({"OPENBLAS_CORETYPE": "SkylakeX"} if _has_avx512() else {}),
}


def work(run: Run, number: int, total: int) -> bool:
    """Do one run and show its progress line by line. False if it failed."""
    if is_done(run):  # by another process, in the meantime
        return True
    started = time.perf_counter()
    title = f"[{number}/{total}] {run.title}"
    print(f"{title}: started", flush=True)
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).parent / "trial.py"), run.group, run.name, run.corpus, str(run.seed)],
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
    if process.wait() or not is_done(run):
        print(f"{title}: failed\n{''.join(lines[-30:])}", flush=True)
        return False
    print(f"{title}: done in {(time.perf_counter() - started) / 60:.0f} min", flush=True)
    return True


def is_done(run: Run) -> bool:
    return run.key in load(run.group)


def check_corpora(runs: list[Run]) -> None:
    for run in runs:
        for part in (run.train, "dev.spacy", "test.spacy"):
            if not (run.folder / part).exists():
                sys.exit(
                    f"{run.folder / part} is missing: convert the corpus {run.corpus!r} first, see docs/experiments.md"
                )


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Work through the plan of experiments.")
    for name in ("group", "name", "corpus"):
        parser.add_argument(f"--{name}", nargs="+", help=f"only these, by {name}")
    parser.add_argument("--seed", nargs="+", type=int, help="only these seeds")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at a time")
    parser.add_argument("--list", action="store_true", help="only list what is done and what is missing")
    return parser.parse_args()


def main() -> None:
    wanted = parse()
    runs = [
        run
        for run in read_plan()
        if all(not getattr(wanted, name) or getattr(run, name) in getattr(wanted, name) for name in CHOICES)
    ]
    if not runs:
        sys.exit("experiments/plan.yml has no run of this group, name, corpus and seed")
    missing = [run for run in runs if not is_done(run)]
    print(f"{len(runs)} runs, {len(runs) - len(missing)} of them already done")
    if wanted.list:
        for run in runs:
            print(f"{'missing' if run in missing else 'done   '} {run.title}")
        return
    check_corpora(missing)
    try:
        with ThreadPoolExecutor(max(1, wanted.jobs)) as pool:
            numbers = range(1, len(missing) + 1)
            finished = list(pool.map(work, missing, numbers, [len(missing)] * len(missing)))
    finally:
        for group in {run.group for run in runs}:
            collect(group)
    if not all(finished):
        sys.exit(f"{finished.count(False)} of {len(finished)} runs failed; start this again to repeat them")


if __name__ == "__main__":
    main()
