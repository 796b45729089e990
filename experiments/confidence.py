"""How far the probabilities of the trained pipelines can be trusted, on test data.

    python experiments/confidence.py [--corpus genia …]

For the pipelines of the group `main` (seed 0) that experiments/run.py has saved: the calibration error of the
mentions found, before and after a temperature is fitted on dev data; precision and recall over thresholds; and
how early errors come if sentences are read by their entropy. Writes results/confidence.json, a plot a corpus, and
the tables into docs/experiments.md.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from plan import RESULTS, Run, read_plan
from tables import DOCUMENT, fill, markdown

from spacy_nested_ner.calibration import calibrate
from spacy_nested_ner.corpus import read_records
from spacy_nested_ner.report import measure, predict

GROUP, SEED = "main", 0
SYSTEMS = ("spancat", "nested_ner")


def confidence(run: Run) -> dict[str, Any]:
    """Of one pipeline."""
    nlp = spacy.load(run.model)
    test = run.folder / "test.spacy"
    result = {"as trained": _measured(nlp, test)}
    if run.name == "nested_ner":
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
        points = states["as trained"]["thresholds"]
        right.plot([row["r"] for row in points], [row["p"] for row in points], marker="o", markersize=3, label=name)
    left.set(xlabel="probability", ylabel="share that is right", title=f"{title}: calibration")
    right.set(xlabel="recall", ylabel="precision", title=f"{title}: over thresholds")
    for axes in (left, right):
        axes.legend(frameon=False)
        axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def calibration_table(results: dict[str, Any]) -> str:
    rows = []
    for corpus, systems in results.items():
        for name, states in systems.items():
            for state, numbers in states.items():
                temperature = numbers.get("temperature")
                given = f"temperature {temperature:.2f}" if temperature else state
                rows.append([corpus, name, given, f"{numbers['calibration']['ece']:.3f}"])
    return markdown(["corpus", "", "", "ECE"], rows)


def ranking_table(results: dict[str, Any]) -> str:
    rows = []
    for corpus, systems in results.items():
        ranking = systems["nested_ner"]["as trained"]["error_ranking"]
        for order in ("entropy", "length", "best"):
            values = [f"{ranking[unit][order][what]:.2f}" for unit in ("by_segments", "by_words") for what in _WHAT]
            rows.append([corpus, order, *values])
    header = ["corpus", "order", "sentences for half", "area", "words for half", "area"]
    return markdown(header, rows)


_WHAT = ("half", "area")


def main() -> None:
    parser = argparse.ArgumentParser(description="How far probabilities can be trusted.")
    parser.add_argument("--corpus", nargs="+", help="only these")
    wanted = parser.parse_args().corpus
    path = RESULTS / "confidence.json"
    results = json.loads(path.read_text()) if path.exists() else {}
    for run in read_plan():
        if (run.group, run.seed) != (GROUP, SEED) or run.name not in SYSTEMS or (wanted and run.corpus not in wanted):
            continue
        if not run.model.exists():
            print(f"{run.title}: not trained yet, see experiments/run.py")
            continue
        print(f"{run.title}: predicting", flush=True)
        results.setdefault(run.corpus, {})[run.name] = confidence(run)
        path.write_text(json.dumps(results, indent=1) + "\n")
    complete = {corpus: systems for corpus, systems in results.items() if set(SYSTEMS) <= set(systems)}
    document = DOCUMENT.read_text()
    for name, text in (("calibration", calibration_table(complete)), ("ranking", ranking_table(complete))):
        document = fill(document, name, text)
        print(f"{text}\n")
    DOCUMENT.write_text(document)
    for corpus, systems in complete.items():
        plot(systems, corpus, RESULTS / f"confidence-{corpus}.png")
        better = dominates(*(systems[name]["as trained"]["thresholds"] for name in reversed(SYSTEMS)))
        print(f"{corpus}: the curve of nested_ner {'dominates' if better else 'does not dominate'} that of spancat")


if __name__ == "__main__":
    main()
