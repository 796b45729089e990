"""What to do about probabilities that cannot be trusted, as text."""

from typing import Any

from ..evaluation.confidence import is_miscalibrated
from .tables import percent


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
    key = "" if numbers["spans_key"] == "sc" else f" --spans-key {numbers['spans_key']}"
    path = numbers["path"]
    return text, f"spacy nested-ner calibrate {path} DEV --output {path.rstrip('/')}-calibrated{key}"
