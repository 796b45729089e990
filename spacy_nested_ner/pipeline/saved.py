"""What was saved with a component: whether it can be right, and which of its settings the config overrides."""

from collections.abc import Mapping
from math import isclose
from typing import Any

import numpy as np
from thinc.api import Model

from .._warn import warn
from ..decoders.auto import Choice
from ..decoders.span_limit import LimitChoice
from .checks import check_keys, check_settings

SETTINGS = (
    "spans_key",
    "incorrect_spans_key",
    "threshold",
    "temperature",
    "label_smoothing",
    "missing_rate",
    "max_span_length",
    "use_sentences",
    "learn_rate_scale",
)
"""What a config sets, of all that is in the cfg of a component. The rest is learned."""

# Where cfg has what the config said when the component was saved.
CONFIGURED = "configured"

REMEDY = "use model-best or an older copy, or train again with a lower learning rate"


def nothing_learned() -> dict[str, Any]:
    """What is in the cfg of a component besides its settings, before training."""
    return {
        "labels": [],
        "longest_gold_mention": None,  # written by earlier versions, where it was the limit
        "span_limit_choice": None,
        "label_counts": {},
        "chosen_decoder": None,
        "decoder_choice": None,
    }


def apply_config(name: str, cfg: dict[str, Any], config: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
    """Let settings of the config count that differ from those with which a component was saved: somebody changed them
    in the config, or overrides them. All others are as they were when it was saved, since a temperature is calibrated,
    and settings can be changed in Python.

    name (str): The name of the component, for a warning.
    cfg (dict[str, Any]): As it was saved; changed here.
    config (Mapping[str, Any]): The settings that the component was constructed with.
    defaults (Mapping[str, Any]): The settings of a component that is not configured.
    """
    saved = cfg[CONFIGURED]
    if isinstance(saved, dict):
        changed = (setting for setting in SETTINGS if not _same(config[setting], saved.get(setting)))
        cfg.update({setting: config[setting] for setting in changed})
        return
    # Earlier versions did not save it. A default says nothing then.
    for setting in SETTINGS:
        if not any(_same(config[setting], other) for other in (cfg[setting], defaults[setting])):
            warn(
                f"{setting} = {config[setting]!r} in the config of {name} is ignored: the component was saved by an "
                f"earlier version with {cfg[setting]!r}, which may have been changed on purpose. Load and save it "
                f"once without this setting to make it count, or set it with `configure`"
            )


def _same(one: Any, other: Any) -> bool:
    """Whether settings are equal. Older versions of spaCy read 0.7 from a file as 0.7000000000000001."""
    return one == other or (isinstance(one, float) and isinstance(other, float) and isclose(one, other))


def check_saved(cfg: Mapping[str, Any]) -> None:
    """Raise an error if something in a cfg cannot be right. The settings are checked as in a new component."""
    check_labels(cfg["labels"])
    check_keys(cfg["spans_key"], cfg["incorrect_spans_key"])
    check_settings(**{name: cfg[name] for name in SETTINGS if name not in ("spans_key", "incorrect_spans_key")})
    counts = cfg["label_counts"]
    if not isinstance(counts, dict) or not all(map(_is_count, counts.values())):
        raise ValueError(f"label_counts is {counts!r:.60}; expected a number of mentions for every label")
    longest = cfg["longest_gold_mention"]
    if longest is not None and not (_is_count(longest) and longest > 0):
        raise ValueError(f"longest_gold_mention is {longest!r:.60}; expected 1 or more tokens, or null")
    for name, fields in (("span_limit_choice", LimitChoice._fields), ("decoder_choice", Choice._fields[1:])):
        _check_counts(name, cfg[name], fields)
    if cfg["chosen_decoder"] is not None and not isinstance(cfg["chosen_decoder"], dict):
        raise ValueError(
            f"chosen_decoder is {cfg['chosen_decoder']!r:.60}; expected the settings of a decoder, or null"
        )


def check_labels(labels: Any) -> None:
    """Raise an error for what cannot be the labels of a component."""
    expected = "expected a list of different names"
    if not isinstance(labels, list):
        raise ValueError(f"labels is {labels!r:.60}; {expected}")
    seen: set[str] = set()
    for label in labels:
        if not isinstance(label, str) or not label:
            raise ValueError(f"labels has {label!r:.60}; {expected}")
        if label in seen:
            raise ValueError(f"labels has {label!r:.60} twice; {expected}")
        seen.add(label)


def check_weights(model: Model) -> None:
    """Raise an error if a weight is not a finite number."""
    for node in model.walk():
        for name in node.param_names:
            if not node.has_param(name):
                continue
            weights = node.ops.to_numpy(node.get_param(name))
            finite = np.isfinite(weights)
            if not finite.all():
                raise ValueError(
                    f"the weights {name!r} of its layer {node.name!r} have {weights[~finite][0]}; training has "
                    f"diverged, or the file is damaged: {REMEDY}"
                )


def _check_counts(name: str, value: Any, fields: tuple[str, ...]) -> None:
    if value is None:
        return
    if not isinstance(value, dict) or set(value) != set(fields) or not all(map(_is_count, value.values())):
        raise ValueError(f"{name} is {value!r:.60}; expected whole numbers for {', '.join(fields)}, or null")


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
