"""One run of the plan, in this process: train, score along the way, and keep the best pipeline.

    python experiments/trial.py GROUP NAME CORPUS SEED

Two kinds of weights are scored: those after an update ("last") and, if the config has `use_averages = true`, their
averages over the updates so far ("averaged"). Averages do not change what is learned, so one run gives both. A run with
patience ends when one kind has not improved for long, so it has only that kind, like `spacy train`.
"""

import argparse
import copy
import ctypes
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import encoder
import numpy as np
from bfloat16 import use_bfloat16_in_transformers
from plan import ROOT, Run, read_plan
from results import save
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.training.loop import create_train_batches, train_while_improving
from spacy.util import load_config, registry
from subset import write_subset
from thinc.api import NumpyOps, Optimizer, fix_random_seed

from spacy_nested_ner._whole import whole_folder
from spacy_nested_ner.annotation import mentions_of
from spacy_nested_ner.evaluation.scorer import nested_ner_score
from spacy_nested_ner.word_vectors import make_word_vectors

KEY = "sc"
THRESHOLDS = (0.3, 0.4, 0.5, 0.6)
# At these, F on dev and precision and recall on test are kept: to compare systems at equal precision, and to see what
# a wider choice would change. They choose nothing.
CURVE = (0.1, 0.2, *THRESHOLDS, 0.7, 0.8)
# What results keep of a run besides its config, if it is set.
SETTINGS = ("sentences", "patience", "bfloat16", "vectors")
_SETS = ("dev", "test")
# These do not change in training.
_CONSTANT = ["vocab", "tokenizer"]


def use_numpy_for_products() -> None:
    """NumPy's matrix products are three times as fast as Thinc's. Every system gets them."""

    def gemm(self: NumpyOps, x: Any, y: Any, out: Any = None, trans1: bool = False, trans2: bool = False) -> Any:
        return np.matmul(x.T if trans1 else x, y.T if trans2 else y, out=out)

    NumpyOps.gemm = gemm


def scale_rate(pipe: Any, factor: float) -> None:
    """Let a component learn at a rate of its own, as nested_ner does with `learn_rate_scale`."""
    finish = pipe.finish_update

    def finish_update(sgd: Optimizer) -> None:
        rate = sgd.learn_rate
        sgd.learn_rate = rate * factor
        try:
            finish(sgd)
        finally:
            sgd.learn_rate = rate

    pipe.finish_update = finish_update


def return_memory() -> None:
    """Return freed memory to the system. Fragments that nothing fits into add up: to 16 GB after 400 updates of a
    transformer that needs 1 GB."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "malloc_trim"):
        libc.malloc_trim(0)


def train(run: Run, progress: Callable[[str], None] = print) -> tuple[dict[str, Any], Language]:
    """Train up to the last point of a run.

    RETURNS (tuple[dict[str, Any], Language]): Curve and points for each kind of weights, and the pipeline with the
        weights that were best on dev.
    """
    data = _training_file(run)
    read_train = _reader(data, run.max_length)
    settings = {
        "corpora.train": read_train,
        "corpora.dev": _reader(run.folder / "dev.spacy"),
        "system.seed": run.seed,
        # Copied, because overrides below a setting change its value in place.
        **copy.deepcopy(run.overrides),
    }
    if run.vectors:
        vectors = save_vectors()
        settings["paths.vectors"] = str(vectors)
        settings["nlp.vectors"] = load_config(vectors / "config.cfg")["nlp"]["vectors"]
        settings["components.tok2vec.model.embed.include_static_vectors"] = True
    nlp = init_nlp(load_config(run.config, overrides=settings, interpolate=False))
    if run.head_rate != 1:
        scale_rate(nlp.get_pipe(nlp.pipe_names[-1]), run.head_rate)
    fix_random_seed(run.seed)
    training = nlp.config.interpolate()["training"]
    parts = registry.resolve({name: training[name] for name in ("optimizer", "batcher")})
    optimizer = parts["optimizer"]
    names = _SETS[:1] if run.only_dev else _SETS
    read = registry.resolve({"train": read_train} | {name: _reader(run.folder / f"{name}.spacy") for name in names})
    sets = {name: list(read[name](nlp)) for name in names}
    of_config = "averaged" if training["optimizer"]["use_averages"] else "last"
    watched = {name: Watched() for name in ([of_config] if run.patience else dict.fromkeys(("last", of_config)))}
    batches = create_train_batches(nlp, read["train"], parts["batcher"], 0)
    for _, info, is_best in _updates(nlp, training, optimizer, batches, run.eval_frequency):
        if info["step"] % 50 == 0:
            return_memory()
        if is_best is None or not info["step"]:
            continue
        for name, one in watched.items():
            with nlp.use_params(optimizer.averages if name == "averaged" else {}):
                one.look(nlp, info, sets["dev"])
        shown = "  ".join(f"{name} {100 * one.curve[-1]['f']:.2f}" for name, one in watched.items())
        progress(f"{info['step']:>6} updates {info['seconds']:>6} s  dev F {shown}")
        ends = info["step"] >= run.updates[-1] or 0 < run.patience <= info["step"] - watched[of_config].best_update
        if ends or info["step"] in run.updates:
            now = nlp.to_bytes(exclude=_CONSTANT)
            for name, one in watched.items():
                # Tuning takes time: only the weights that the config asks for are worth it.
                one.score(nlp, run.updates[-1] if ends else info["step"], sets, tune=name == of_config)
            if ends:
                break
            nlp.from_bytes(now, exclude=_CONSTANT)
    return {name: {"curve": one.curve, "points": one.points} for name, one in watched.items()}, nlp


def _updates(
    nlp: Language, training: dict[str, Any], optimizer: Any, batches: Any, eval_frequency: int
) -> Iterator[tuple[Any, dict[str, Any], bool | None]]:
    """spaCy's training loop without its own scores and without an end."""
    return train_while_improving(
        nlp,
        optimizer,
        batches,
        evaluate=lambda: (0.0, {}),
        dropout=training["dropout"],
        eval_frequency=eval_frequency,
        accumulate_gradient=training["accumulate_gradient"],
        patience=0,
        max_steps=0,
        exclude=[],
        annotating_components=training["annotating_components"],
        before_update=None,
    )


def _training_file(run: Run) -> Path:
    """The training data of a run: all of it, or a part that is made here."""
    whole = run.folder / run.train
    if not run.sentences:
        return whole
    part = run.model.parent / f"{run.model.name}.spacy"
    write_subset(whole, part, run.sentences, run.seed)
    return part


def save_vectors() -> Path:
    """Word vectors from the small transformer, made once.

    RETURNS (Path): The folder of a pipeline that has them.
    """
    folder = ROOT / "training" / "experiments" / "vectors"
    if not folder.exists():
        made = make_word_vectors(str(encoder.folder()))
        with whole_folder(folder) as unfinished:
            made.nlp.to_disk(unfinished)
    return folder


def _reader(path: Path, max_length: int = 0) -> dict[str, Any]:
    """A reader that keeps the words and sentences of the corpus."""
    return {"@readers": "spacy-nested-ner.Corpus.v1", "path": str(path), "max_length": max_length}


class Watched:
    """One kind of weights in the course of training."""

    def __init__(self) -> None:
        self.curve: list[dict[str, float]] = []
        self.points: dict[str, Any] = {}
        self._best: tuple[float, int, bytes] = (-1.0, 0, b"")

    @property
    def best_update(self) -> int:
        return self._best[1]

    def look(self, nlp: Language, info: dict[str, Any], dev: list[Example]) -> None:
        scores = evaluate(nlp, dev)[None]
        passed = {"updates": info["step"], "seconds": info["seconds"]}
        self.curve.append(passed | {name: scores[name] for name in ("f", "nested_r")})
        if scores["f"] > self._best[0]:
            self._best = scores["f"], info["step"], nlp.to_bytes(exclude=_CONSTANT)

    def score(self, nlp: Language, updates: int, sets: dict[str, list[Example]], *, tune: bool) -> None:
        """Score the weights that are best on dev so far: as they are, and with the threshold that is best on dev."""
        nlp.from_bytes(self._best[2], exclude=_CONSTANT)
        # None is the threshold of the config: the most probable analysis, or spancat's 0.5.
        thresholds = (None, *CURVE) if tune else (None,)
        scores = {name: evaluate(nlp, examples, thresholds) for name, examples in sets.items()}
        # The counts of documents are long: they are kept once, of the parts that systems are compared on.
        untuned = {name: _without_documents(found[None]) if tune else found[None] for name, found in scores.items()}
        point: dict[str, Any] = {"best": self._best[1], **untuned}
        if tune:
            of_dev = scores["dev"]
            choice = max((*THRESHOLDS, None), key=lambda value: (of_dev[value]["f"], value is None))
            tuned = {name: found[choice] for name, found in scores.items()}
            if "test" in tuned:
                tuned["dev"] = _without_documents(tuned["dev"])
                point["curve"] = {"dev_f": [of_dev[at]["f"] for at in CURVE]} | {
                    name: [scores["test"][at][name] for at in CURVE] for name in ("p", "r", "nested_r")
                }
            point["tuned"] = {"threshold": choice, "dev_f": of_dev[choice]["f"], **tuned}
        self.points[str(updates)] = point


def _without_documents(scores: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in scores.items() if name != "documents"}


def evaluate(
    nlp: Language, examples: list[Example], thresholds: Iterable[float | None] = (None,)
) -> dict[float | None, dict[str, Any]]:
    """Precision, recall and F of all mentions, recall of nested ones, F per label, and what each document adds to F, by
    threshold. The components before the last one run once.

    thresholds (Iterable[float | None]): None for the threshold of the config.
    """
    *before, last = nlp.pipe_names
    with nlp.select_pipes(enable=before):
        docs = list(nlp.pipe(example.predicted.copy() for example in examples))
    pipe = nlp.get_pipe(last)
    of_config = pipe.cfg["threshold"]
    results = {}
    try:
        for threshold in thresholds:
            pipe.cfg["threshold"] = of_config if threshold is None else threshold
            results[threshold] = _scores(list(pipe.pipe(docs, batch_size=nlp.batch_size)), examples)
    finally:
        pipe.cfg["threshold"] = of_config
    return results


def _scores(docs: list[Doc], examples: list[Example]) -> dict[str, Any]:
    pairs = [Example(doc, example.reference) for doc, example in zip(docs, examples)]
    scores = nested_ner_score(pairs, spans_key=KEY)
    result: dict[str, Any] = {name: scores[f"spans_{KEY}_{name}"] for name in ("p", "r", "f", "nested_r")}
    result["labels"] = {label: values["f"] for label, values in scores[f"spans_{KEY}_per_type"].items()}
    result["documents"] = [_counts(pair) for pair in pairs]
    return result


def _counts(pair: Example) -> list[int]:
    """Gold mentions of a document, mentions found, and those of them that are right."""
    found, gold = (set(mentions_of(doc, KEY)) for doc in (pair.predicted, pair.reference))
    return [len(gold), len(found), len(found & gold)]


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
        if run.bfloat16:
            use_bfloat16_in_transformers()
        started = time.perf_counter()
        result, nlp = train(run, progress=lambda line: print(line, flush=True))
        run.model.parent.mkdir(parents=True, exist_ok=True)
        nlp.to_disk(run.model)
        settings = {"config": run.config.name, "set": run.set, "train": run.train, "max_length": run.max_length}
        settings |= {name: value for name in SETTINGS if (value := getattr(run, name))}
        settings |= {"head_rate": run.head_rate} if run.head_rate != 1 else {}
        save(run.group, run.key, {**settings, "seconds": round(time.perf_counter() - started), **result})


if __name__ == "__main__":
    main()
