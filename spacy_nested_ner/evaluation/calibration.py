"""The temperature that makes the probabilities of a trained component agree with how often it is right, and the
threshold that then has the highest F."""

from collections.abc import Callable, Iterable, Sequence
from math import exp, log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import minibatch

from .._progress import progress_bar
from ..annotation import by_segment, mentions_of
from ..corpus import Record
from ..decoders import Mention
from ..pipeline.component import NestedNER
from ..pipeline.gold import missing_rate_of
from ..pipeline.loss import crf_loss
from ..pipeline.prediction import ScoredDocs
from .alignment import Alignment
from .components import SplitPipeline
from .confidence import log_loss, reliability
from .predictions import THRESHOLDS, make_example
from .thresholds import ThresholdChoice, choose_threshold, threshold_score

# Where the temperature is searched for, and how closely.
LOWEST, HIGHEST = 0.1, 10.0
TOLERANCE = 1e-3


class Confidence(NamedTuple):
    """How good probabilities are at some temperature.

    temperature (float): What scores are divided by.
    nll (float): Negative log-likelihood of the gold analyses, in nats per sentence.
    log_loss (float): Of mentions found, being right or wrong, in nats per mention.
    ece (float): Expected calibration error of mentions found.
    by_chance (float): The one that exact probabilities would have on as many mentions.
    """

    temperature: float
    nll: float
    log_loss: float
    ece: float
    by_chance: float


class Calibration(NamedTuple):
    """What `calibrate` has done.

    mentions (int): How many were found, right or wrong.
    left_out (int): Documents that are incomplete, have no gold mentions under the key, or have no tokens.
    before, after (Confidence): How good the probabilities were, and how good they are now.
    threshold (ThresholdChoice | None): The threshold, and why it was chosen; None if it was not tuned.
    """

    mentions: int
    left_out: int
    before: Confidence
    after: Confidence
    threshold: ThresholdChoice | None = None

    @property
    def at_limit(self) -> bool:
        """Whether the temperature is at an end of its range, so that something else must be wrong."""
        return not LOWEST * 1.01 < self.after.temperature < HIGHEST * 0.99


def calibrate(
    nlp: Language,
    records: Iterable[Record],
    *,
    spans_key: str = "sc",
    gold_tokens: bool = False,
    tune_threshold: bool = False,
    progress: bool = False,
) -> Calibration:
    """Set the temperature of the component that writes to `spans_key` to the one with the lowest log loss of the
    mentions it finds being right. The network runs once per document.

    nlp (Language): The pipeline; its temperature is changed.
    records (Iterable[Record]): Documents with gold mentions that the component was not trained on. Incomplete ones are
        left out: it is unknown whether what is found in them is right.
    spans_key (str): The gold mentions, and those of the component, are in `doc.spans[spans_key]`.
    gold_tokens (bool): Predict on the tokens and sentences of the data.
    tune_threshold (bool): Set the threshold, too, whatever it was: to the one of 0.05, 0.10, … 0.95 with the highest F
        at the new temperature, or to None if this one gains no more than chance over the most probable analysis: if
        the 95 % interval of the difference in F, by paired bootstrap of the documents, is not above 0.
    progress (bool): Show bars, on terminals only.
    RETURNS (Calibration): How good the probabilities were before, and how good they are now.
    """
    pipe = calibrated_component(nlp, spans_key)
    docs = [record.doc for record in records]
    kept = [doc for doc in docs if len(doc) and _is_complete(doc, spans_key)]
    left_out = len(docs) - len(kept)
    if not kept:
        raise ValueError(
            f"none of {left_out} documents can be used: expected some with tokens and doc.spans[{spans_key!r}] "
            f"that are annotated in full, not incomplete"
        )
    batches = _run(nlp, pipe, kept, gold_tokens=gold_tokens, progress=progress)
    n_mentions = sum(len(batch.right) for batch in batches)
    if not n_mentions:
        raise ValueError(
            f"the component finds no mention in {len(kept):,} documents, so there is nothing to calibrate; train it "
            f"for longer, or look at the scores that training printed"
        )
    settings: dict[str, Any] = {"temperature": _best_temperature(batches, progress=progress)}
    choice = None
    if tune_threshold:
        choice = _best_threshold(batches, pipe, settings["temperature"], progress=progress)
        settings["threshold"] = choice.after.threshold
    before, after = (_confidence(batches, temperature) for temperature in (pipe.temperature, settings["temperature"]))
    pipe.configure(nlp, **settings)
    return Calibration(n_mentions, left_out, before, after, choice)


def calibrated_component(nlp: Language, spans_key: str) -> NestedNER:
    """The component that has the temperature; an error if there is none."""
    pipeline = SplitPipeline.at(nlp, spans_key)
    if not isinstance(pipeline.pipe, NestedNER):
        found = ", ".join(nlp.pipe_names)
        if pipeline.name is not None:
            found = f"{pipeline.name}, a {type(pipeline.pipe).__name__}"
        raise ValueError(
            f"only nested_ner has a temperature; what writes to doc.spans[{spans_key!r}] is {found}. See --spans-key"
        )
    return pipeline.pipe


def minimum(function: Callable[[float], float], lowest: float, highest: float) -> float:
    """Where a function with one valley is lowest, by golden-section search over the logarithm."""
    golden = (5**0.5 - 1) / 2
    a, b = log(lowest), log(highest)
    left, right = b - golden * (b - a), a + golden * (b - a)
    at_left, at_right = function(exp(left)), function(exp(right))
    while b - a > TOLERANCE:
        if at_left < at_right:
            b, right, at_right = right, left, at_left
            left = b - golden * (b - a)
            at_left = function(exp(left))
        else:
            a, left, at_left = left, right, at_right
            right = a + golden * (b - a)
            at_right = function(exp(right))
    return exp((a + b) / 2)


def _best_temperature(batches: Sequence["_Batch"], *, progress: bool) -> float:
    with progress_bar(unit="temperatures", shown=progress) as bar:

        def loss(temperature: float) -> float:
            bar.update()
            return log_loss(*_probabilities(batches, temperature))

        return minimum(loss, LOWEST, HIGHEST)


def _best_threshold(
    batches: Sequence["_Batch"], pipe: NestedNER, temperature: float, *, progress: bool
) -> ThresholdChoice:
    """At a new temperature, compared with the settings of the component."""

    def counts(threshold: float | None, temperature: float) -> NDArray[np.int64]:
        return np.concatenate([batch.counts(threshold, temperature) for batch in batches])

    before = threshold_score(pipe.threshold, counts(pipe.threshold, pipe.temperature))
    with progress_bar([None, *THRESHOLDS], unit="thresholds", shown=progress) as bar:
        tried = np.stack([counts(threshold, temperature) for threshold in bar], axis=1)
    return choose_threshold(THRESHOLDS, tried, before)


def _is_complete(doc: Doc, spans_key: str) -> bool:
    return spans_key in doc.spans and missing_rate_of(doc, spans_key, 1.0) is None


def _run(nlp: Language, pipe: NestedNER, docs: Sequence[Doc], *, gold_tokens: bool, progress: bool) -> list["_Batch"]:
    """The scores of all docs, batch by batch."""
    pipeline = SplitPipeline.at(nlp, pipe.key)
    batches: list[_Batch] = []
    with progress_bar(total=len(docs), unit="documents", shown=progress) as bar:
        for some in minibatch(docs, nlp.batch_size):
            examples = [make_example(nlp, doc, gold_tokens) for doc in some]
            predicted = [example.predicted for example in examples]
            pipeline.run(pipeline.before, predicted)
            batches.append(_Batch(pipe, examples, pipe.scores(predicted)))
            bar.update(len(examples))
    return batches


class _Batch:
    """Scores of some documents, and the mentions of their most probable analyses, which no temperature changes.
    Mentions that begin or end inside a token of the gold are left out, as in all scores."""

    def __init__(self, pipe: NestedNER, examples: Sequence[Example], scored: ScoredDocs):
        self._scored = scored
        self._names = pipe.labels
        self._alignments = [Alignment(example) for example in examples]
        self._mentions = [set(mentions_of(example.reference, pipe.key)) for example in examples]
        reader = pipe.gold_reader()
        self._gold = [
            known
            for example, segments in zip(examples, scored.segments)
            for known in reader.read(example, segments, scored.decoder)
        ]
        layout = scored.scores.layout
        found: list[tuple[int, int, bool]] = []
        number = 0  # of a segment, counted over the batch
        predictions = scored.predict(threshold=None, temperature=1.0)
        for alignment, gold, segments, prediction in zip(
            self._alignments, self._mentions, scored.segments, predictions
        ):
            for place, mentions in enumerate(by_segment(prediction.mentions, segments)[0]):
                for start, end, label in mentions:
                    first = segments[place][0]
                    bounds = alignment.to_gold(first + start, first + end)
                    if bounds is not None:
                        is_right = Mention(*bounds, pipe.labels[label]) in gold
                        found.append((label, layout.cell(number + place, start, end), is_right))
            number += len(segments)
        self._labels, self._cells, right = np.array(found, dtype=int).reshape(-1, 3).T
        self.right = right.astype(bool)

    def probabilities(self, temperature: float) -> NDArray[np.float64]:
        """Of the mentions found."""
        marginals = self._scored.at(temperature).marginals
        return np.asarray(marginals.values[self._labels, self._cells], dtype="float64")

    def counts(self, threshold: float | None, temperature: float) -> NDArray[np.int64]:
        """For every document: gold mentions, those of them found, mentions found, those of them that are right."""
        rows = []
        predictions = self._scored.predict(threshold=threshold, temperature=temperature)
        for alignment, gold, prediction in zip(self._alignments, self._mentions, predictions):
            placed = ((alignment.to_gold(start, end), label) for start, end, label in prediction.mentions)
            found = {Mention(*bounds, self._names[label]) for bounds, label in placed if bounds is not None}
            right = len(found & gold)
            rows.append((len(gold), right, len(found), right))
        return np.array(rows, dtype="int64")

    def nll(self, temperature: float) -> tuple[float, int]:
        """In sum, and of how many segments."""
        n = sum(known is not None for known in self._gold)
        return n * crf_loss(self._scored.decoder, self._scored.packed(temperature), self._gold)[0], n


def _probabilities(batches: Sequence[_Batch], temperature: float) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Of the mentions found, and whether they are right."""
    probabilities = [batch.probabilities(temperature) for batch in batches]
    return np.concatenate(probabilities), np.concatenate([batch.right for batch in batches])


def _confidence(batches: Sequence[_Batch], temperature: float) -> Confidence:
    probabilities, right = _probabilities(batches, temperature)
    losses, counts = zip(*(batch.nll(temperature) for batch in batches))
    nll = sum(losses) / max(1, sum(counts))
    errors = reliability(probabilities, right)
    return Confidence(temperature, nll, log_loss(probabilities, right), errors["ece"], errors["by_chance"])
