"""Checks of the component's settings, and warnings about pipelines in which it will not work well."""

from typing import Literal

from spacy.language import Language
from thinc.api import Model

from .._warn import warn


def check_keys(spans_key: str, incorrect_spans_key: str | None) -> None:
    """Raise an error if correct and incorrect mentions would share a key."""
    if incorrect_spans_key == spans_key:
        raise ValueError(
            f"spans_key and incorrect_spans_key are both {spans_key!r}; expected one key for mentions and another for "
            f"spans that are not mentions, or null for {spans_key + '_incorrect'!r}"
        )


def check_threshold(threshold: float | None) -> None:
    """Raise an error if a threshold is out of range."""
    if threshold is not None and not 0 <= threshold <= 1:
        raise ValueError(f"threshold is {threshold}; expected a number between 0 and 1, or null for the best analysis")


def check_temperature(temperature: float) -> None:
    """Raise an error if a temperature is out of range."""
    if not 0 < temperature < float("inf"):
        raise ValueError(f"temperature is {temperature}; expected a number above 0; 1 leaves probabilities as is")


def check_settings(
    *,
    threshold: float | None,
    temperature: float,
    label_smoothing: float,
    missing_rate: float,
    max_span_length: int | Literal["auto"] | None,
    learn_rate_scale: float,
) -> None:
    """Raise an error if a setting is out of range."""
    check_threshold(threshold)
    check_temperature(temperature)
    if not 0 <= label_smoothing < 1:
        raise ValueError(f"label_smoothing is {label_smoothing}; expected a number from 0 to less than 1, 0 for none")
    if not 0 < missing_rate <= 1:
        raise ValueError(
            f"missing_rate is {missing_rate}; expected a number above 0 and up to 1, the share of mentions missing "
            f"from incomplete docs"
        )
    if isinstance(max_span_length, int) and max_span_length < 1:
        raise ValueError(
            f'max_span_length is {max_span_length}; expected 1 or more tokens, "auto" for the longest mention of the '
            f"training data, or null for no limit"
        )
    if not learn_rate_scale > 0:
        raise ValueError(
            f"learn_rate_scale is {learn_rate_scale}; expected a number above 0; 1 is the optimizer's own rate"
        )


def warn_about_score_weights(nlp: Language | None, spans_key: str) -> None:
    """Warn if the score of this key would not be shown during training.

    nlp (Language | None): The pipeline.
    spans_key (str): Where the component writes its mentions.
    """
    if nlp is None or spans_key == "sc":
        return
    weights = (nlp.config.get("training") or {}).get("score_weights") or {}
    if f"spans_{spans_key}_f" not in weights:
        warn(
            f"nested_ner writes to doc.spans[{spans_key!r}], but [training.score_weights] does not name "
            f"spans_{spans_key}_f: its column would stay at 0.00 and no best model would be found. Add "
            f"`spans_{spans_key}_f = 1.0` and `spans_sc_f = null` to that section"
        )


def warn_about_idle_upstream(nlp: Language | None) -> None:
    """Warn if a tok2vec or transformer is trained and run for nothing.

    nlp (Language | None): The pipeline.
    """
    pipes = nlp.pipeline if nlp is not None else []
    shared = [name for name, pipe in pipes if hasattr(pipe, "listener_map")]
    models = [getattr(pipe, "model", None) for _, pipe in pipes]
    nodes = [node for model in models if isinstance(model, Model) for node in model.walk()]
    if shared and not any(hasattr(node, "upstream_name") for node in nodes):
        warn(
            f"the pipeline has {' and '.join(shared)}, but no component listens to it: nested_ner has a tok2vec of "
            f"its own. Set [components.nested_ner.model.tok2vec] to @architectures = "
            f'"spacy.Tok2VecListener.v1" or "spacy-transformers.TransformerListener.v1", or leave {shared[0]} out'
        )
