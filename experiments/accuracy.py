"""Accuracy: means and deviations over seeds, and their tables."""

import statistics
from collections import Counter, defaultdict
from typing import Any

from markup import markdown, percent
from plan import Run
from results import Result, load

# Results by corpus and name; summaries by name and point.
Results = dict[str, dict[str, list[Result]]]
Summaries = dict[str, dict[str, Any]]


def results_of(runs: list[Run]) -> Results:
    """The results there are, in the order of the plan; none for a corpus with nothing but reused runs."""
    saved = {group: load(group) for group in {(run.source or run).group for run in runs}}
    results: Results = defaultdict(lambda: defaultdict(list))
    started = set()
    for run in runs:
        source = run.source or run
        if source.key in saved[source.group]:
            result = {**saved[source.group][source.key], "seed": run.seed, "updates": run.updates}
            results[run.corpus][run.name].append(result)
            if source is run:
                started.add(run.corpus)
    return {corpus: dict(names) for corpus, names in results.items() if corpus in started}


def weights(result: Result) -> dict[str, Any]:
    """The averages, if the config asks for them."""
    return result.get("averaged") or result["last"]


def summarize(results: list[Result]) -> dict[str, Any]:
    """Means and standard deviations over seeds, for each point: of test data, or of dev where test was left alone."""
    points: dict[str, Any] = {}
    for point in map(str, results[0]["updates"]):
        scores = [weights(result)["points"][point] for result in results if point in weights(result)["points"]]
        part = "test" if all("test" in score for score in scores) else "dev"
        tuned = [score["tuned"][part] for score in scores]
        numbers = {
            "dev_f": [score["tuned"]["dev_f"] for score in scores],
            "untuned_f": [score[part]["f"] for score in scores],
            **{name: [each[name] for each in tuned] for name in ("p", "r", "f", "nested_r")},
        }
        points[point] = {
            "part": part,
            "seeds": [result["seed"] for result in results],
            **{name: {"mean": statistics.mean(v), "sd": statistics.pstdev(v)} for name, v in numbers.items()},
            "labels": {label: statistics.mean(each["labels"][label] for each in tuned) for label in tuned[0]["labels"]},
        }
    return points


def best_on_dev(summaries: Summaries) -> Summaries:
    """For each system, which a name begins with up to a comma: the run with the best dev F at its last point, among
    those with the most seeds."""

    def rank(name: str) -> tuple[int, float]:
        last = list(summaries[name].values())[-1]
        return len(last["seeds"]), last["dev_f"]["mean"]

    systems: dict[str, list[str]] = defaultdict(list)
    for name in summaries:
        systems[name.partition(",")[0]].append(name)
    return {best: summaries[best] for best in (max(names, key=rank) for names in systems.values())}


def accuracy_table(summaries: Summaries) -> str:
    """One row per run and point."""
    parts = {numbers["part"] for points in summaries.values() for numbers in points.values()}
    # Without test data, dev F is in the table once.
    columns = {"dev_f": "dev F", **{key: f"test {key.upper()}" for key in ("p", "r", "f")}}
    if parts == {"dev"}:
        columns = {key: f"dev {key.upper()}" for key in ("p", "r", "f")}
    header = ["", "updates", "seeds", *columns.values(), "±", "nested R", "lowest label"]
    rows = []
    for name, points in summaries.items():
        for point, numbers in points.items():
            label = min(numbers["labels"], key=lambda label: numbers["labels"][label])
            n_seeds = len(numbers["seeds"])
            rows.append(
                [
                    name,
                    f"{int(point):,}",
                    str(n_seeds),
                    *(percent(numbers[key]["mean"]) for key in columns),
                    percent(numbers["f"]["sd"]) if n_seeds > 1 else "",
                    percent(numbers["nested_r"]["mean"]),
                    f"{label} {percent(numbers['labels'][label])}",
                ]
            )
    return markdown(header, rows)


def short_table(summaries: Summaries) -> str:
    """One row per run, with its points side by side."""
    rows = []
    for name, points in summaries.items():
        means = [[percent(at[key]["mean"]) for at in points.values()] for key in ("dev_f", "f", "nested_r")]
        rows.append([name, *map(" / ".join, means)])
    return markdown(["", "dev F", "test F", "nested R"], rows)


def dev_table(by_corpus: dict[str, Summaries]) -> str:
    """Dev F at the last point: one row per run that all corpora have, one column per corpus."""
    rows = [
        [name, *(percent(list(summaries[name].values())[-1]["dev_f"]["mean"]) for summaries in by_corpus.values())]
        for name in next(iter(by_corpus.values()), ())
        if all(name in summaries for summaries in by_corpus.values())
    ]
    return markdown(["dev F", *by_corpus], rows)


def averaging(runs: list[Run]) -> str:
    """How often averaged weights are better."""
    results = {group: load(group) for group in {run.group for run in runs}}
    found = [results[run.group][run.key] for run in runs if run.key in results[run.group]]
    pairs = [
        (point["dev"]["f"], result["last"]["points"][updates]["dev"]["f"])
        for result in found
        if {"averaged", "last"} <= set(result)
        for updates, point in result["averaged"]["points"].items()
    ]
    better = sum(averaged > last for averaged, last in pairs)
    return f"Averaged weights have the higher dev F at {better} of {len(pairs)} points (no threshold tuned)."


def not_run(runs: list[Run], corpus: str) -> str:
    """The runs of the plan that have no result."""
    own = [run for run in runs if run.corpus == corpus and not run.source]
    done = load(own[0].group)
    counts = Counter(run.name for run in own if run.key not in done)
    names = [f"{name} ({n} seed{'s' * (n > 1)})" for name, n in counts.items()]
    return f"Planned, but not run: {'; '.join(names)}." if names else ""
