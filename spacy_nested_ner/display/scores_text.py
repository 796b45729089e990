"""Scores as text: of one pipeline, of several, and before and after calibration."""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from ..evaluation import calibration
from ..evaluation.calibration import Calibration
from ..evaluation.scores import DifferenceRow, DifferenceTable, Estimate, ScoreRow, ScoreTable
from ..evaluation.thresholds import ThresholdChoice, ThresholdScore
from .tables import UNDEFINED, Cells, percent, render_table, score_cells

# The columns of a comparison, and how the names of these scores end in what `spacy evaluate` writes.
COMPARED = {"P": "p", "R": "r", "F": "f", "first level F": "first_level_f", "nested F": "nested_f"}
# How many thresholds to show on each side of the best one.
SHOWN_NEAR = 2


def describe_scores(numbers: dict[str, Any]) -> str:
    """Precision, recall and F: overall, by level and by label.

    numbers (dict[str, Any]): What `measure` gives.
    """
    names = {"all": "all", "first_level": "first level", "nested": "nested"}
    rows = [*((names[key], row) for key, row in numbers["scores"].items()), *numbers["by_label"].items()]
    cells = [(name, f"{row['gold']:,}", *score_cells(row)) for name, row in rows]
    return render_table(cells, ["", "mentions", "P", "R", "F"])


def describe_table(table: ScoreTable) -> str:
    """Precision, recall and F in percent with their intervals, and how the intervals were made."""

    def cells(row: ScoreRow) -> list[str]:
        return [f"{row.gold:,}", f"{row.found:,}", *map(_with_interval, (row.p, row.r, row.f))]

    return "\n\n".join([_grouped_table(table.rows, cells, ["gold", "found", "P", "R", "F"]), "\n".join(_notes(table))])


def _notes(table: ScoreTable) -> list[str]:
    documents, resampling = table.documents, table.resampling
    level = f"{100 * resampling.confidence:g} %"
    lines = []
    if any(row.group == "depth" and row.name != "1" for row in table.rows):
        lines.append("By level and depth: P of the mentions found there, R of the gold mentions there")
    if documents < 2:
        lines.append("In %, without intervals: these need two or more documents to resample")
    elif not resampling.n:
        lines.append("In %, without intervals")
    else:
        estimates = (estimate for row in table.rows for estimate in (row.p, row.r, row.f))
        if any(estimate.value is not None and estimate.low is None for estimate in estimates):
            lines.append("Without an interval: what depends on a single document")
        lines.append(
            f"In %, with {level} intervals from {resampling.n:,} bootstrap resamples of {documents:,} documents"
        )
    if table.unaligned:
        lines.append(
            f"{table.unaligned:,} mentions found begin or end inside a token of the gold; they are in no score"
        )
    return lines


def describe_difference(table: DifferenceTable) -> str:
    """The differences in F between two pipelines, A and B, with intervals and p-values, and how they were made."""

    def cells(row: DifferenceRow) -> list[str]:
        interval = ""
        if row.difference.low is not None and row.difference.high is not None:
            interval = f"{_signed(row.difference.low)} to {_signed(row.difference.high)}"
        p_value = UNDEFINED if row.p_value is None else "<0.001" if row.p_value < 0.0005 else f"{row.p_value:.3f}"
        scores = (_percent(row.f), _percent(row.other_f), _signed(row.difference.value))
        return [f"{row.gold:,}", *scores, interval, p_value]

    level = f"{100 * table.resampling.confidence:g} %"
    text = _grouped_table(table.rows, cells, ["gold", "F of A", "F of B", "A − B", level, "p"])
    if table.documents < 2 or not table.resampling.n:
        return text
    return (
        f"{text}\n\nInterval: paired bootstrap, {table.resampling.n:,} resamples of {table.documents:,} documents\n"
        f"p: two-sided, approximate randomization by document, for each row alone"
    )


def _grouped_table(rows: Sequence[Any], cells: Callable[[Any], list[str]], header: Sequence[str]) -> str:
    """One row per kind of mention, with a blank line before every other way to divide them. Depth 1 is the first
    level, which has a row already."""
    names: dict[str, Callable[[str], str]] = {
        "depth": "depth {}".format,
        "length": lambda name: "1 word" if name == "1" else f"{name} words",
        "level": lambda name: name.replace("_", " "),
    }
    shown = [row for row in rows if (row.group, row.name) != ("depth", "1")]
    lines: list[list[str]] = []
    for group, some in groupby(shown, key=lambda row: "" if row.group in ("all", "level") else row.group):
        lines += [[""] * (len(header) + 1)] if group else []
        lines += [[names.get(row.group, str)(row.name), *cells(row)] for row in some]
    return "\n".join(line.rstrip() for line in render_table(lines, ["", *header]).splitlines())


def _with_interval(estimate: Estimate) -> str:
    """Always as wide, so that scores and intervals are columns."""
    known = estimate.low is not None and estimate.high is not None
    interval = f"{_percent(estimate.low)}–{_percent(estimate.high)}" if known else ""
    return f"{_percent(estimate.value)} {interval:>9}"


def _percent(share: float | None) -> str:
    """Short: 100, not 100.0."""
    if share is None:
        return UNDEFINED
    return percent(share).replace("100.0", "100")


def _signed(share: float | None) -> str:
    return UNDEFINED if share is None else f"{100 * share:+.1f}".replace("-", "−")


def comparison_rows(scores: dict[str, dict[str, float | None]]) -> Cells:
    """One row per evaluation: its name, and what `COMPARED` names in percent.

    scores (dict[str, dict[str, float | None]]): By name, see `read_scores`.
    """
    return [
        [name, *("" if (value := found[ending]) is None else percent(value, 2) for ending in COMPARED.values())]
        for name, found in scores.items()
    ]


def describe_calibration(result: Calibration) -> str:
    """The numbers before and after, and what to be careful about."""
    before, after, choice = result.before, result.after, result.threshold
    rows = [
        ("temperature", f"{before.temperature:.3f}", f"{after.temperature:.3f}"),
        ("negative log-likelihood, nats per sentence", f"{before.nll:.4f}", f"{after.nll:.4f}"),
        ("log loss, nats per mention", f"{before.log_loss:.4f}", f"{after.log_loss:.4f}"),
        ("expected calibration error", f"{before.ece:.4f}", f"{after.ece:.4f}"),
        ("… by chance, if probabilities were exact", f"{before.by_chance:.4f}", f"{after.by_chance:.4f}"),
    ]
    if choice is not None:
        cells = zip(_threshold_cells(choice.before), _threshold_cells(choice.after))
        rows += [(name, *pair) for name, pair in zip(("threshold", "P", "R", "F"), cells)]
    text = render_table(rows, [f"{result.mentions:,} mentions found", "before", "after"])
    if choice is not None:
        text += f"\n\n{_describe_choice(choice)}"
    if result.left_out:
        text += f"\n\n{result.left_out:,} documents left out: incomplete, without tokens, or not annotated"
    if result.at_limit:
        text += (
            f"\n\nThe temperature is at the end of its range, {calibration.LOWEST} to {calibration.HIGHEST}, so these "
            f"data are too few or too easy, or the model is poor. Calibrate on more data before you trust the result"
        )
    return text


def _describe_choice(choice: ThresholdChoice) -> str:
    """The scores without a threshold and near the best one, and why this one was chosen or not."""
    place = choice.scores.index(choice.best)
    near = choice.scores[max(1, place - SHOWN_NEAR) : place + SHOWN_NEAR + 1]
    rows = [_threshold_cells(score) for score in (choice.scores[0], *near)]
    return f"{render_table(rows, ['threshold', 'P', 'R', 'F'])}\n\n{_reason(choice)}"


def _reason(choice: ThresholdChoice) -> str:
    best, gain = choice.best, choice.gain
    if not gain.value or gain.value < 0:
        return "No threshold is set: none of those from 0.05 to 0.95 has a higher F"
    points = f"{_signed(gain.value)} points of F"
    if gain.low is None:
        return (
            f"No threshold is set: the best one, {best.threshold:g}, gives {points}, but fewer than two documents with "
            f"mentions cannot tell a gain from chance. Tune it on more documents"
        )
    points += f" (95 %: {_signed(gain.low)} to {_signed(gain.high)})"
    if choice.after == best:
        return f"The threshold is set to {best.threshold:g}: {points}"
    return f"No threshold is set: the best one, {best.threshold:g}, gives {points}, which may be chance"


def _threshold_cells(score: ThresholdScore) -> list[str]:
    threshold = "none" if score.threshold is None else f"{score.threshold:g}"
    return [threshold, *map(percent, (score.p, score.r, score.f))]
