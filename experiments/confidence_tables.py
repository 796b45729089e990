"""Tables of calibration, thresholds and the ranking of errors."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from confidence import SYSTEMS, Confidence
from markup import markdown, percent

from spacy_nested_ner.evaluation import error_by_chance

THRESHOLDS = (0.2, 0.3, 0.4, 0.5)


def calibration_table(results: Confidence) -> str:
    rows = []
    for pair, seeds in results.items():
        for name in SYSTEMS:
            for state in next(iter(seeds.values()))[name]:
                found = [systems[name][state] for systems in seeds.values()]
                temperatures = "–".join(f"{t:.2f}" for t in _ends(numbers.get("temperature") for numbers in found))
                given = f"{state}, temperature {temperatures}" if temperatures else state
                rows.append([pair, name, given, str(len(found)), *_errors(found)])
    return markdown(["", "", "", "runs", "ECE", "highest", "by chance"], rows)


def short_calibration_table(results: Confidence) -> str:
    states = [("spancat", "as trained"), ("nested_ner", "as trained"), ("nested_ner", "calibrated")]
    rows = [
        [pair, *(_errors([systems[name][state] for systems in seeds.values()])[0] for name, state in states)]
        for pair, seeds in results.items()
    ]
    return markdown(["", "spancat", "nested_ner", "calibrated"], rows)


def _errors(found: list[dict[str, Any]]) -> list[str]:
    """The calibration error: mean, highest, and what exact probabilities have by chance."""
    errors = [numbers["calibration"]["ece"] for numbers in found]
    chance = [error_by_chance(numbers["calibration"]["bins"]) for numbers in found]
    return [f"{value:.3f}" for value in (np.mean(errors), max(errors), np.mean(chance))]


def _ends(values: Iterable[float | None]) -> list[float]:
    """The lowest and the highest; nothing if there are none."""
    found = [value for value in values if value is not None]
    return [min(found), max(found)] if found else []


def thresholds_table(results: Confidence) -> str:
    """What a lower threshold gains in nested mentions and what it costs, for the runs where this is known."""
    rows = []
    for pair, seeds in results.items():
        for name in SYSTEMS:
            for threshold in THRESHOLDS:
                at = [row for systems in seeds.values() if name in systems for row in _curve(systems[name])]
                # The oldest results have no nested recall.
                at = [row for row in at if row["threshold"] == threshold and "nested_r" in row]
                if at:
                    values = [percent(np.mean([row[key] for row in at])) for key in ("p", "r", "f", "nested_r")]
                    rows.append([pair, name, f"{threshold:.1f}", str(len(at)), *values])
    return markdown(["", "", "threshold", "runs", "P", "R", "F", "nested R"], rows)


def dominance_table(results: Confidence) -> str:
    """For how many runs the curve of nested_ner lies on or above that of spancat."""
    rows = []
    for pair, seeds in results.items():
        above = [dominates(_curve(systems["nested_ner"]), _curve(systems["spancat"])) for systems in seeds.values()]
        rows.append([pair, str(len(above)), str(sum(above))])
    return markdown(["", "runs", "nested_ner above spancat"], rows)


def dominates(curve: list[dict[str, float]], other: list[dict[str, float]]) -> bool:
    """Whether the curve lies on or above every point of the other one whose recall it reaches."""
    recalls, precisions = zip(*sorted((row["r"], row["p"]) for row in curve))
    within = [row for row in other if recalls[0] <= row["r"] <= recalls[-1]]
    return all(np.interp(row["r"], recalls, precisions) >= row["p"] for row in within)


def _curve(states: dict[str, Any]) -> list[dict[str, float]]:
    return states["as trained"]["thresholds"]


def ranking_table(results: Confidence) -> str:
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
    return markdown(["", "order", "runs", "sentences for half", "area", "words for half", "area"], rows)
