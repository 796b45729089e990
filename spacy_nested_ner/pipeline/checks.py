"""Checks of the component's settings, and warnings about pipelines in which it will not work well."""

from typing import Literal

from spacy.language import Language
from thinc.api import Model

from .._warn import warn
from ..decoders import SpanLayout
from ..decoders.decoder import check_temperature, check_threshold, is_number

# From so many bytes on, scores may leave too little memory for everything else.
_MUCH_MEMORY = 2.0**31


def check_keys(spans_key: str, incorrect_spans_key: str | None) -> None:
    """Raise an error if correct and incorrect mentions would share a key, or one is no name."""
    if not isinstance(spans_key, str) or not isinstance(incorrect_spans_key, str | None):
        wrong, key = ("", spans_key) if not isinstance(spans_key, str) else ("incorrect_", incorrect_spans_key)
        raise ValueError(f"{wrong}spans_key is {key!r}; expected a name, a key of doc.spans")
    if incorrect_spans_key == spans_key:
        raise ValueError(
            f"spans_key and incorrect_spans_key are both {spans_key!r}; expected one key for mentions and another for "
            f"spans that are not mentions, or null for {spans_key + '_incorrect'!r}"
        )


def check_settings(
    *,
    threshold: float | None,
    temperature: float,
    label_smoothing: float,
    missing_rate: float,
    max_span_length: int | Literal["auto"] | None,
    use_sentences: bool,
    learn_rate_scale: float,
) -> None:
    """Raise an error if a setting is out of range."""
    check_threshold(threshold)
    check_temperature(temperature)
    if not (is_number(label_smoothing) and 0 <= label_smoothing < 1):
        raise ValueError(f"label_smoothing is {label_smoothing}; expected a number from 0 to less than 1, 0 for none")
    if not (is_number(missing_rate) and 0 < missing_rate <= 1):
        raise ValueError(
            f"missing_rate is {missing_rate}; expected a number above 0 and up to 1, the share of mentions missing "
            f"from incomplete docs"
        )
    is_limit = type(max_span_length) is int and max_span_length >= 1
    if not (is_limit or max_span_length == "auto" or max_span_length is None):
        raise ValueError(
            f'max_span_length is {max_span_length}; expected 1 or more tokens, "auto" to choose by the training data, '
            f"or null for no limit"
        )
    if not isinstance(use_sentences, bool):
        raise ValueError(f"use_sentences is {use_sentences!r}; expected true or false")
    if not (is_number(learn_rate_scale) and learn_rate_scale > 0):
        raise ValueError(
            f"learn_rate_scale is {learn_rate_scale}; expected a number above 0; 1 is the optimizer's own rate"
        )


def check_memory(layout: SpanLayout, n_labels: int, copies: int = 1) -> None:
    """Raise an error if the scores of all spans cannot fit into memory, and warn if they need much of it.

    copies (int): How many such arrays are needed at once.
    """
    layout.check_memory(n_labels, copies)
    size = layout.bytes_of_scores(n_labels, copies)
    if size >= _MUCH_MEMORY:
        warn(
            f"the scores of {layout.n_tokens:,} tokens with spans of up to {layout.longest_span:,} tokens and "
            f"{n_labels} labels need {size / 2**30:.1f} GiB. To need less, set max_span_length, split the text into "
            f"sentences, or make smaller batches"
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
