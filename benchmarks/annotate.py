"""How fast `annotate` is on this machine: one and two processes of the local engine, one and two workers of Ray.

    python benchmarks/annotate.py [--model PIPELINE] [--documents 30000] [--rounds 2] [--output FOLDER]

The collection is made of sentences of the sample corpus in random order, 12 per document, with random numbers among
them, as JSONL. Words per second of real time are measured from the moment when the first worker begins its first piece;
until then, Ray and processes are started and the pipeline is loaded, which is the second column. Every round starts a
fresh process for each engine, in turn; the best round counts. Writes annotate.json and annotate.txt.
"""

import argparse
import json
import os
import random
import re
import tempfile
import time
from pathlib import Path
from typing import Any

from _measure import (
    RESULTS,
    ROOT,
    answer_task,
    describe,
    load_average,
    machine,
    progress,
    run_task,
    table,
    verdict,
    write,
)

ENGINES = {
    "local, 1 process": ("local", 1),
    "local, 2 processes": ("local", 2),
    "ray, 1 worker": ("ray", 1),
    "ray, 2 workers": ("ray", 2),
}
# Two workers are at least so many times as fast as one.
GOAL = 1.7
# Small enough for several pieces per worker.
_SHARD_SIZE = 400_000


def write_collection(path: Path, documents: int) -> None:
    """Texts that differ, so that nothing can be remembered."""
    lines = (ROOT / "assets" / "sample" / "train.txt").read_text(encoding="utf-8").splitlines()
    sentences = [re.sub(r"\[[A-Z]+ |\]", "", line) for line in lines if line and not line.startswith("#")]
    generator = random.Random(0)
    with path.open("w", encoding="utf-8") as file:
        for number in range(documents):
            chosen = [f"{sentence} {generator.randrange(10**6)}" for sentence in generator.choices(sentences, k=12)]
            file.write(json.dumps({"id": number, "text": " ".join(chosen)}, ensure_ascii=False) + "\n")


def measure(engine: str, workers: int, model: str, collection: str) -> dict[str, float]:
    """One run, in this process."""
    from functools import partial

    from spacy_nested_ner.jobs import local_engine, ray_engine
    from spacy_nested_ner.jobs.collection import annotate
    from spacy_nested_ner.jobs.job import Done, Job

    run: Any = (
        partial(local_engine.run, n_process=workers) if engine == "local" else partial(ray_engine.run, workers=workers)
    )
    started = time.perf_counter()
    results: list[tuple[float, Done]] = []

    def timed(job: Job, pieces: Any) -> Any:
        for done in run(job, pieces):
            results.append((time.perf_counter(), done))
            yield done

    with tempfile.TemporaryDirectory() as folder:
        annotate(Job(model, str(Path(folder, "output"))), [collection], engine=timed, shard_size=_SHARD_SIZE)
    first, done = results[0]
    begun = first - done.seconds
    return {
        "words_per_second": sum(each.words for _, each in results) / (results[-1][0] - begun),
        "start_seconds": begun - started,
        "words": sum(each.words for _, each in results),
    }


def measure_engines(model: str, documents: int, rounds: int) -> dict[str, dict[str, float]]:
    """The best round of every engine."""
    best: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        collection = Path(folder, "collection.jsonl")
        write_collection(collection, documents)
        for number in range(rounds):
            for name, (engine, workers) in ENGINES.items():
                progress(f"round {number + 1} of {rounds}: {name}")
                task = {"engine": engine, "workers": workers, "model": model, "collection": str(collection)}
                result = run_task(__file__, ("measure", task))
                if result["words_per_second"] > best.get(name, {}).get("words_per_second", 0):
                    best[name] = result
    return best


def main() -> None:
    if answer_task({"measure": measure}):
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="sample", help="a trained pipeline")
    parser.add_argument("--documents", type=int, default=30_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--output", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    model = os.path.abspath(arguments.model) if os.path.exists(arguments.model) else arguments.model
    load = {"before": load_average()}
    best = measure_engines(model, arguments.documents, arguments.rounds)
    load["after"] = load_average()
    rows = []
    for name, numbers in best.items():
        one = best[f"{ENGINES[name][0]}, 1 {'process' if name.startswith('local') else 'worker'}"]
        times = numbers["words_per_second"] / one["words_per_second"]
        goal = verdict(times, at_least=GOAL) if ENGINES[name][1] == 2 else ""
        speed = f"{numbers['words_per_second']:,.0f}"
        rows.append([name, speed, f"{times:.2f}", goal, f"{numbers['start_seconds']:.1f}"])
    words = next(iter(best.values()))["words"]
    text = "\n".join(
        [
            table(["engine", "words/s", "times one", "goal", "start, s"], rows),
            "",
            f"{arguments.documents:,} documents, {words:,} words; model {arguments.model}; best of {arguments.rounds}.",
            describe(load),
        ]
    )
    record = {"machine": machine(), "load": load, "documents": arguments.documents, "engines": best}
    write(arguments.output, "annotate", record, text)
    print(text)


if __name__ == "__main__":
    main()
