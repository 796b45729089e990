"""What is best for many texts on several cores: processes, threads of matrix products, or neither.

    python benchmarks/processes.py                     # with the pipeline that comes with the package
    python benchmarks/processes.py PIPELINE TEXTS.spacy

Words per second of real time, as this is about waiting, and CPU time per word, which a busy machine changes less: with
`nlp.pipe(texts, n_process=…)`, with BLIS and with NumPy's BLAS on one thread and on all cores, for many short texts and
for long ones. Every round starts a fresh process for each setting in turn; the best round counts. Starting the
processes is part of the time, as it is for a user; loading the pipeline is not. Writes processes.json and
processes.txt.
"""

import argparse
import os
import time
from itertools import product
from pathlib import Path
from typing import Any

from _measure import (
    RESULTS,
    ROOT,
    answer_task,
    blas_name,
    describe,
    load_average,
    machine,
    progress,
    run_task,
    table,
    write,
)

SETTINGS = [("blis", 1), ("numpy", 1), ("numpy", None)]
# Words per text, and texts per batch.
SHAPES = {"short texts": (20, 256), "long texts": (2_000, 8)}


def pipe(pipeline: str, texts: str, blas: str, processes: int, shape: str, words: int) -> dict[str, float]:
    """Words per second of `nlp.pipe`, and CPU seconds per word."""
    import spacy
    from spacy.tokens import DocBin

    from spacy_nested_ner.pipeline.blas import use_numpy_blas

    nlp = spacy.load(pipeline, config={"nlp": {"after_pipeline_creation": None}})
    if blas == "numpy":
        use_numpy_blas(nlp)
    length, batch = SHAPES[shape]
    tokens = [token.text for doc in DocBin().from_disk(texts).get_docs(nlp.vocab) for token in doc]
    tokens *= words // len(tokens) + 1
    strings = [" ".join(tokens[start : start + length]) for start in range(0, words, length)]
    nlp(strings[0])
    start, cpu = time.perf_counter(), _cpu_seconds()
    count = sum(len(doc) for doc in nlp.pipe(strings, n_process=processes, batch_size=batch))
    seconds = time.perf_counter() - start
    return {"words per second": count / seconds, "cpu per word": (_cpu_seconds() - cpu) / count}


def _cpu_seconds() -> float:
    """Of this process and its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def measure(
    pipeline: Path, texts: Path, *, rounds: int, words: int, processes: int, fresh: bool
) -> list[dict[str, Any]]:
    """The best round of every setting.

    fresh (bool): Start a process for each. Otherwise only for the first, which is enough to see that it runs.
    """
    cases = list(product(SHAPES, SETTINGS, (1, processes)))
    best: dict[int, dict[str, float]] = {}
    for number, (index, (shape, (blas, threads), count)) in product(range(1, rounds + 1), enumerate(cases)):
        progress(f"round {number} of {rounds}: {shape}, {blas}, {threads or 'all'} threads, n_process={count}")
        arguments: dict[str, Any] = {"blas": blas, "processes": count, "shape": shape, "words": words}
        arguments |= {"pipeline": str(pipeline), "texts": str(texts)}
        in_process = not fresh and index > 0
        numbers = pipe(**arguments) if in_process else run_task(__file__, ["pipe", arguments], threads=threads)
        old = best.get(index, numbers)
        best[index] = {
            "words per second": max(numbers["words per second"], old["words per second"]),
            "cpu per word": min(numbers["cpu per word"], old["cpu per word"]),
        }
    return [
        {"shape": shape, "blas": blas, "threads": threads, "n_process": count, **best[index]}
        for index, (shape, (blas, threads), count) in enumerate(cases)
    ]


def report(rows: list[dict[str, Any]], blas: str) -> str:
    """Words per second of real time; in brackets the CPU time per word."""
    processes = sorted({row["n_process"] for row in rows})
    head = [
        "words per second (CPU time per word)",
        *(f"{shape}, n_process={n}" for shape, n in product(SHAPES, processes)),
    ]
    lines = []
    for kind, threads in SETTINGS:
        cells = [row for row in rows if (row["blas"], row["threads"]) == (kind, threads)]
        name = "BLIS" if kind == "blis" else f"{blas}, {'one thread' if threads == 1 else 'threads as it likes'}"
        lines.append([name, *(f"{row['words per second']:,.0f} ({1e6 * row['cpu per word']:.0f} µs)" for row in cells)])
    return table(head, lines)


def main() -> None:
    if answer_task({"pipe": pipe}):
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pipeline", nargs="?", type=Path, help="a folder; the sample pipeline if there is none")
    parser.add_argument("texts", nargs="?", type=Path, help="a .spacy file; the sample corpus if there is none")
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--words", type=int, default=200_000, help="how many words to process")
    parser.add_argument(
        "--processes", type=int, default=max(2, os.cpu_count() or 2), help="n_process to compare with 1"
    )
    parser.add_argument("--quick", action="store_true", help="only see that it runs; the figures mean nothing")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.rounds, arguments.words, arguments.processes = 1, 400, 2
    before = load_average()
    rows = measure_with_sample(arguments)
    load = {"before": before, "after": load_average()}
    text = f"{describe(load)}\n\n{report(rows, blas_name())}"
    write(arguments.output, "processes", {"machine": machine(), "load": load, "rows": rows}, text)
    print(text)


def measure_with_sample(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure, with the sample in place of what is not given."""
    import tempfile

    from spacy_nested_ner import convert
    from spacy_nested_ner.sample import SAMPLE_PATH

    with tempfile.TemporaryDirectory() as folder:
        texts = arguments.texts
        if texts is None:
            texts = Path(folder) / "train.spacy"
            convert(ROOT / "assets" / "sample" / "train.txt", texts)
        size = {"rounds": arguments.rounds, "words": arguments.words, "processes": arguments.processes}
        return measure(arguments.pipeline or SAMPLE_PATH, texts, fresh=not arguments.quick, **size)


if __name__ == "__main__":
    main()
