"""Scores as text: of one pipeline, of several, and before and after calibration."""

from typing import Any

from ..evaluation import calibration
from ..evaluation.calibration import Calibration
from .advice import calibration_advice
from .tables import Cells, percent, render_table, score_cells

# The columns of a comparison, and how the names of these scores end in what `spacy evaluate` writes.
COMPARED = {"P": "p", "R": "r", "F": "f", "first level F": "first_level_f", "nested F": "nested_f"}


def describe_scores(numbers: dict[str, Any]) -> str:
    """Precision, recall and F: overall, by level and by label.

    numbers (dict[str, Any]): What `measure` gives.
    """
    names = {"all": "all", "first_level": "first level", "nested": "nested"}
    rows = [*((names[key], row) for key, row in numbers["scores"].items()), *numbers["by_label"].items()]
    cells = [(name, f"{row['gold']:,}", *score_cells(row)) for name, row in rows]
    return render_table(cells, ["", "mentions", "P", "R", "F"])


def describe_confidence(numbers: dict[str, Any]) -> str:
    """The settings that decide what is found, how well calibrated the probabilities are, and what to do about it.

    numbers (dict[str, Any]): What is in report.json.
    """
    calibration = numbers["calibration"]
    lines = [f"{name + ':':<20}{value}" for name, value in settings_facts(numbers["settings"])]
    if calibration["ece"] is not None:
        by_chance = f"({percent(calibration['by_chance'])} % by chance, if probabilities were exact)"
        lines.append(f"{'Calibration error:':<20}{percent(calibration['ece'])} % {by_chance}")
    if advice := calibration_advice(numbers):
        lines += ["", *filter(None, advice)]
    return "\n".join(lines)


def settings_facts(settings: dict[str, Any] | None) -> list[tuple[str, str]]:
    """Names and values of the settings of nested_ner, for people; nothing for another component.

    settings (dict[str, Any] | None): What is in report.json.
    """
    if settings is None:
        return []
    length, threshold, temperature = (settings[name] for name in ("max_span_length", "threshold", "temperature"))
    return [
        ("Decoder", settings["decoder"]),
        ("Longest mention", "no limit" if length is None else f"{length} tokens"),
        ("Threshold", "none (the most probable analysis)" if threshold is None else f"{threshold:g}"),
        ("Temperature", "1 (not calibrated)" if temperature == 1 else f"{temperature:.3g}"),
    ]


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
    before, after = result.before, result.after
    rows = [
        ("temperature", f"{before.temperature:.3f}", f"{after.temperature:.3f}"),
        ("negative log-likelihood, nats per sentence", f"{before.nll:.4f}", f"{after.nll:.4f}"),
        ("log loss, nats per mention", f"{before.log_loss:.4f}", f"{after.log_loss:.4f}"),
        ("expected calibration error", f"{before.ece:.4f}", f"{after.ece:.4f}"),
        ("… by chance, if probabilities were exact", f"{before.by_chance:.4f}", f"{after.by_chance:.4f}"),
    ]
    text = render_table(rows, [f"{result.mentions:,} mentions found", "before", "after"])
    if result.left_out:
        text += f"\n\n{result.left_out:,} documents left out: incomplete, without tokens, or not annotated"
    if result.at_limit:
        text += (
            f"\n\nThe temperature is at the end of its range, {calibration.LOWEST} to {calibration.HIGHEST}: "
            f"look at the model or the data"
        )
    return text
