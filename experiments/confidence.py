"""How far the probabilities of the trained pipelines can be trusted, on test data.

    python experiments/confidence.py [--pair genia …] [--seed 0 …]

Measures pipelines that experiments/run.py has trained: the calibration error of the mentions found, before and after
a temperature is fitted on dev data; precision and recall over thresholds; and how soon errors are found by someone who
reads sentences by entropy. Results of pipelines that are not here are kept.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import spacy
from plan import Run, read_plan
from results import Result, collect, load, save

from spacy_nested_ner.corpus import read_records
from spacy_nested_ner.evaluation import calibrate, measure, predict

GROUP = "confidence"
SYSTEMS = ("spancat", "nested_ner")
# The folds of LitBank.
FOLDS = tuple(f"litbank-{number}" for number in range(5))
# What is compared: corpora, and the runs of both systems. There is one corpus with several seeds, or its folds.
PAIRS = {
    "genia": (("genia",), ("main/spancat", "long/nested_ner")),
    "litbank": (("litbank",), ("main/spancat", "long/nested_ner")),
    "litbank-tuned": (
        ("litbank",),
        ("settings/spancat, 1,000 words, L2 = 1", "settings/nested_ner, 1,000 words, L2 = 1"),
    ),
    "genia-transformer": (("genia",), ("minilm_genia/spancat", "minilm_genia/nested_ner")),
    "litbank-transformer": (FOLDS, ("minilm_folds/spancat", "minilm_folds/nested_ner")),
}

# By pair, seed or fold, and system.
Confidence = dict[str, dict[str, dict[str, Result]]]


def pipelines() -> Iterator[tuple[str, str, Run]]:
    """Every pipeline with the name of its pair and of its system."""
    for pair, (corpora, titles) in PAIRS.items():
        for run in read_plan():
            for system, title in zip(SYSTEMS, titles):
                if run.corpus in corpora and f"{run.group}/{run.name}" == title:
                    yield pair, system, run


def read_confidence() -> Confidence:
    """The results there are."""
    saved = load(GROUP)
    results: Confidence = {}
    for pair, system, run in pipelines():
        if (key := _key(pair, system, run)) in saved:
            results.setdefault(pair, {}).setdefault(_repeat(pair, run), {})[system] = saved[key]
    return results


def both(results: Confidence) -> Confidence:
    """The seeds, or folds, that both systems have."""
    kept = {
        pair: {seed: found for seed, found in sorted(seeds.items()) if set(SYSTEMS) <= set(found)}
        for pair, seeds in results.items()
    }
    return {pair: seeds for pair, seeds in kept.items() if seeds}


def measure_pipeline(run: Run, system: str) -> Result:
    """What the tables and the plot show of one pipeline."""
    nlp = spacy.load(run.model)
    test = run.folder / "test.spacy"
    numbers = _measured(nlp, test)
    ranking = numbers["error_ranking"]
    result = {
        "as trained": {
            "calibration": _calibration(numbers),
            "thresholds": [_only(row, "threshold", "p", "r", "f", "nested_r") for row in numbers["thresholds"]],
            # None for spancat, which has no entropy.
            "error_ranking": ranking and {unit: _ranking(ranking[unit]) for unit in ("by_segments", "by_words")},
        }
    }
    if system == "nested_ner":
        fitted = calibrate(nlp, read_records(run.folder / "dev.spacy"), gold_tokens=True)
        calibration = _calibration(_measured(nlp, test))
        result["calibrated"] = {"temperature": fitted.after.temperature, "calibration": calibration}
    return result


def _measured(nlp: spacy.Language, path: Path) -> dict[str, Any]:
    return measure(predict(nlp, read_records(path), gold_tokens=True), n_examples=0)


def _calibration(numbers: dict[str, Any]) -> dict[str, Any]:
    bins = [row for row in numbers["calibration"]["bins"] if row["mentions"]]
    return {
        "ece": numbers["calibration"]["ece"],
        "bins": [_only(row, "mentions", "probability", "correct") for row in bins],
    }


def _ranking(orders: dict[str, Any]) -> dict[str, Any]:
    return {order: _only(orders[order], "half", "area") for order in ("entropy", "length", "best")}


def _only(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: row[name] for name in names}


def _key(pair: str, system: str, run: Run) -> str:
    return f"{pair}/{system}/{_repeat(pair, run)}"


def _repeat(pair: str, run: Run) -> str:
    """The seed, or the number of the fold."""
    corpora, _ = PAIRS[pair]
    return str(run.seed if len(corpora) == 1 else corpora.index(run.corpus))


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how far probabilities can be trusted.")
    parser.add_argument("--pair", nargs="+", choices=PAIRS, help="only these")
    parser.add_argument("--seed", nargs="+", type=int, help="only these")
    wanted = parser.parse_args()
    for pair, system, run in pipelines():
        if (wanted.pair and pair not in wanted.pair) or (wanted.seed and run.seed not in wanted.seed):
            continue
        if run.model.exists():
            print(f"{run.title}: predicting", flush=True)
            save(GROUP, _key(pair, system, run), measure_pipeline(run, system))
        else:
            print(f"not trained here, see experiments/run.py: {run.title}")
    collect(GROUP)


if __name__ == "__main__":
    main()
