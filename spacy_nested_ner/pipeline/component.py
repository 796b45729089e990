"""The pipe: nlp.add_pipe("nested_ner")."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np
from spacy.errors import Errors
from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc, Span, SpanGroup
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.util import logger
from spacy.vocab import Vocab
from thinc.api import Config, Model, Optimizer, set_dropout_rate
from thinc.types import Floats2d

from ..decoders import AutoDecoder, Decoder, Mention, PackedScores, QuadraticDecoder, SpanLayout
from ..decoders.auto import from_settings, settings_of
from .checks import check_keys, check_settings, warn_about_idle_upstream, warn_about_score_weights
from .gold import (
    Lost,
    check_contradictions,
    gold_of_segments,
    incorrect_of_segments,
    labelled_spans,
    mentions_of_segments,
    missing_rate_of,
    on_predicted,
)
from .incomplete import Incomplete
from .loss import crf_loss
from .prediction import Prediction, analyse

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

[nested_ner.decoder]
@misc = "spacy-nested-ner.QuadraticDecoder.v1"
max_short_child = 1
multi_label = false

[nested_ner.model]
@architectures = "spacy-nested-ner.SpanScorer.v1"
hidden_width = 128
gated = true
subword_width = 64
subword_rows = 20000
same_words = true

[nested_ner.model.tok2vec]
@architectures = "spacy.Tok2Vec.v2"

[nested_ner.model.tok2vec.embed]
@architectures = "spacy.MultiHashEmbed.v2"
width = 96
rows = [5000, 1000, 2500, 1000]
attrs = ["NORM", "PREFIX", "SUFFIX", "SHAPE"]
include_static_vectors = false

[nested_ner.model.tok2vec.encode]
@architectures = "spacy.MaxoutWindowEncoder.v2"
width = 96
window_size = 1
maxout_pieces = 3
depth = 4

[nested_ner.scorer]
@scorers = "spacy-nested-ner.nested_ner_scorer.v1"
"""

# Taken when max_span_length is "auto" and no training data has a mention.
_SPAN_LENGTH_WITHOUT_DATA = 10


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
    decoder: Decoder,
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
) -> "NestedNER":
    """Find mentions inside mentions.

    model (Model): Docs and segments to span scores: one of the span scorers.
    decoder (Decoder): The search space.
    spans_key (str): Where mentions are written to and read from: `doc.spans[spans_key]`.
    incorrect_spans_key (str | None): Where spans are that are known not to be mentions; None for
        `spans_key` with "_incorrect" after it.
    threshold (float | None): None for the most probable analysis; a number between 0 and 1 for the
        well-formed analysis whose mentions are above it by most, in sum.
    temperature (float): Scores are divided by this before prediction, not in training: above 1 makes the
        component less certain, below 1 more. `spacy nested-ner calibrate` finds it.
    label_smoothing (float): Share of a gold mention that goes to other labels of the same span.
    missing_rate (float): The share of mentions that is missing from docs that say they are incomplete
        (`doc.spans[spans_key].attrs["incomplete"] = True`): above 0, up to 1.
    max_span_length (int | "auto" | None): Tokens of the longest mention that is looked for; "auto" for
        the longest in the training data, None for no limit.
    use_sentences (bool): Decode sentences one by one, where docs have them.
    learn_rate_scale (float): This component learns at the rate of the optimizer times this. A transformer
        that it listens to has the rate of the optimizer itself.
    scorer (Callable | None): How predictions are scored.
    """
    return NestedNER(
        nlp.vocab,
        model,
        decoder,
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


class NestedNER(TrainablePipe):
    """A pipe that writes nested mentions to `doc.spans`, with their probabilities.

    `doc.spans[key].attrs` holds "scores", the marginal probability of every mention in the group's
    order; "log_probability" of the whole analysis; and "entropy" of the distribution it was taken from.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: Model,
        decoder: Decoder,
        name: str = "nested_ner",
        *,
        spans_key: str = "sc",
        incorrect_spans_key: str | None = None,
        threshold: float | None = None,
        temperature: float = 1.0,
        label_smoothing: float = 0.0,
        missing_rate: float = 0.5,
        max_span_length: int | Literal["auto"] | None = "auto",
        use_sentences: bool = True,
        learn_rate_scale: float = 1.0,
        scorer: Callable | None = None,
    ):
        super().__init__(vocab, model, name)
        check_keys(spans_key, incorrect_spans_key)
        check_settings(threshold, temperature, label_smoothing, missing_rate, max_span_length, learn_rate_scale)
        self.decoder = decoder
        # What chooses the decoder, if the config leaves it open; `decoder` is then the one chosen.
        self.auto_decoder = decoder if isinstance(decoder, AutoDecoder) else None
        self.scorer = scorer
        self.cfg: dict[str, Any] = {
            "labels": [],
            "spans_key": spans_key,
            "incorrect_spans_key": incorrect_spans_key,
            "threshold": threshold,
            "temperature": temperature,
            "label_smoothing": label_smoothing,
            "missing_rate": missing_rate,
            "max_span_length": max_span_length,
            "use_sentences": use_sentences,
            "learn_rate_scale": learn_rate_scale,
            "longest_gold_mention": None,
            "chosen_decoder": None,
        }

    # ---- settings ----

    @property
    def key(self) -> str:
        return str(self.cfg["spans_key"])

    @property
    def incorrect_key(self) -> str:
        return str(self.cfg["incorrect_spans_key"] or f"{self.key}_incorrect")

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(self.cfg["labels"])

    @property
    def label_data(self) -> list[str]:
        """What `spacy init labels` saves."""
        return list(self.labels)

    @property
    def span_limit(self) -> int | None:
        """Tokens of the longest span that is scored."""
        limit = self.cfg["max_span_length"]
        if limit != "auto":
            return limit
        return self.cfg["longest_gold_mention"] or _SPAN_LENGTH_WITHOUT_DATA

    def add_label(self, label: str) -> int:
        """Add a label, before or after training.

        RETURNS (int): 1, or 0 if it was there already.
        """
        if not isinstance(label, str):
            raise ValueError(Errors.E187)
        if label in self.labels:
            return 0
        self._allow_extra_label()
        self.cfg["labels"].append(label)
        self.vocab.strings.add(label)
        resize = self.model.attrs.get("resize_output")
        if resize and self.model.has_dim("nO"):
            self.model = resize(self.model, len(self.labels))
        return 1

    # ---- prediction ----

    def predict(self, docs: Iterable[Doc]) -> list[Prediction]:
        """The mentions of every doc. Docs are not changed."""
        docs = list(docs)
        if not any(len(doc) for doc in docs) or not self.labels:
            return [Prediction.empty() for _ in docs]
        scores, segmented = self.scores(docs)
        analyses = analyse(self.decoder, scores, self.cfg["threshold"])
        return [Prediction.of_doc([(start, next(analyses)) for start, _ in pieces]) for pieces in segmented]

    def scores(
        self, docs: Sequence[Doc], temperature: float | None = None
    ) -> tuple[PackedScores, list[list[tuple[int, int]]]]:
        """The score of every span of a batch, as the decoders take them.

        temperature (float | None): What they are divided by; None for the setting.
        RETURNS (tuple): The scores, one row a label and segment after segment; and for every doc the
            first token and the length of each of its segments, in the same order.
        """
        segmented = [list(self._segments(doc)) for doc in docs]
        segments = SpanLayout([n for pieces in segmented for _, n in pieces], self.span_limit)
        scores = self._packed(self.model.predict((docs, segments)), segments)
        temperature = self.cfg["temperature"] if temperature is None else temperature
        return scores if temperature == 1 else scores.like(scores.values / np.float32(temperature)), segmented

    def set_annotations(self, docs: Iterable[Doc], predictions: Iterable[Prediction]) -> None:
        """Write mentions, probabilities and what is known of the whole analysis."""
        for doc, prediction in zip(docs, predictions):
            spans = [Span(doc, m.start, m.end, label=self.labels[m.label]) for m in prediction.mentions]
            attrs = {
                "scores": np.asarray(prediction.probabilities, dtype="float32"),
                "log_probability": prediction.log_probability,
                "entropy": prediction.entropy,
            }
            doc.spans[self.key] = SpanGroup(doc, name=self.key, spans=spans, attrs=attrs)

    def _segments(self, doc: Doc) -> Iterator[tuple[int, int]]:
        """Start and length of the stretches that are decoded one by one."""
        if self.cfg["use_sentences"] and doc.has_annotation("SENT_START"):
            for sentence in doc.sents:
                yield sentence.start, len(sentence)
        elif len(doc):
            yield 0, len(doc)

    def _packed(self, scores: Floats2d, segments: SpanLayout) -> PackedScores:
        """From wherever the model runs to where the decoders run."""
        return PackedScores(self.model.ops.to_numpy(scores), segments)

    # ---- training ----

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: list[str] | None = None,
    ) -> None:
        """Learn labels and the longest mention from the data, and say what of it cannot be learned.

        get_examples (Callable): Gives representative examples.
        nlp (Language | None): The pipeline.
        labels (list[str] | None): Labels from `spacy init labels`; otherwise those of the data.
        """
        validate_get_examples(get_examples, "NestedNER.initialize")
        for label in labels or ():
            self.add_label(label)
        sample: list[Doc] = []
        longest = 0
        for example in get_examples():
            if len(sample) < 10 and len(example.x):
                sample.append(example.x)
            gold = labelled_spans(example.reference, self.key)
            if labels is None:
                for span in gold:
                    self.add_label(span.label_)
            # In tokens of the predicted doc, where mentions are looked for.
            longest = max([longest, *(span.end - span.start for span in on_predicted(example, gold))])
        if not self.labels:
            raise ValueError(
                f"nested_ner found no mention in doc.spans[{self.key!r}] of the training data, and was given no "
                f"labels: set `spans_key` to where the data has its mentions, or give labels"
            )
        self.cfg["longest_gold_mention"] = longest or None
        if self.auto_decoder is not None:
            self._choose_decoder(self.auto_decoder, get_examples)
        self._warn_about_lost_gold(get_examples)
        warn_about_score_weights(nlp, self.key)
        warn_about_idle_upstream(nlp)
        if sample:
            segments = SpanLayout([n for doc in sample for _, n in self._segments(doc)], self.span_limit)
            Y = self.model.ops.alloc2f(len(self.labels), segments.n_spans)
            self.model.initialize(X=(sample, segments), Y=Y)
        else:
            self.model.set_dim("nO", len(self.labels), force=True)
            self.model.initialize()

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Learn from a batch."""
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        examples = list(examples)
        validate_examples(examples, "NestedNER.update")
        if not any(len(example.predicted) for example in examples):
            return losses
        set_dropout_rate(self.model, drop)
        docs = [example.predicted for example in examples]
        pieces = [list(self._segments(doc)) for doc in docs]
        segments = SpanLayout([n for each in pieces for _, n in each], self.span_limit)
        scores, backprop = self.model.begin_update((docs, segments))
        loss, d_scores = self.get_loss(examples, (scores, segments))
        backprop(d_scores)
        if sgd is not None:
            self.finish_update(sgd)
        losses[self.name] += loss
        return losses

    def finish_update(self, sgd: Optimizer) -> None:
        """Change the weights by what was learned, at this component's own rate."""
        rate = sgd.learn_rate
        sgd.learn_rate = rate * self.cfg["learn_rate_scale"]
        try:
            self.model.finish_update(sgd)
        finally:
            sgd.learn_rate = rate

    def get_loss(self, examples: Iterable[Example], scores: tuple[Floats2d, SpanLayout]) -> tuple[float, Floats2d]:
        """Negative log-likelihood of what is known of the examples, and its gradient."""
        values, segments = scores
        gold = [mentions for example in examples for mentions in self.gold(example)]
        loss, gradient = crf_loss(
            self.decoder, self._packed(values, segments), gold, label_smoothing=self.cfg["label_smoothing"]
        )
        return loss, self.model.ops.asarray2f(gradient)

    def gold(self, example: Example, lost: Lost | None = None) -> Iterator[list[Mention] | Incomplete | None]:
        """What is known of every segment, as `crf_loss` takes it; None if the example has no annotation."""
        segments = list(self._segments(example.predicted))
        if self.key not in example.reference.spans and self.incorrect_key not in example.reference.spans:
            return iter([None] * len(segments))
        check_contradictions(example.reference, self.key, self.incorrect_key)
        rate = missing_rate_of(example.reference, self.key, self.cfg["missing_rate"])
        gold = gold_of_segments(example, self.key, self.labels, segments, self.decoder, self.span_limit, lost)
        if rate is None:
            return gold
        incorrect = incorrect_of_segments(example, self.incorrect_key, self.labels, segments, self.span_limit)
        return (Incomplete(known, wrong, rate) for known, wrong in zip(gold, incorrect))

    def _choose_decoder(self, auto: AutoDecoder, get_examples: Callable[[], Iterable[Example]]) -> None:
        """By the gold mentions that fit tokens, segments and the span limit: no decoder can win back others."""
        annotated = (example for example in get_examples() if self.key in example.reference.spans)
        settings = (self.key, self.labels)
        choice = auto.choose(
            chain.from_iterable(
                mentions_of_segments(e, *settings, list(self._segments(e.predicted)), self.span_limit, Lost())
                for e in annotated
            ),
            self.span_limit,
        )
        if choice is None:
            self.decoder = QuadraticDecoder()
            logger.info("AutoDecoder: no gold mention to choose by; the decoder is %r", self.decoder)
        else:
            self.decoder = choice.decoder
            logger.info("AutoDecoder: %.2f %% of gold mentions are kept by %r", 100 * choice.coverage, self.decoder)
            if not choice.is_enough:
                warnings.warn(
                    f"no decoder keeps {auto.min_coverage:.2%} of the gold mentions, as AutoDecoder is asked to; "
                    f"{self.decoder!r} keeps most, {choice.coverage:.2%}. Mentions that cross are never kept",
                    UserWarning,
                    stacklevel=3,
                )
        self.cfg["chosen_decoder"] = settings_of(self.decoder)

    def _warn_about_lost_gold(self, get_examples: Callable[[], Iterable[Example]]) -> None:
        lost = Lost()
        for example in get_examples():
            for _ in self.gold(example, lost):
                pass
        if lost:
            message = lost.describe(self.decoder, self.span_limit, auto=self.auto_decoder)
            warnings.warn(message, UserWarning, stacklevel=2)

    # ---- loading ----

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "NestedNER":
        """Load the pipe from a directory."""
        return self._load(lambda: super(NestedNER, self).from_disk(path, exclude=exclude), str(path))

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> "NestedNER":
        """Load the pipe from bytes."""
        return self._load(lambda: super(NestedNER, self).from_bytes(bytes_data, exclude=exclude), "the given bytes")

    def _load(self, load: Callable[[], Any], source: str) -> "NestedNER":
        # A decoder is made from the config, not loaded, unless the config leaves it open; what else is there must
        # fit together.
        try:
            load()
            if self.auto_decoder is not None:
                chosen = self.cfg["chosen_decoder"]
                self.decoder = from_settings(chosen) if chosen else self.auto_decoder
        except FileNotFoundError:
            raise
        except Exception as error:
            raise ValueError(
                f"cannot load the component {self.name!r} from {source}: {error}. The files are damaged, or were saved "
                f"with another model than that of the config"
            ) from error
        if self.model.has_dim("nO") and self.model.get_dim("nO") != len(self.labels):
            raise ValueError(
                f"the component {self.name!r} in {source} has {len(self.labels)} labels in its cfg, but a model for "
                f"{self.model.get_dim('nO')}: its files do not belong together"
            )
        return self
