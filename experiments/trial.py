"""One run of the plan, in this process: training, scores on the way, and the pipeline that was best.

    python experiments/trial.py GROUP NAME CORPUS SEED

Both kinds of weights are scored: as they are after an update ("last"), and their averages over the
updates so far ("averaged"), where the config has `use_averages = true`. Averages do not change what is
learned, so one training tells both.
"""

import argparse
import ctypes
import json
import os
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from plan import Run, read_plan
from spacy.language import Language
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.training.loop import create_train_batches, train_while_improving
from spacy.util import load_config, registry
from thinc.api import NumpyOps, fix_random_seed

from spacy_nested_ner.evaluation.scorer import nested_ner_score

KEY = "sc"
THRESHOLDS = (0.3, 0.4, 0.5, 0.6)
# Does not change in training.
_CONSTANT = ["vocab", "tokenizer"]


def use_numpy_for_products() -> None:
    """NumPy's matrix products are three times as fast as those that Thinc brings. For every system alike."""

    def gemm(self: NumpyOps, x: Any, y: Any, out: Any = None, trans1: bool = False, trans2: bool = False) -> Any:
        return np.matmul(x.T if trans1 else x, y.T if trans2 else y, out=out)

    NumpyOps.gemm = gemm


def give_back_memory() -> None:
    """What is freed in pieces that nothing fits into later adds up: to 16 GB after 400 updates of a transformer
    that needs 1."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "malloc_trim"):
        libc.malloc_trim(0)


def train(run: Run, progress: Callable[[str], None] = print) -> tuple[dict[str, Any], Language]:
    """Train to the last point of a run.

    RETURNS (tuple[dict[str, Any], Language]): What is known about the run, for JSON; and the pipeline with
        the weights that were best on dev.
    """
    read_train = _reader(run.folder / run.train, run.max_length)
    settings = {
        "corpora.train": read_train,
        "corpora.dev": _reader(run.folder / "dev.spacy"),
        "system.seed": run.seed,
        **run.overrides,
    }
    nlp = init_nlp(load_config(run.config, overrides=settings, interpolate=False))
    fix_random_seed(run.seed)
    training = nlp.config.interpolate()["training"]
    parts = registry.resolve({name: training[name] for name in ("optimizer", "batcher")})
    optimizer = parts["optimizer"]
    read = registry.resolve({"train": read_train} | {name: _reader(run.folder / f"{name}.spacy") for name in _SETS})
    sets = {name: list(read[name](nlp)) for name in _SETS}
    watched = {"last": Watched()}
    if training["optimizer"]["use_averages"]:
        watched["averaged"] = Watched()
    steps = train_while_improving(
        nlp,
        optimizer,
        create_train_batches(nlp, read["train"], parts["batcher"], 0),
        evaluate=lambda: (0.0, {}),
        dropout=training["dropout"],
        eval_frequency=run.eval_frequency,
        accumulate_gradient=training["accumulate_gradient"],
        patience=0,
        max_steps=0,
        exclude=[],
        annotating_components=training["annotating_components"],
        before_update=None,
    )
    for _, info, is_best in steps:
        if info["step"] % 50 == 0:
            give_back_memory()
        if is_best is None or not info["step"]:
            continue
        for name, one in watched.items():
            with nlp.use_params(optimizer.averages if name == "averaged" else {}):
                one.look(nlp, info, sets["dev"])
        shown = "  ".join(f"{name} {100 * one.curve[-1]['f']:.2f}" for name, one in watched.items())
        progress(f"{info['step']:>6} updates {info['seconds']:>6} s  dev F {shown}")
        if info["step"] in run.updates:
            now = nlp.to_bytes(exclude=_CONSTANT)
            for name, one in watched.items():
                # Only the weights that the config asks for are worth the time of tuning.
                one.score(nlp, info["step"], sets, tune=name == list(watched)[-1])
            if info["step"] >= run.updates[-1]:
                break
            nlp.from_bytes(now, exclude=_CONSTANT)
    return {name: {"curve": one.curve, "points": one.points} for name, one in watched.items()}, nlp


_SETS = ("dev", "test")


def _reader(path: Path, max_length: int = 0) -> dict[str, Any]:
    """Reads a corpus with its own words and sentences."""
    return {"@readers": "spacy-nested-ner.Corpus.v1", "path": str(path), "max_length": max_length}


class Watched:
    """One kind of weights on the way through training."""

    def __init__(self) -> None:
        self.curve: list[dict[str, float]] = []
        self.points: dict[str, Any] = {}
        self._best: tuple[float, int, bytes] = (-1.0, 0, b"")

    def look(self, nlp: Language, info: dict[str, Any], dev: list[Example]) -> None:
        scores = evaluate(nlp, dev)
        passed = {"updates": info["step"], "seconds": info["seconds"], "words": info["words"]}
        self.curve.append(passed | {name: round(scores[name], 5) for name in ("p", "r", "f", "nested_r")})
        if scores["f"] > self._best[0]:
            self._best = scores["f"], info["step"], nlp.to_bytes(exclude=_CONSTANT)

    def score(self, nlp: Language, updates: int, sets: dict[str, list[Example]], *, tune: bool) -> None:
        """Score what was best on dev by now: as it is, and with the threshold that is best on dev."""
        nlp.from_bytes(self._best[2], exclude=_CONSTANT)
        started = time.perf_counter()
        scores = {name: evaluate(nlp, examples) for name, examples in sets.items()}
        n_words = sum(len(example) for examples in sets.values() for example in examples)
        seconds = time.perf_counter() - started
        point = {"best": self._best[1], "words_per_second": round(n_words / seconds), **scores}
        if tune:
            # None is the threshold of the config: the most probable analysis, or spancat's 0.5.
            found = {value: evaluate(nlp, sets["dev"], value)["f"] for value in THRESHOLDS} | {None: scores["dev"]["f"]}
            choice = max(found, key=lambda value: (found[value], value is None))
            test = scores["test"] if choice is None else evaluate(nlp, sets["test"], choice)
            point["tuned"] = {"threshold": choice, "dev_f": found[choice], "test": test}
        self.points[str(updates)] = point


def evaluate(nlp: Language, examples: list[Example], threshold: float | None = None) -> dict[str, Any]:
    """Precision, recall and F: of all mentions, of nested and of first-level ones; F by label.

    threshold (float | None): None for that of the config.
    """
    pipe = nlp.get_pipe(nlp.pipe_names[-1])
    of_config = pipe.cfg["threshold"]
    pipe.cfg["threshold"] = of_config if threshold is None else threshold
    try:
        docs = list(nlp.pipe(example.predicted.copy() for example in examples))
    finally:
        pipe.cfg["threshold"] = of_config
    pairs = [Example(doc, example.reference) for doc, example in zip(docs, examples)]
    scores = nested_ner_score(pairs, spans_key=KEY)
    levels = ("", "nested_", "first_level_")
    result = {f"{level}{letter}": scores[f"spans_{KEY}_{level}{letter}"] for level in levels for letter in "prf"}
    result["labels"] = {label: values["f"] for label, values in scores[f"spans_{KEY}_per_type"].items()}
    return result


def _write(path: Path, result: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".tmp")
    unfinished.write_text(json.dumps(result, indent=1) + "\n")
    os.replace(unfinished, path)


def _chosen() -> Iterator[Run]:
    parser = argparse.ArgumentParser(description="One run of the plan.")
    for name in ("group", "name", "corpus"):
        parser.add_argument(name)
    parser.add_argument("seed", type=int)
    wanted = vars(parser.parse_args())
    for run in read_plan():
        if all(getattr(run, name) == value for name, value in wanted.items()):
            yield run


def main() -> None:
    warnings.filterwarnings("ignore", category=UserWarning)
    for run in _chosen():
        use_numpy_for_products()
        started = time.perf_counter()
        result, nlp = train(run, progress=lambda line: print(line, flush=True))
        run.model.parent.mkdir(parents=True, exist_ok=True)
        nlp.to_disk(run.model)
        about = {"config": run.config.name, "set": run.set, "train": run.train, "max_length": run.max_length}
        _write(run.result, {**about, "seconds": round(time.perf_counter() - started), **result})


if __name__ == "__main__":
    main()
