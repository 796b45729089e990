"""How fast nested_ner trains and predicts compared with spancat, on the same tok2vec and the same data.

    python benchmarks/component.py TRAIN.spacy [--output FOLDER] [--rounds 3]

Words per second and peak memory of configs/spancat.cfg, configs/tok2vec.cfg and the same with other decoders: every
round starts a fresh process for each, in turn, on one thread; the best round counts. Peak memory is taken before
prediction (training) and at the end, less what the process had before the first update.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
_DECODER = "components.nested_ner.decoder"
_QUADRATIC = {"@misc": "spacy-nested-ner.QuadraticDecoder.v1"}
# Config, and what is changed in it.
SYSTEMS: dict[str, tuple[str, dict[str, Any]]] = {
    "spancat": ("spancat", {}),
    "nested_ner": ("tok2vec", {_DECODER: _QUADRATIC}),
    "c = 2": ("tok2vec", {_DECODER: {**_QUADRATIC, "max_short_child": 2}}),
    "c = 3": ("tok2vec", {_DECODER: {**_QUADRATIC, "max_short_child": 3}}),
    "multi_label": ("tok2vec", {_DECODER: {**_QUADRATIC, "multi_label": True}}),
    "flat": ("tok2vec", {_DECODER: {"@misc": "spacy-nested-ner.FlatDecoder.v1"}}),
    "cubic": ("tok2vec", {_DECODER: {"@misc": "spacy-nested-ner.CubicDecoder.v1"}}),
}


def measure(system: str, train: str, updates: int) -> dict[str, float]:
    """One round, in this process."""
    import spacy
    from spacy.tokens import Doc
    from spacy.training import Corpus
    from spacy.training.batchers import minibatch_by_words

    warnings.simplefilter("ignore")
    config, changes = SYSTEMS[system]
    overrides = {"paths.train": train, "paths.dev": train, **changes}
    nlp = spacy.util.load_model_from_config(
        spacy.util.load_config(ROOT / "configs" / f"{config}.cfg", overrides), auto_fill=True
    )
    examples = list(Corpus(train, limit=400)(nlp))
    optimizer = nlp.initialize(lambda: examples)
    batches = list(minibatch_by_words(examples, size=1000, tolerance=0.2))[:updates]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for batch in batches[:3]:
        nlp.update(batch, sgd=optimizer, drop=0.1)
    start = time.perf_counter()
    for batch in batches:
        nlp.update(batch, sgd=optimizer, drop=0.1)
    training = sum(len(example.x) for batch in batches for example in batch) / (time.perf_counter() - start)
    after_training = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def copies() -> list[Doc]:
        return [
            Doc(nlp.vocab, words=[t.text for t in e.x], sent_starts=[bool(t.is_sent_start) for t in e.x])
            for e in examples[:150]
        ]

    with nlp.select_pipes(enable=["tok2vec"]):
        docs = copies()
        start = time.perf_counter()
        list(nlp.pipe(docs, batch_size=32))
        tok2vec = sum(map(len, docs)) / (time.perf_counter() - start)
    docs = copies()
    start = time.perf_counter()
    list(nlp.pipe(docs, batch_size=32))
    prediction = sum(map(len, docs)) / (time.perf_counter() - start)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "training_words_per_second": training,
        "prediction_words_per_second": prediction,
        "tok2vec_words_per_second": tok2vec,
        "training_memory_mb": (after_training - before) / 1024,
        "memory_mb": (after - before) / 1024,
    }


def in_a_process(system: str, train: str, updates: int) -> dict[str, float]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, __file__, train, "--updates", str(updates), "--system", system]
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    if run.returncode:
        sys.exit(run.stderr)
    return json.loads(run.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("train", help="a .spacy file with mentions in doc.spans['sc']")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--updates", type=int, default=25)
    parser.add_argument("--system", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.system:
        print(json.dumps(measure(arguments.system, arguments.train, arguments.updates)))
        return
    best: dict[str, dict[str, float]] = {}
    for number in range(arguments.rounds):
        for name in SYSTEMS:
            print(f"  … round {number + 1} of {arguments.rounds}: {name}", file=sys.stderr, flush=True)
            result = in_a_process(name, arguments.train, arguments.updates)
            for key, value in result.items():
                better = min if key.endswith("mb") else max
                best.setdefault(name, {})[key] = better(value, best.get(name, {}).get(key, value))
    columns = [
        ("training_words_per_second", "trains, words/s"),
        ("prediction_words_per_second", "predicts, words/s"),
        ("tok2vec_words_per_second", "tok2vec alone"),
        ("training_memory_mb", "memory, training"),
        ("memory_mb", "memory, both"),
    ]
    lines = ["".join([f"{'':<12}", *(f"{title:>20}" for _, title in columns)])]
    for name, numbers in best.items():
        ratios = [f"{numbers[key]:,.0f} ({numbers[key] / best['spancat'][key]:.2f})" for key, _ in columns]
        lines.append("".join([f"{name:<12}", *(f"{ratio:>20}" for ratio in ratios)]))
    lines.append("Memory in MB. In brackets: times spancat's.")
    text = "\n".join(lines)
    arguments.output.mkdir(parents=True, exist_ok=True)
    (arguments.output / "component.json").write_text(json.dumps(best, indent=1), encoding="utf-8")
    (arguments.output / "component.txt").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
