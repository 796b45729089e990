"""Learning curves, over updates and over sizes, calibration, and precision over recall. Needs the extra `plots`."""

import statistics
from pathlib import Path
from typing import Any

from accuracy import weights
from leads import Pair
from matplotlib.figure import Figure
from results import Result
from sizes import AFTER, BEFORE, test_f


def plot_curves(results: dict[str, list[Result]], title: str, path: Path) -> None:
    """Dev F over updates: the mean over seeds, and the range."""
    figure = Figure(figsize=(6, 3.6))
    axes = figure.subplots()
    for name, runs in results.items():
        # A run of another group may be longer.
        curves = [[at for at in weights(run)["curve"] if at["updates"] <= run["updates"][-1]] for run in runs]
        updates = [at["updates"] for at in min(curves, key=len)]
        values = [[100 * curve[i]["f"] for curve in curves] for i in range(len(updates))]
        (line,) = axes.plot(updates, [statistics.mean(v) for v in values], marker="o", markersize=3, label=name)
        low, high = [min(v) for v in values], [max(v) for v in values]
        axes.fill_between(updates, low, high, alpha=0.15, color=line.get_color())
    axes.set(xlabel="updates", ylabel="dev F", title=title)
    _finish(figure, path)


def plot_sizes(corpora: dict[str, dict[int, Pair]], path: Path) -> None:
    """Test F over the number of sentences, one panel per corpus: the mean over seeds, and a dot for each of them."""
    figure = Figure(figsize=(9, 3.6))
    panels = figure.subplots(1, len(corpora), squeeze=False)[0]
    for axes, (title, pairs) in zip(panels, corpora.items()):
        for name in (BEFORE, AFTER):
            scores = {size: test_f(pair)[name == AFTER] for size, pair in pairs.items()}
            means = [100 * statistics.mean(of_size) for of_size in scores.values()]
            (line,) = axes.plot(list(scores), means, label=name)
            for size, of_size in scores.items():
                dots = [100 * score for score in of_size]
                axes.plot([size] * len(dots), dots, "o", markersize=3, color=line.get_color())
        axes.set_xscale("log")
        axes.set_xticks(list(pairs), [f"{size:,}" for size in pairs])
        axes.minorticks_off()
        axes.set(xlabel="sentences", ylabel="test F", title=title)
    _finish(figure, path)


def plot_confidence(systems: dict[str, Any], title: str, path: Path) -> None:
    """Reliability on the left, precision over recall on the right."""
    figure = Figure(figsize=(9, 4))
    left, right = figure.subplots(1, 2)
    left.plot([0, 1], [0, 1], color="gray", linewidth=0.8)
    for name, states in systems.items():
        for state, numbers in states.items():
            rows = numbers["calibration"]["bins"]
            label = f"{name}, {state}" if len(states) > 1 else name
            left.plot([row["probability"] for row in rows], [row["correct"] for row in rows], marker="o", label=label)
        points = states["as trained"]["thresholds"]
        right.plot([row["r"] for row in points], [row["p"] for row in points], marker="o", markersize=3, label=name)
    left.set(xlabel="probability", ylabel="share correct", title=f"{title}: calibration")
    right.set(xlabel="recall", ylabel="precision", title=f"{title}: over thresholds")
    _finish(figure, path)


def _finish(figure: Figure, path: Path) -> None:
    for axes in figure.axes:
        axes.legend(frameon=False)
        axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
