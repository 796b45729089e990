"""How far the probabilities of the trained pipelines can be trusted, on test data.

    python experiments/confidence.py [--pair genia …] [--seed 0 …]

For pipelines that experiments/run.py has saved, the default beside spancat and, on LitBank, both tuned: the calibration
error of the mentions found, before and after a temperature is fitted on dev data; precision and recall over thresholds;
and how early errors come if sentences are read by their entropy. Writes results/confidence.json, which keeps what it
has of pipelines that are not there; a plot a pair (of its first seed); and the tables, which are means over seeds, into
docs/experiments.md.
"""

import argparse
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from plan import RESULTS, Run, read_plan
from tables import DOCUMENT, fill, markdown

from spacy_nested_ner.corpus import read_records
from spacy_nested_ner.evaluation import error_by_chance, measure, predict
from spacy_nested_ner.evaluation.calibration import calibrate

SYSTEMS = ("spancat", "nested_ner")
# What is compared: a corpus, and the runs of both systems.
PAIRS = {
    "genia": ("genia", ("main/spancat", "default/nested_ner")),
    "litbank": ("litbank", ("main/spancat", "default/nested_ner")),
    "litbank-tuned": ("litbank", ("settings/spancat, 1,000 words, L2 = 1", "settings/nested_ner, 1,000 words, L2 = 1")),
}
THRESHOLDS = (0.2, 0.3, 0.4, 0.5)

# By pair, seed and system.
Results = dict[str, dict[str, dict[str, Any]]]


def pipelines() -> Iterator[tuple[str, str, Run]]:
    """Every pipeline with the name of its pair and of its system."""
    for pair, (corpus, titles) in PAIRS.items():
        for run in read_plan():
            for system, title in zip(SYSTEMS, titles):
                if run.corpus == corpus and f"{run.group}/{run.name}" == title:
                    yield pair, system, run


def confidence(run: Run, system: str) -> dict[str, Any]:
    """Of one pipeline."""
    nlp = spacy.load(run.model)
    test = run.folder / "test.spacy"
    result = {"as trained": _measured(nlp, test)}
    if system == "nested_ner":
        fitted = calibrate(nlp, read_records(run.folder / "dev.spacy"), gold_tokens=True)
        result["calibrated"] = {"temperature": fitted.after.temperature, **_measured(nlp, test)}
    return result


def _measured(nlp: spacy.Language, path: Path) -> dict[str, Any]:
    numbers = measure(predict(nlp, read_records(path), gold_tokens=True), n_examples=0)
    return {name: numbers[name] for name in ("calibration", "thresholds", "error_ranking")}


def dominates(curve: list[dict[str, float]], other: list[dict[str, float]]) -> bool:
    """Whether the curve, drawn through its points, lies on or above every point of the other one that has a recall
    which it reaches."""
    points = sorted((row["r"], row["p"]) for row in curve)
    recalls, precisions = zip(*points)
    within = [row for row in other if recalls[0] <= row["r"] <= recalls[-1]]
    return all(np.interp(row["r"], recalls, precisions) >= row["p"] for row in within)


def plot(results: dict[str, Any], title: str, path: Path) -> None:
    """Reliability on the left, precision over recall on the right."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 4))
    left.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
    for name, states in results.items():
        for state, numbers in states.items():
            rows = [row for row in numbers["calibration"]["bins"] if row["mentions"]]
            label = f"{name}, {state}" if len(states) > 1 else name
            left.plot([row["probability"] for row in rows], [row["correct"] for row in rows], marker="o", label=label)
        points = _curve(states)
        right.plot([row["r"] for row in points], [row["p"] for row in points], marker="o", markersize=3, label=name)
    left.set(xlabel="probability", ylabel="share that is right", title=f"{title}: calibration")
    right.set(xlabel="recall", ylabel="precision", title=f"{title}: over thresholds")
    for axes in (left, right):
        axes.legend(frameon=False)
        axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def both(results: Results) -> Results:
    """The seeds that both systems have."""
    kept = {
        pair: {seed: found for seed, found in sorted(seeds.items()) if set(SYSTEMS) <= set(found)}
        for pair, seeds in results.items()
    }
    return {pair: seeds for pair, seeds in kept.items() if seeds}


def calibration_table(results: Results) -> str:
    rows = []
    for pair, seeds in results.items():
        for name in SYSTEMS:
            for state in next(iter(seeds.values()))[name]:
                found = [systems[name][state] for systems in seeds.values()]
                errors = [numbers["calibration"]["ece"] for numbers in found]
                temperatures = "–".join(f"{t:.2f}" for t in _ends(numbers.get("temperature") for numbers in found))
                given = f"{state}, temperature {temperatures}" if temperatures else state
                chance = [error_by_chance(numbers["calibration"]["bins"]) for numbers in found]
                values = [f"{value:.3f}" for value in (np.mean(errors), max(errors), np.mean(chance))]
                rows.append([pair, name, given, str(len(found)), *values])
    return markdown(["", "", "", "seeds", "ECE", "highest", "by chance"], rows)


def _ends(values: Iterable[float | None]) -> list[float]:
    """The lowest and the highest; nothing if there are none."""
    found = [value for value in values if value is not None]
    return [min(found), max(found)] if found else []


def thresholds_table(results: Results) -> str:
    """What a lower threshold wins in nested mentions, and what it costs; of the seeds for which that is known."""
    rows = []
    for pair, seeds in results.items():
        for name in SYSTEMS:
            for threshold in THRESHOLDS:
                at = [row for systems in seeds.values() for row in _curve(systems.get(name))]
                # Results from before nested recall was measured do not have it.
                at = [row for row in at if row["threshold"] == threshold and "nested_r" in row]
                if at:
                    values = [f"{100 * np.mean([row[key] for row in at]):.1f}" for key in ("p", "r", "f", "nested_r")]
                    rows.append([pair, name, f"{threshold:.1f}", str(len(at)), *values])
    return markdown(["", "", "threshold", "seeds", "P", "R", "F", "nested R"], rows)


def _curve(states: dict[str, Any] | None) -> list[dict[str, float]]:
    return states["as trained"]["thresholds"] if states else []


def ranking_table(results: Results) -> str:
    rows = []
    for pair, seeds in results.items():
        rankings = [systems["nested_ner"]["as trained"]["error_ranking"] for systems in seeds.values()]
        for order in ("entropy", "length", "best"):
            values = [
                f"{np.mean([ranking[unit][order][what] for ranking in rankings]):.2f}"
                for unit in ("by_segments", "by_words")
                for what in ("half", "area")
            ]
            rows.append([pair, order, str(len(rankings)), *values])
    return markdown(["", "order", "seeds", "sentences for half", "area", "words for half", "area"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description="How far probabilities can be trusted.")
    parser.add_argument("--pair", nargs="+", choices=PAIRS, help="only these")
    parser.add_argument("--seed", nargs="+", type=int, help="only these")
    wanted = parser.parse_args()
    path = RESULTS / "confidence.json"
    results: Results = json.loads(path.read_text()) if path.exists() else {}
    for pair, system, run in pipelines():
        if (wanted.pair and pair not in wanted.pair) or (wanted.seed and run.seed not in wanted.seed):
            continue
        if not run.model.exists():
            print(f"not trained here, see experiments/run.py: {run.title}")
            continue
        print(f"{run.title}: predicting", flush=True)
        results.setdefault(pair, {}).setdefault(str(run.seed), {})[system] = confidence(run, system)
        path.write_text(json.dumps(results, indent=1) + "\n")
    # Thresholds are of either system by itself.
    texts = {"thresholds": thresholds_table(results)}
    results = both(results)
    texts |= {"calibration": calibration_table(results), "ranking": ranking_table(results)}
    document = DOCUMENT.read_text()
    for name, text in texts.items():
        document = fill(document, name, text)
        print(f"{text}\n")
    DOCUMENT.write_text(document)
    for pair, seeds in results.items():
        plot(next(iter(seeds.values())), pair, RESULTS / f"confidence-{pair}.png")
        for seed, systems in seeds.items():
            better = dominates(*(_curve(systems[name]) for name in reversed(SYSTEMS)))
            verdict = "dominates" if better else "does not dominate"
            print(f"{pair}, seed {seed}: the curve of nested_ner {verdict} that of spancat")


if __name__ == "__main__":
    main()
