"""Pictures of statistics. The only module of the package that needs matplotlib."""

from collections.abc import Callable
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure

from ..evaluation.statistics import Statistics, in_ranges

# Labels in a plot, the most frequent ones; lengths and depths that have bars of their own.
MAX_LABELS = 25
MAX_LENGTH = 20
MAX_DEPTH = 8

# Different for color-blind eyes and in gray.
_COLORS = ("#2b5c8a", "#e9a23b", "#7fb08a", "#b5525c", "#8d7bb0", "#9a9a9a")
# The share of the room between two ticks that bars take.
_BAR = 0.8


def save_plots(parts: list[Statistics], whole: Statistics, folder: Path) -> list[Path]:
    """Draw lengths, depths, labels, and which label is in which, into PNG files."""
    figures = {
        "lengths.png": draw_lengths(parts),
        "depth.png": draw_depths(parts),
        "labels.png": draw_labels(parts, whole),
        "nesting.png": draw_nesting(whole),
    }
    for name, figure in figures.items():
        figure.savefig(folder / name, dpi=120)
    return [folder / name for name in figures]


def draw_lengths(parts: list[Statistics]) -> Figure:
    """The share of mentions of every length."""
    return _bars(
        "Length of mentions", "words", parts, lambda part: in_ranges(part.lengths, tuple(range(1, MAX_LENGTH + 1)))
    )


def draw_depths(parts: list[Statistics]) -> Figure:
    """The share of mentions at every depth."""
    return _bars(
        "Nesting of mentions",
        "depth; 1 is inside no other mention",
        parts,
        lambda part: in_ranges(part.depths, tuple(range(1, MAX_DEPTH + 1))),
    )


def draw_labels(parts: list[Statistics], whole: Statistics) -> Figure:
    """The share of mentions with every label."""
    labels, note = _labels(whole)
    return _bars("Labels of mentions" + note, "", parts, lambda part: {label: part.labels[label] for label in labels})


def draw_nesting(whole: Statistics) -> Figure:
    """How often each label is directly inside each other: a heat map with the numbers."""
    labels, note = _labels(whole)
    numbers = [[whole.inside[outer, inner] for inner in labels] for outer in labels]
    size = 2 + 0.65 * len(labels), 1.8 + 0.55 * len(labels)
    figure, axes = _figure("Mentions directly inside others" + note, *size)
    # Roots, or one frequent pair would leave all others white.
    norm = PowerNorm(0.5, vmin=0, vmax=max(1, *map(max, numbers)))
    axes.imshow(numbers, cmap="Blues", norm=norm, aspect="auto")
    for y, row in enumerate(numbers):
        for x, n in enumerate(row):
            if n:
                axes.text(x, y, f"{n:,}", ha="center", va="center", color="white" if norm(n) > 0.6 else "black")
    axes.set_xticks(range(len(labels)), labels)
    axes.set_yticks(range(len(labels)), labels)
    axes.tick_params(length=0)
    _slant(axes, labels)
    axes.set_xlabel("inner label")
    axes.set_ylabel("outer label")
    return figure


def _labels(whole: Statistics) -> tuple[list[str], str]:
    """The labels to show, and a note if there are more."""
    labels = [label for label, _ in whole.labels.most_common(MAX_LABELS)]
    return labels, f", {len(labels)} of {len(whole.labels)} labels" if len(labels) < len(whole.labels) else ""


def _bars(title: str, xlabel: str, parts: list[Statistics], count: Callable[[Statistics], dict[str, int]]) -> Figure:
    """Side by side, in percent of the mentions of each part, so that parts of any size can be compared."""
    counts = [count(part) for part in parts]
    n_names = max(i for i, name in enumerate(counts[0], 1) if any(some[name] for some in counts))
    names = list(counts[0])[:n_names]
    figure, axes = _figure(title, max(5, 1.5 + len(names) * max(0.4, 0.16 * len(parts))), 3.8)
    width = _BAR / len(parts)
    for i, (part, some) in enumerate(zip(parts, counts)):
        places = [x - _BAR / 2 + (i + 0.5) * width for x in range(len(names))]
        shares = [100 * some[name] / max(1, part.mentions) for name in names]
        axes.bar(places, shares, width, color=_COLORS[i % len(_COLORS)], label=f"{part.name} ({part.mentions:,})")
    axes.set_xticks(range(len(names)), names)
    _slant(axes, names)
    axes.set_xlabel(xlabel)
    axes.set_ylabel("% of mentions")
    axes.margins(x=0.02)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    return figure


def _slant(axes: Axes, names: list[str]) -> None:
    """Tilt long names below an axis, which would run into each other."""
    if max(map(len, names)) > 5:
        axes.tick_params(axis="x", labelrotation=35)
        for label in axes.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor")


def _figure(title: str, width: float, height: float) -> tuple[Figure, Axes]:
    """Made without pyplot, which keeps figures and needs a display."""
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    axes.set_title(title, fontsize=11)
    return figure, axes
