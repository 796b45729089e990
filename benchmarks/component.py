"""How fast nested_ner trains and predicts beside spancat, on the same tok2vec and the same data.

    python benchmarks/component.py TRAIN.spacy [--output FOLDER] [--rounds 3]

Words a second and peak memory of configs/tok2vec.cfg and configs/spancat.cfg: every round starts
a fresh process for each, in turn, on one thread; the best round counts. Peak memory is taken before
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

ROOT = Path(__file__).parent.parent
CONFIGS = {"nested_ner": "tok2vec", "spancat": "spancat"}


def measure(config: str, train: str, updates: int) -> dict[str, float]:
    """One round, in this process."""
    import spacy
    from spacy.tokens import Doc
    from spacy.training import Corpus
    from spacy.training.batchers import minibatch_by_words

    warnings.simplefilter("ignore")
    paths = {"paths.train": train, "paths.dev": train}
    nlp = spacy.util.load_model_from_config(
        spacy.util.load_config(ROOT / "configs" / f"{config}.cfg", paths), auto_fill=True
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


def in_a_process(config: str, train: str, updates: int) -> dict[str, float]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, __file__, train, "--updates", str(updates), "--config", config]
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
    parser.add_argument("--config", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.config:
        print(json.dumps(measure(arguments.config, arguments.train, arguments.updates)))
        return
    best: dict[str, dict[str, float]] = {}
    for number in range(arguments.rounds):
        for name, config in CONFIGS.items():
            print(f"  … round {number + 1} of {arguments.rounds}: {name}", file=sys.stderr, flush=True)
            result = in_a_process(config, arguments.train, arguments.updates)
            for key, value in result.items():
                better = min if key.endswith("mb") else max
                best.setdefault(name, {})[key] = better(value, best.get(name, {}).get(key, value))
    lines = [f"{'':<32} {'nested_ner':>12} {'spancat':>12} {'ratio':>8}"]
    for key in best["nested_ner"]:
        ours, theirs = best["nested_ner"][key], best["spancat"][key]
        lines.append(f"{key.replace('_', ' '):<32} {ours:>12,.0f} {theirs:>12,.0f} {ours / theirs:>8.2f}")
    text = "\n".join(lines)
    arguments.output.mkdir(parents=True, exist_ok=True)
    (arguments.output / "component.json").write_text(json.dumps(best, indent=1), encoding="utf-8")
    (arguments.output / "component.txt").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
