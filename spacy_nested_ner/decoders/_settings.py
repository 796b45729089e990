"""Checks of settings, made where a value enters."""

from typing import Any

import numpy as np


def check_whole(name: str, value: Any, least: int, otherwise: str = "") -> int:
    """A whole number as a Python int; an error that names the value otherwise."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} is {value!r}; expected a whole number, {least} or more{otherwise}")
    if value < least:
        raise ValueError(f"{name} is {value}; expected {least} or more{otherwise}")
    return int(value)


def check_limit(max_span_length: Any) -> int | None:
    if max_span_length is None:
        return None
    return check_whole("max_span_length", max_span_length, 1, ", or None for no limit")
