"""How far the probabilities of a pipeline can be trusted, and what to do about it, as text."""

from shlex import quote
from typing import Any

from ..evaluation.confidence import is_miscalibrated
from .tables import percent


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


def calibration_advice(numbers: dict[str, Any]) -> tuple[str, str | None] | None:
    """What is wrong with the probabilities, and the command that corrects them, if there is one; None if nothing is.

    numbers (dict[str, Any]): What is in report.json.
    RETURNS (tuple[str, str | None] | None): A sentence or two, and a command.
    """
    calibration, settings = numbers["calibration"], numbers["settings"]
    if not is_miscalibrated(calibration):
        return None
    text = (
        f"The probabilities cannot be trusted: the calibration error is {percent(calibration['ece'])} %. If they were "
        f"exact, it would be below {percent(calibration['chance_limit'])} % in 99 of 100 cases."
    )
    if settings is None:
        return text, None
    if settings["temperature"] != 1:
        text += (
            f" The pipeline has been calibrated (temperature {settings['temperature']:.2f}), but on data unlike these, "
            "or on too few. To calibrate it again, with development data like these in place of DEV:"
        )
    else:
        text += " To calibrate the pipeline, with your development data in place of DEV:"
    key = "" if numbers["spans_key"] == "sc" else f" --spans-key {quote(numbers['spans_key'])}"
    path = numbers["path"].rstrip("/")
    return text, f"spacy nested-ner calibrate {quote(path)} DEV --output {quote(path + '-calibrated')}{key}"
