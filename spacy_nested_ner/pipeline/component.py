"""The pipe: glue between spaCy, the model, the gold and the decoders."""

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from inspect import signature
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
from ..annotation import Segment, incorrect_key_of, sentence_bounds
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
from ..decoders.decoder import check_temperature
from ..decoders.span_limit import WITHOUT_MENTIONS, LimitChoice, choose_limit, lengths_of
from .checks import check_memory, warn_about_idle_upstream, warn_about_score_weights
from .divergence import Divergence
from .gold import GoldReader
from .gold_cache import GoldCache
from .loss import crf_loss
from .lost import Lost
from .prediction import Prediction, ScoredDocs
from .saved import CONFIGURED, SETTINGS, apply_config, check_saved, check_weights, nothing_learned
from .saving import FILES, check_files
from .survey import Survey, check_mentions_found, survey_examples
from .unseen import UnseenGold

# Default of arguments: use the component's setting.
_AS_SET: Any = object()
# Prediction scores at most so many spans and labels at a time, 24 MB: arrays of this size get memory that others have
# left, larger ones get new pages from the system every time.
_SCORES_TOGETHER = 6 * 2**20
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
        self.vocab = vocab
        self.model = model
        self.name = name
        # What chooses the decoder, if the config leaves it open.
        self.auto_decoder = decoder if isinstance(decoder, AutoDecoder) else None
        self._decoder = decoder if isinstance(decoder, Decoder) else None
        self.scorer = scorer
        self._gold = GoldCache()
        self._unseen = UnseenGold()
        self._divergence = Divergence(name)
        settings = {
            "spans_key": spans_key,
            "incorrect_spans_key": incorrect_spans_key,
            "threshold": threshold,
            "temperature": temperature,
            "label_smoothing": label_smoothing,
            "missing_rate": missing_rate,
            "max_span_length": max_span_length,
            "use_sentences": use_sentences,
            "learn_rate_scale": learn_rate_scale,
        }
        self.cfg: dict[str, Any] = {**nothing_learned(), **settings, CONFIGURED: settings}
        check_saved(self.cfg)

    # ---- settings ----

    def configure(self, nlp: Language, **settings: Any) -> None:
        """Change settings here and in the config of the pipeline, so that the config that is saved shows them.

        nlp (Language): The pipeline.
        settings (Any): As in the config, such as `threshold=0.3`.
        """
        for setting in settings:
            if setting not in SETTINGS:
                raise ValueError(f"{setting!r} is no setting of the component; expected one of {', '.join(SETTINGS)}")
        check_saved({**self.cfg, **settings})
        self.cfg.update(settings)
        self.cfg[CONFIGURED] = {**self.cfg[CONFIGURED], **settings}
        nlp.get_pipe_config(self.name).update(settings)

    @property
    def key(self) -> str:
        return str(self.cfg["spans_key"])

    @property
    def incorrect_key(self) -> str:
        return str(self.cfg["incorrect_spans_key"] or incorrect_key_of(self.key))

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
        choice = self.span_limit_choice
        return self.cfg["longest_gold_mention"] or (choice.limit if choice else WITHOUT_MENTIONS)

    @property
    def span_limit_choice(self) -> LimitChoice | None:
        """What max_span_length = "auto" has chosen by the training data, with the numbers that decided it.

        RETURNS (LimitChoice | None): None if max_span_length is a number or None, or there was no mention to choose by.
        """
        choice = self.cfg["span_limit_choice"]
        return LimitChoice(**choice) if choice and self.cfg["max_span_length"] == "auto" else None

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
        threshold = self.threshold if threshold is _AS_SET else threshold
        temperature = self.temperature if temperature is _AS_SET else temperature
        found: list[Prediction] = []
        for some in self._in_parts(docs):
            scored = self.scores(some)
            with self._divergence.in_prediction(scored.scores):
                found += scored.predict(threshold=threshold, temperature=temperature)
        return found

    def scores(self, docs: Iterable[Doc]) -> ScoredDocs:
        """The score of every span of some docs: the network runs once, and any number of analyses can be decoded
        from what it gives, at any threshold and temperature.

        docs (Iterable[Doc]): Docs with the vectors of tok2vec or the transformer, such as those of `nlp(text)`.
        RETURNS (ScoredDocs): `predict(threshold=…, temperature=…)` decodes them, `packed()` gives the scores.
        """
        docs = list(docs)
        decoder = self._ready_decoder()
        segments, layout = self._segmented(docs)
        check_memory(layout, len(self.labels))
        if not layout.n_tokens:
            return ScoredDocs(decoder, PackedScores(np.zeros((len(self.labels), 0), dtype="float32"), layout), segments)
        return ScoredDocs(decoder, self._packed(self.model.predict((docs, layout)), layout), segments)

    def set_annotations(self, docs: Iterable[Doc], predictions: Iterable[Prediction]) -> None:
        """Write mentions, their probabilities, and the log-probability and entropy of the analysis.

        docs (Iterable[Doc]): Docs to change.
        predictions (Iterable[Prediction]): What `predict` gives for them.
        """
        labels = self.labels
        for doc, prediction in zip(docs, predictions):
            spans = [Span(doc, start, end, label=labels[label]) for start, end, label in prediction.mentions]
            attrs = {
                "scores": np.asarray(prediction.probabilities, dtype="float32"),
                "log_probability": prediction.log_probability,
                "entropy": prediction.entropy,
            }
            doc.spans[self.key] = SpanGroup(doc, name=self.key, spans=spans, attrs=attrs)

    def segments(self, doc: Doc) -> list[Segment]:
        """The bounds of the segments of a doc, which are decoded one by one."""
        return sentence_bounds(doc, use_sentences=self.cfg["use_sentences"])

    def _in_parts(self, docs: list[Doc]) -> Iterator[list[Doc]]:
        """Docs in their order, as many at a time as have not too many scores together, but at least one."""
        limit, n_labels = self.span_limit, len(self.labels)
        some: list[Doc] = []
        count = 0
        for doc in docs:
            scores = len(doc) * min(len(doc), limit or len(doc)) * n_labels
            if some and count + scores > _SCORES_TOGETHER:
                yield some
                some, count = [], 0
            some.append(doc)
            count += scores
        yield some

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
        """Learn labels, span limit and decoder from the data, and report what cannot be learned.

        get_examples (Callable): Gives representative examples. Called once.
        nlp (Language | None): The pipeline.
        labels (list[str] | None): Labels from `spacy init labels`; otherwise those of the data.
        """
        for label in labels or ():
            self.add_label(label)
        survey = survey_examples(get_examples, self.gold_reader(), self.segments)
        self.cfg["label_counts"] = survey.label_counts
        if labels is None:
            for label in survey.label_counts:
                self.add_label(label)
        check_mentions_found(survey, self.key, self.labels)
        self._choose_span_limit(survey)
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
            raise ValueError(
                f"none of the {survey.n_docs:,} training docs has a token, so the sizes of the network's layers are "
                f"unknown; expected a text in at least one of them"
            )

    def _choose_span_limit(self, survey: Survey) -> None:
        """By the mentions that fit tokens and segments, whose labels are known."""
        self.cfg["longest_gold_mention"] = self.cfg["span_limit_choice"] = None
        if self.cfg["max_span_length"] != "auto":
            return
        choice = choose_limit(lengths_of(survey.place(replace(self.gold_reader(), span_limit=None), Lost())))
        if choice is not None:
            self.cfg["span_limit_choice"] = choice._asdict()
            _logger.info("%s: %s", self.name, choice)

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
        check_memory(layout, len(self.labels), copies=2)
        values, backprop = self.model.begin_update((docs, layout))
        scored = ScoredDocs(decoder, self._packed(values, layout), segments)
        with self._divergence.in_training(scored.scores):
            loss, d_values = self.get_loss(examples, scored)
        del values, scored  # of all spans: the memory is needed for the backward pass
        backprop(d_values)
        if sgd is not None:
            self.finish_update(sgd)
        losses[self.name] += loss
        return losses

    def finish_update(self, sgd: Optimizer) -> None:
        """Update the weights, at this component's own learning rate."""
        rate = sgd.learn_rate
        sgd.learn_rate = rate * self.cfg["learn_rate_scale"]
        self._divergence.note_update(float(sgd.learn_rate))
        try:
            self.model.finish_update(sgd)
        finally:
            sgd.learn_rate = rate

    def get_loss(self, examples: Iterable[Example], scores: ScoredDocs) -> tuple[float, Floats2d]:
        """Negative log-likelihood of what is known of the examples, and its gradient."""
        lost = Lost()
        gold = self._gold.read(self.gold_reader(), examples, scores.segments, scores.decoder, lost)
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
        load = super().from_disk

        def load_and_check() -> None:
            load(path, exclude=exclude)
            check_files(Path(path).parent, self.cfg.pop(FILES, None))

        return self._load(load_and_check, str(path), exclude)

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> "NestedNER":
        """Load the pipe from bytes."""
        load = super().from_bytes
        return self._load(lambda: load(bytes_data, exclude=exclude), "the given bytes", exclude)

    def _load(self, load: Callable[[], Any], source: str, exclude: Iterable[str]) -> "NestedNER":
        # The decoder comes from the config, unless the config leaves it open; the rest must fit together.
        config, defaults = self.cfg[CONFIGURED], signature(NestedNER).parameters
        self.cfg[CONFIGURED] = None
        if "cfg" not in exclude:  # forget what it learned before: files of earlier versions lack some of it
            self.cfg.update(nothing_learned())
        try:
            load()
            apply_config(self.name, self.cfg, config, {name: defaults[name].default for name in SETTINGS})
            check_saved(self.cfg)
            check_weights(self.model)
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
        finally:
            self.cfg[CONFIGURED] = config
        if self.model.has_dim("nO") and self.model.get_dim("nO") != len(self.labels):
            raise ValueError(
                f"the component {self.name!r} in {source} has {len(self.labels)} labels in its cfg, but a model for "
                f"{self.model.get_dim('nO')}: its files do not belong together"
            )
        return self
