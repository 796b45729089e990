"""The pipe: glue between spaCy, the model, the gold and the decoders."""

import logging
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
from spacy.errors import Errors
from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc, Span, SpanGroup
from spacy.training import Example, validate_examples
from spacy.vocab import Vocab
from thinc.api import Model, Optimizer, set_dropout_rate
from thinc.types import Floats2d

from .._warn import warn
from ..annotation import Segment, sentence_bounds
from ..decoders import (
    AutoDecoder,
    Decoder,
    Mention,
    PackedScores,
    QuadraticDecoder,
    SpanLayout,
    decoder_from_settings,
)
from ..decoders.auto import Choice
from .checks import (
    check_keys,
    check_settings,
    check_temperature,
    warn_about_idle_upstream,
    warn_about_score_weights,
)
from .gold import GoldReader
from .loss import crf_loss
from .lost import Lost
from .prediction import Prediction, ScoredDocs
from .survey import check_mentions_found, survey_examples
from .unseen import UnseenGold

# Taken when max_span_length is "auto" and no training data has a mention.
_SPAN_LENGTH_WITHOUT_DATA = 10
# Default of arguments: use the component's setting.
_AS_SET: Any = object()
# Below spaCy's own logger, so that it has the same handler. The command line shows its messages, scripts do not.
_logger = logging.getLogger("spacy.nested_ner")


class NestedNER(TrainablePipe):
    """A pipe that writes nested mentions to `doc.spans`, with their probabilities.

    `doc.spans[key].attrs` holds "scores", the marginal probability of every mention in the group's order;
    "log_probability" of the whole analysis; and "entropy" of the distribution it was taken from.

    Usually made by `nlp.add_pipe("nested_ner", config={…})`. What the settings mean is on the page of the component.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: Model,
        decoder: Decoder | AutoDecoder,
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
        check_keys(spans_key, incorrect_spans_key)
        check_settings(
            threshold=threshold,
            temperature=temperature,
            label_smoothing=label_smoothing,
            missing_rate=missing_rate,
            max_span_length=max_span_length,
            learn_rate_scale=learn_rate_scale,
        )
        self.vocab = vocab
        self.model = model
        self.name = name
        # What chooses the decoder, if the config leaves it open.
        self.auto_decoder = decoder if isinstance(decoder, AutoDecoder) else None
        self._decoder = decoder if isinstance(decoder, Decoder) else None
        self.scorer = scorer
        self._unseen = UnseenGold()
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
            "label_counts": {},
            "chosen_decoder": None,
            "decoder_choice": None,
        }

    # ---- settings ----

    @property
    def key(self) -> str:
        return str(self.cfg["spans_key"])

    @property
    def incorrect_key(self) -> str:
        return str(self.cfg["incorrect_spans_key"] or f"{self.key}_incorrect")

    @property
    def decoder(self) -> Decoder:
        """The search space. A ValueError if an AutoDecoder has yet to choose it."""
        if self._decoder is None:
            raise (self.auto_decoder or AutoDecoder()).not_chosen()
        return self._decoder

    @decoder.setter
    def decoder(self, decoder: Decoder) -> None:
        if not isinstance(decoder, Decoder):
            raise TypeError(f"decoder is {decoder!r}; expected a FlatDecoder, QuadraticDecoder or CubicDecoder")
        self._decoder = decoder
        if self.auto_decoder is not None:  # otherwise the config says which one to load
            self.cfg["chosen_decoder"] = decoder.settings()
            self.cfg["decoder_choice"] = None

    @property
    def decoder_choice(self) -> Choice | None:
        """What AutoDecoder chose by the training data, with the numbers that decided it.

        RETURNS (Choice | None): None if the config or a script names a decoder, or there was no mention to choose by.
        """
        if self.auto_decoder is None or self.cfg["decoder_choice"] is None:
            return None
        return Choice(decoder_from_settings(self.cfg["chosen_decoder"]), **self.cfg["decoder_choice"])

    @property
    def threshold(self) -> float | None:
        """The setting; None takes the most probable analysis. Change it with `pipe.cfg["threshold"]`."""
        threshold: float | None = self.cfg["threshold"]
        return threshold

    @property
    def temperature(self) -> float:
        """What scores are divided by in prediction. It can be set."""
        return float(self.cfg["temperature"])

    @temperature.setter
    def temperature(self, temperature: float) -> None:
        check_temperature(temperature)
        self.cfg["temperature"] = temperature

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that the component knows."""
        return tuple(self.cfg["labels"])

    @property
    def label_data(self) -> list[str]:
        """What `spacy init labels` saves."""
        return list(self.labels)

    @property
    def span_limit(self) -> int | None:
        """Tokens of the longest span that is scored."""
        limit: int | Literal["auto"] | None = self.cfg["max_span_length"]
        if limit != "auto":
            return limit
        return self.cfg["longest_gold_mention"] or _SPAN_LENGTH_WITHOUT_DATA

    def add_label(self, label: str) -> int:
        """Add a label, before or after training.

        label (str): The label.
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

    def predict(
        self, docs: Iterable[Doc], *, threshold: float | None = _AS_SET, temperature: float = _AS_SET
    ) -> list[Prediction]:
        """The mentions of every doc. Docs are not changed.

        docs (Iterable[Doc]): Docs with the vectors of tok2vec or the transformer, such as those of `nlp(text)`.
        threshold (float | None): Instead of the setting.
        temperature (float): Instead of the setting.
        RETURNS (list[Prediction]): One per doc: mentions, their probabilities, log-probability and entropy.
        """
        docs = list(docs)
        if not any(len(doc) for doc in docs):
            return [Prediction([], [], 0.0, 0.0) for _ in docs]
        return self.scores(docs).predict(
            threshold=self.threshold if threshold is _AS_SET else threshold,
            temperature=self.temperature if temperature is _AS_SET else temperature,
        )

    def scores(self, docs: Iterable[Doc]) -> ScoredDocs:
        """The score of every span of some docs: the network runs once, and any number of analyses can be decoded
        from what it gives, at any threshold and temperature.

        docs (Iterable[Doc]): Docs with the vectors of tok2vec or the transformer, such as those of `nlp(text)`.
        RETURNS (ScoredDocs): `predict(threshold=…, temperature=…)` decodes them, `packed()` gives the scores.
        """
        docs = list(docs)
        decoder = self._ready_decoder()
        segments, layout = self._segmented(docs)
        if not layout.n_tokens:
            return ScoredDocs(decoder, PackedScores(np.zeros((len(self.labels), 0), dtype="float32"), layout), segments)
        return ScoredDocs(decoder, self._packed(self.model.predict((docs, layout)), layout), segments)

    def set_annotations(self, docs: Iterable[Doc], predictions: Iterable[Prediction]) -> None:
        """Write mentions, their probabilities, and the log-probability and entropy of the analysis.

        docs (Iterable[Doc]): Docs to change.
        predictions (Iterable[Prediction]): What `predict` gives for them.
        """
        for doc, prediction in zip(docs, predictions):
            spans = [Span(doc, m.start, m.end, label=self.labels[m.label]) for m in prediction.mentions]
            attrs = {
                "scores": np.asarray(prediction.probabilities, dtype="float32"),
                "log_probability": prediction.log_probability,
                "entropy": prediction.entropy,
            }
            doc.spans[self.key] = SpanGroup(doc, name=self.key, spans=spans, attrs=attrs)

    def segments(self, doc: Doc) -> list[Segment]:
        """The bounds of the segments of a doc, which are decoded one by one."""
        return sentence_bounds(doc, use_sentences=self.cfg["use_sentences"])

    def _ready_decoder(self) -> Decoder:
        """The decoder of a component that has been initialized; spaCy's error if it has not."""
        if not self.model.has_dim("nO"):
            raise ValueError(Errors.E109.format(name=self.name))
        return self.decoder

    def _segmented(self, docs: list[Doc]) -> tuple[list[list[Segment]], SpanLayout]:
        segments = [self.segments(doc) for doc in docs]
        lengths = (end - start for of_doc in segments for start, end in of_doc)
        return segments, SpanLayout(lengths, self.span_limit)

    def _packed(self, values: Floats2d, layout: SpanLayout) -> PackedScores:
        """From wherever the model runs to where the decoders run."""
        return PackedScores(self.model.ops.to_numpy(values), layout)

    # ---- training ----

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: list[str] | None = None,
    ) -> None:
        """Learn labels and the longest mention from the data, and report what cannot be learned.

        get_examples (Callable): Gives representative examples. Called once.
        nlp (Language | None): The pipeline.
        labels (list[str] | None): Labels from `spacy init labels`; otherwise those of the data.
        """
        for label in labels or ():
            self.add_label(label)
        survey = survey_examples(get_examples, self.gold_reader(), self.segments)
        self.cfg["longest_gold_mention"] = survey.longest or None
        self.cfg["label_counts"] = survey.label_counts
        if labels is None:
            for label in survey.label_counts:
                self.add_label(label)
        check_mentions_found(survey, self.key, self.labels)
        lost, reader = Lost(), self.gold_reader()
        segments = survey.place(reader, lost)
        if self.auto_decoder is not None:
            self._choose_decoder(self.auto_decoder, segments)
        for mentions, n_tokens in segments:
            reader.project(mentions, n_tokens, self.decoder, lost)
        self._unseen.add_reported(lost)
        if lost:
            warn(lost.describe(self.decoder, self.span_limit, auto=self.auto_decoder))
        warn_about_score_weights(nlp, self.key)
        warn_about_idle_upstream(nlp)
        if survey.sample:
            _, layout = self._segmented(survey.sample)
            Y = self.model.ops.alloc2f(len(self.labels), layout.n_spans)
            self.model.initialize(X=(survey.sample, layout), Y=Y)
        else:
            self.model.set_dim("nO", len(self.labels), force=True)
            self.model.initialize()

    def _choose_decoder(self, auto: AutoDecoder, segments: list[tuple[list[Mention], int]]) -> None:
        """By the mentions that fit tokens, segments and the span limit; no decoder can recover the others."""
        choice = auto.choose(segments, self.span_limit)
        self.decoder = QuadraticDecoder() if choice is None else choice.decoder
        self.cfg["decoder_choice"] = None if choice is None else choice.counts()
        _logger.info("%s: %s", self.name, choice or "QuadraticDecoder, without a gold mention to choose by")

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
        decoder = self._ready_decoder()
        set_dropout_rate(self.model, drop)
        docs = [example.predicted for example in examples]
        segments, layout = self._segmented(docs)
        values, backprop = self.model.begin_update((docs, layout))
        loss, d_values = self.get_loss(examples, ScoredDocs(decoder, self._packed(values, layout), segments))
        backprop(d_values)
        if sgd is not None:
            self.finish_update(sgd)
        losses[self.name] += loss
        return losses

    def finish_update(self, sgd: Optimizer) -> None:
        """Update the weights, at this component's own learning rate."""
        rate = sgd.learn_rate
        sgd.learn_rate = rate * self.cfg["learn_rate_scale"]
        try:
            self.model.finish_update(sgd)
        finally:
            sgd.learn_rate = rate

    def get_loss(self, examples: Iterable[Example], scores: ScoredDocs) -> tuple[float, Floats2d]:
        """Negative log-likelihood of what is known of the examples, and its gradient."""
        lost, reader = Lost(), self.gold_reader()
        gold = [
            known
            for example, segments in zip(examples, scores.segments)
            for known in reader.read(example, segments, scores.decoder, lost)
        ]
        self._unseen.warn(self.name, lost, scores.decoder, self.span_limit, known=self.cfg["label_counts"])
        loss, gradient = crf_loss(scores.decoder, scores.packed(), gold, label_smoothing=self.cfg["label_smoothing"])
        return loss, self.model.ops.asarray2f(cast(Floats2d, gradient))

    def gold_reader(self) -> GoldReader:
        """Reads what this component can learn from examples."""
        return GoldReader(
            self.key,
            self.incorrect_key,
            self.labels,
            self.span_limit,
            self.cfg["missing_rate"],
            # Empty in components saved by earlier versions: conflicts are then settled by the names of labels.
            self.cfg["label_counts"],
        )

    # ---- loading ----

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "NestedNER":
        """Load the pipe from a directory."""
        return self._load(lambda: super(NestedNER, self).from_disk(path, exclude=exclude), str(path))

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> "NestedNER":
        """Load the pipe from bytes."""
        return self._load(lambda: super(NestedNER, self).from_bytes(bytes_data, exclude=exclude), "the given bytes")

    def _load(self, load: Callable[[], Any], source: str) -> "NestedNER":
        # The decoder comes from the config, unless the config leaves it open; the rest must fit together.
        try:
            load()
            if self.auto_decoder is not None:
                chosen = self.cfg["chosen_decoder"]
                self._decoder = decoder_from_settings(chosen) if chosen else None
        except FileNotFoundError:
            raise
        except Exception as error:
            raise ValueError(
                f"cannot load the component {self.name!r} from {source}: {error}. The files are damaged, or were saved "
                f"with a model other than the one in the config"
            ) from error
        if self.model.has_dim("nO") and self.model.get_dim("nO") != len(self.labels):
            raise ValueError(
                f"the component {self.name!r} in {source} has {len(self.labels)} labels in its cfg, but a model for "
                f"{self.model.get_dim('nO')}: its files do not belong together"
            )
        return self
