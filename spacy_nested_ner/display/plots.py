"""Plots as SVG text: two axes from 0 to 1, lines, points, bars."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

Point = tuple[float, float]

# Pixels of the square between the axes, and of the margins around it.
SIZE = 260
LEFT, TOP, RIGHT, BOTTOM = 48, 14, 16, 44

# Colors are variables of the style sheet, which has light and dark ones.
P_COLOR, R_COLOR, F_COLOR = "var(--blue)", "var(--orange)", "var(--ink)"
# What is drawn against the threshold: the key of a row, its name and its color.
Curve = tuple[str, str, str]
CURVES: tuple[Curve, ...] = (
    ("p", "precision", P_COLOR),
    ("r", "recall", R_COLOR),
    ("f", "F", F_COLOR),
    ("nested_r", "nested recall", "var(--green)"),
)
ORDER_COLORS = {"entropy": "var(--blue)", "length": "var(--orange)", "best": "var(--gray)"}
_BAR_COLOR = "var(--bar)"
_DASH_COLOR = "var(--gray)"


def draw_precision_recall(rows: Sequence[dict[str, Any]], here: dict[str, Any]) -> str:
    """The curve over all thresholds, with a mark where the settings of the pipeline are."""
    points = [(row["r"], row["p"]) for row in rows]
    marks = [_dot(point, P_COLOR, f"threshold {row['threshold']:.2f}") for point, row in zip(points, rows)]
    named = []
    for row, point in zip(rows, points):
        if round(row["threshold"] * 100) in (5, 50, 95):
            named.append(_text(point, f"{row['threshold']:.2f}", dx=8, dy=-6, size=11, color=P_COLOR))
    own = (here["r"], here["p"])
    parts = [_line(points, P_COLOR), *marks, *named, _diamond(own)]
    return _plot("Precision and recall at every threshold", "recall", "precision", parts)


def draw_thresholds(rows: Sequence[dict[str, Any]], best: float | None, curves: Iterable[Curve] = CURVES) -> str:
    """Precision, recall, F and recall of nested mentions against the threshold."""
    parts = []
    if best is not None:
        parts.append(_line([(best, 0), (best, 1)], _DASH_COLOR, dashed=True))
    for key, _, color in curves:
        parts.append(_line([(row["threshold"], row[key]) for row in rows], color))
    return _plot("Precision, recall and F against the threshold", "threshold", "score", parts)


def draw_calibration(bins: Sequence[dict[str, Any]]) -> str:
    """The share that is right against the probability; bars show how many mentions a bin has."""
    used = [row for row in bins if row["mentions"]]
    most = max((row["mentions"] for row in used), default=1)
    parts = [
        _bar(row["from"], row["to"], 0.3 * row["mentions"] / most, f"{row['mentions']:,} mentions") for row in used
    ]
    parts.append(_line([(0, 0), (1, 1)], _DASH_COLOR, dashed=True))
    points = [(row["probability"], row["correct"]) for row in used]
    # The fewer mentions a bin has, the less its point means: areas are proportional to the numbers.
    for point, row in zip(points, used):
        radius = max(2, 7 * (row["mentions"] / most) ** 0.5)
        parts.append(_dot(point, P_COLOR, f"{row['mentions']:,} mentions", radius=round(radius, 1)))
    return _plot("Share of right mentions against their probability", "probability", "share that is right", parts)


def draw_ranking(orders: dict[str, dict[str, Any]], unit: str) -> str:
    """The share of errors found against the share of the text read, in every order; the diagonal is chance."""
    parts = [_line([(0, 0), (1, 1)], _DASH_COLOR, dashed=True)]
    for name in reversed(ORDER_COLORS):
        curve = orders[name]["curve"]
        parts.append(_line([(k / (len(curve) - 1), share) for k, share in enumerate(curve)], ORDER_COLORS[name]))
    return _plot(f"Errors found, by {unit} read", f"share of {unit} read", "share of errors found", parts)


def _plot(title: str, xlabel: str, ylabel: str, parts: Iterable[str]) -> str:
    width, height = LEFT + SIZE + RIGHT, TOP + SIZE + BOTTOM
    grid = []
    for tick in (0, 0.2, 0.4, 0.6, 0.8, 1):
        x, y = _place((tick, tick))
        grid.append(f'<path d="M{x} {TOP}V{TOP + SIZE}M{LEFT} {y}H{LEFT + SIZE}" stroke="var(--line)"/>')
        grid.append(f'<text x="{x}" y="{TOP + SIZE + 17}" text-anchor="middle">{tick:g}</text>')
        grid.append(f'<text x="{LEFT - 7}" y="{y + 4}" text-anchor="end">{tick:g}</text>')
    middle = TOP + SIZE / 2
    return "\n".join(
        [
            f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
            f"<title>{escape(title)}</title>",
            *grid,
            f'<text x="{LEFT + SIZE / 2}" y="{height - 6}" text-anchor="middle" class="axis">{escape(xlabel)}</text>',
            f'<text transform="translate(13 {middle}) rotate(-90)" text-anchor="middle" class="axis">'
            f"{escape(ylabel)}</text>",
            *parts,
            f'<path d="M{LEFT} {TOP}V{TOP + SIZE}H{LEFT + SIZE}" stroke="var(--axis)" fill="none"/>',
            "</svg>",
        ]
    )


def _place(point: Point) -> tuple[float, float]:
    return round(LEFT + point[0] * SIZE, 1), round(TOP + (1 - point[1]) * SIZE, 1)


def _line(points: Sequence[Point], color: str, *, dashed: bool = False) -> str:
    path = " ".join("{},{}".format(*_place(point)) for point in points)
    dashes = ' stroke-dasharray="4 4"' if dashed else ""
    width = 1 if dashed else 2
    return f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="{width}"{dashes}/>'


def _dot(point: Point, color: str, title: str, *, radius: float = 3) -> str:
    x, y = _place(point)
    return f'<circle cx="{x}" cy="{y}" r="{radius}" fill="{color}"><title>{escape(title)}</title></circle>'


def _diamond(point: Point) -> str:
    x, y = _place(point)
    return (
        f'<path d="M{x} {y - 8}L{x + 8} {y}L{x} {y + 8}L{x - 8} {y}Z" '
        f'fill="var(--red)" stroke="var(--page)" stroke-width="1.5">'
        f"<title>the pipeline as it is</title></path>"
    )


def _bar(start: float, end: float, height: float, title: str) -> str:
    x, y = _place((start, height))
    width = round((end - start) * SIZE - 2, 1)
    return (
        f'<rect x="{x + 1}" y="{y}" width="{width}" height="{round(height * SIZE, 1)}" fill="{_BAR_COLOR}">'
        f"<title>{escape(title)}</title></rect>"
    )


def _text(point: Point, text: str, *, dx: float, dy: float, size: int, color: str) -> str:
    x, y = _place(point)
    return f'<text x="{x + dx}" y="{y + dy}" style="font-size: {size}px; fill: {color}">{escape(text)}</text>'
