"""Tables and learning curves from the results there are.

    python experiments/tables.py

Writes results/<group>.json with the means over seeds, results/<group>-<corpus>.png with the learning curves,
and the tables into docs/experiments.md, each between its markers.
"""

import json
import re
import statistics
from collections import defaultdict
from pathlib import Path
from typing import Any

from plan import RESULTS, ROOT, Run, runs_by_group

DOCUMENT = ROOT / "docs" / "experiments.md"

Results = dict[str, dict[str, list[dict[str, Any]]]]


def results_of(runs: list[Run]) -> Results:
    """What there is, by corpus and name, in the order of the plan. Nothing stands beside nothing."""
    results: Results = defaultdict(lambda: defaultdict(list))
    for run in runs:
        if run.result.exists():
            result = {"seed": run.seed, "updates": run.updates, **json.loads(run.result.read_text())}
            results[run.corpus][run.name].append(result)
    started = {run.corpus for run in runs if run.saved_as is None and run.result.exists()}
    return {corpus: dict(names) for corpus, names in results.items() if corpus in started}


def weights(result: dict[str, Any]) -> dict[str, Any]:
    """The averages, if the config asks for them."""
    return result.get("averaged") or result["last"]


def summarise(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Means and standard deviations over seeds, by point."""
    points: dict[str, Any] = {}
    for point in map(str, results[0]["updates"]):
        scores = [weights(result)["points"][point] for result in results if point in weights(result)["points"]]
        numbers = {
            "dev_f": [score["tuned"]["dev_f"] for score in scores],
            "untuned_f": [score["test"]["f"] for score in scores],
            **{name: [score["tuned"]["test"][name] for score in scores] for name in ("p", "r", "f", "nested_r")},
        }
        labels = {
            label: [score["tuned"]["test"]["labels"][label] for score in scores]
            for label in scores[0]["test"]["labels"]
        }
        points[point] = {
            "seeds": [result["seed"] for result in results],
            **{name: {"mean": statistics.mean(v), "sd": statistics.pstdev(v)} for name, v in numbers.items()},
            "labels": {label: statistics.mean(values) for label, values in labels.items()},
        }
    return points


HEADER = ["", "updates", "seeds", "dev F", "test P", "test R", "test F", "±", "nested R", "lowest label"]


def table(summaries: dict[str, dict[str, Any]]) -> str:
    """One row a run and point."""
    rows = []
    for name, points in summaries.items():
        for point, numbers in points.items():
            label = min(numbers["labels"], key=lambda label: numbers["labels"][label])
            values = [_percent(numbers[key]["mean"]) for key in ("dev_f", "p", "r", "f")]
            rows.append(
                [
                    name,
                    f"{int(point):,}",
                    str(len(numbers["seeds"])),
                    *values,
                    _percent(numbers["f"]["sd"]) if len(numbers["seeds"]) > 1 else "",
                    _percent(numbers["nested_r"]["mean"]),
                    f"{label} {_percent(numbers['labels'][label])}",
                ]
            )
    return markdown(HEADER, rows)


def tuned(summaries: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Of every system, which is what a name begins with up to a comma, the run that is best on dev in the end; of those
    with as many seeds as any."""

    def rank(name: str) -> tuple[int, float]:
        last = list(summaries[name].values())[-1]
        return len(last["seeds"]), last["dev_f"]["mean"]

    systems: dict[str, list[str]] = defaultdict(list)
    for name in summaries:
        systems[name.partition(",")[0]].append(name)
    return {best: summaries[best] for best in (max(names, key=rank) for names in systems.values())}


def markdown(header: list[str], rows: list[list[str]]) -> str:
    """Names left, numbers right."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def plot(results: dict[str, list[dict[str, Any]]], title: str, path: Path) -> None:
    """Dev F over updates: the mean over seeds, and the range."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    many = len(results) > 5
    figure, axes = pyplot.subplots(figsize=(9 if many else 6, 3.6))
    for name, runs in results.items():
        # A run of another group may have gone on for longer.
        curves = [[at for at in weights(run)["curve"] if at["updates"] <= run["updates"][-1]] for run in runs]
        updates = [at["updates"] for at in min(curves, key=len)]
        values = [[100 * curve[i]["f"] for curve in curves] for i in range(len(updates))]
        (line,) = axes.plot(updates, [statistics.mean(v) for v in values], marker="o", markersize=3, label=name)
        axes.fill_between(
            updates, [min(v) for v in values], [max(v) for v in values], alpha=0.15, color=line.get_color()
        )
    axes.set_xlabel("updates")
    axes.set_ylabel("dev F")
    axes.set_title(title)
    # Many names would hide the curves.
    axes.legend(frameon=False, **({"loc": "upper left", "bbox_to_anchor": (1, 1)} if many else {}))
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def fill(document: str, name: str, text: str) -> str:
    """Put a table between its markers, if the document has them."""
    pattern = re.compile(rf"(<!-- {re.escape(name)} -->\n).*?(<!-- end -->)", re.DOTALL)
    return pattern.sub(lambda match: f"{match[1]}{text}\n{match[2]}", document)


def main() -> None:
    document = DOCUMENT.read_text()
    for group, runs in runs_by_group().items():
        results = results_of(runs)
        summary = {
            corpus: {name: summarise(found) for name, found in names.items()} for corpus, names in results.items()
        }
        if not summary:
            continue
        (RESULTS / f"{group}.json").write_text(json.dumps(summary, indent=1) + "\n")
        for corpus, names in summary.items():
            document = fill(document, f"{group} {corpus}", table(names))
            document = fill(document, f"{group} {corpus} tuned", table(tuned(names)))
            plot(results[corpus], f"{group}: {corpus}", RESULTS / f"{group}-{corpus}.png")
            print(f"{group}, {corpus}\n{table(names)}\n")
    DOCUMENT.write_text(document)


if __name__ == "__main__":
    main()
