"""The factory nested_ner, with its default config: nlp.add_pipe("nested_ner")."""

from collections.abc import Callable
from typing import Any, Literal

from spacy.language import Language
from thinc.api import Config, Model

from ..decoders import AutoDecoder, Decoder
from .component import NestedNER
from .registry import decoder_of

DEFAULT_CONFIG = """
[nested_ner]
spans_key = "sc"
incorrect_spans_key = null
threshold = null
temperature = 1.0
label_smoothing = 0.0
missing_rate = 0.5
max_span_length = "auto"
use_sentences = true
learn_rate_scale = 1.0
decoder = "AutoDecoder"

[nested_ner.model]
@architectures = "spacy-nested-ner.SpanScorer.v1"
hidden_width = 64
gated = true
subword_width = 64
subword_rows = 10000
same_words = true

[nested_ner.model.tok2vec]
@architectures = "spacy.Tok2Vec.v2"

[nested_ner.model.tok2vec.embed]
@architectures = "spacy-nested-ner.KnownWordsEmbed.v1"
width = 96
rows = [20000, 1000, 2500, 1000]
attrs = ["NORM", "PREFIX", "SUFFIX", "SHAPE"]
include_static_vectors = false
unknown_rate = 0.2

[nested_ner.model.tok2vec.encode]
@architectures = "spacy.MaxoutWindowEncoder.v2"
width = 96
window_size = 1
maxout_pieces = 3
depth = 4

[nested_ner.scorer]
@scorers = "spacy-nested-ner.nested_ner_scorer.v1"
"""


@Language.factory(
    "nested_ner",
    assigns=["doc.spans"],
    default_config=Config().from_str(DEFAULT_CONFIG)["nested_ner"],
    default_score_weights={
        "spans_sc_f": 1.0,
        "spans_sc_p": 0.0,
        "spans_sc_r": 0.0,
        "spans_sc_per_type": None,
        "spans_sc_first_level_f": None,
        "spans_sc_nested_f": None,
        "spans_sc_per_depth": None,
    },
)
def make_nested_ner(
    nlp: Language,
    name: str,
    model: Model,
    decoder: Decoder | AutoDecoder | str | dict[str, Any],
    spans_key: str,
    incorrect_spans_key: str | None,
    threshold: float | None,
    temperature: float,
    label_smoothing: float,
    missing_rate: float,
    max_span_length: int | Literal["auto"] | None,
    use_sentences: bool,
    learn_rate_scale: float,
    scorer: Callable | None,
) -> NestedNER:
    """Find mentions inside mentions.

    model (Model): Docs and segments to span scores: one of the span scorers.
    decoder (Decoder | AutoDecoder | str | dict[str, Any]): The search space, or what chooses one when training
        starts: a block with @misc; a name such as "CubicDecoder"; or settings of QuadraticDecoder.
    spans_key (str): Mentions are written to and read from `doc.spans[spans_key]`.
    incorrect_spans_key (str | None): The key of spans that are known not to be mentions; None for `spans_key`
        followed by "_incorrect".
    threshold (float | None): None for the most probable analysis. With a number between 0 and 1, the well-formed
        analysis with the highest sum of (probability - threshold) over its mentions.
    temperature (float): Scores are divided by this in prediction, not in training. Above 1 makes the component less
        certain, below 1 more. `spacy nested-ner calibrate` finds it.
    label_smoothing (float): The share of a gold mention that goes to other labels of the same span.
    missing_rate (float): The share of mentions missing from incomplete docs
        (`doc.spans[spans_key].attrs["incomplete"] = True`): above 0, up to 1.
    max_span_length (int | "auto" | None): Tokens of the longest mention to look for; None for no limit. "auto" takes
        the shortest limit that keeps 99.9 % of the mentions in the training data and 90 % of those of every label,
        and keeps all mentions of up to 20 tokens.
    use_sentences (bool): Decode sentence by sentence, where docs have sentence boundaries.
    learn_rate_scale (float): The component's learning rate is that of the optimizer times this. A transformer that
        it listens to keeps the rate of the optimizer.
    scorer (Callable | None): How predictions are scored.
    """
    return NestedNER(
        nlp.vocab,
        model,
        decoder_of(decoder),
        name,
        spans_key=spans_key,
        incorrect_spans_key=incorrect_spans_key,
        threshold=threshold,
        temperature=temperature,
        label_smoothing=label_smoothing,
        missing_rate=missing_rate,
        max_span_length=max_span_length,
        use_sentences=use_sentences,
        learn_rate_scale=learn_rate_scale,
        scorer=scorer,
    )
