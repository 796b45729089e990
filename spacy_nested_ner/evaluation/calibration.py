"""The temperature that makes the probabilities of a trained component agree with how often it is right."""

from collections.abc import Callable, Iterable, Sequence
from math import exp, log
from typing import Any, NamedTuple

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import minibatch
from tqdm import tqdm

from ..corpus import Record
from ..decoders import Mention, PackedScores
from ..pipeline.component import NestedNER
from ..pipeline.gold import missing_rate_of
from ..pipeline.loss import crf_loss
from .confidence import log_loss, reliability
from .predictions import annotated, check_pipeline, component_of, make_example

# Where the temperature is looked for, and how closely.
LOWEST, HIGHEST = 0.1, 10.0
TOLERANCE = 1e-3


class Confidence(NamedTuple):
    """How good probabilities are at some temperature.

    nll (float): Negative log-likelihood of the gold analyses, in nats a sentence.
    log_loss (float): Of mentions found, being right or wrong, in nats a mention.
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
    left_out (int): Documents that are incomplete, or have no gold mentions under the key, or no tokens.
    """

    mentions: int
    left_out: int
    before: Confidence
    after: Confidence


def calibrate(
    nlp: Language,
    records: Iterable[Record],
    *,
    spans_key: str = "sc",
    gold_tokens: bool = False,
    progress: bool = False,
) -> Calibration:
    """Set the temperature of the component that writes to `spans_key` to the one with the lowest log loss of
    the mentions it finds being right.

    records (Iterable[Record]): Documents with gold mentions that the component was not trained on. Those that
        say that they are incomplete are left out: nobody knows whether what is found in them is right.
    gold_tokens (bool): Predict on the tokens and sentences of the data.
    progress (bool): Show bars, on terminals only.
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
    examples = list(annotated(nlp, [make_example(nlp, doc, gold_tokens) for doc in kept], progress))
    batches = [_Batch(pipe, batch) for batch in minibatch(examples, nlp.batch_size)]
    n_mentions = sum(len(batch.right) for batch in batches)
    if not n_mentions:
        raise ValueError(f"the component finds no mention in {len(kept)} documents: there is nothing to calibrate")
    before = _confidence(batches, pipe.cfg["temperature"])
    with tqdm(unit=" temperatures", leave=False, disable=None if progress else True) as shown:

        def loss(temperature: float) -> float:
            shown.update()
            return log_loss(*_probabilities(batches, temperature))

        temperature = minimum(loss, LOWEST, HIGHEST)
    pipe.cfg["temperature"] = temperature
    return Calibration(n_mentions, left_out, before, _confidence(batches, temperature))


def _is_complete(doc: Doc, spans_key: str) -> bool:
    return spans_key in doc.spans and missing_rate_of(doc, spans_key, 1.0) is None


def calibrated_component(nlp: Language, spans_key: str) -> NestedNER:
    """The component that has the temperature; an error if there is none."""
    check_pipeline(nlp, spans_key)
    name, pipe = component_of(nlp, spans_key) or (None, None)
    if not isinstance(pipe, NestedNER):
        found = f"{name}, a {type(pipe).__name__}" if name else ", ".join(nlp.pipe_names)
        raise ValueError(
            f"only nested_ner has a temperature; what writes to doc.spans[{spans_key!r}] is {found}. See --spans-key"
        )
    return pipe


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


class _Batch:
    """Scores of some documents, and the mentions of their most probable analyses, which no temperature
    changes. Mentions that begin or end inside a token of the gold are left out, as in all scores."""

    def __init__(self, pipe: NestedNER, examples: Sequence[Example]):
        docs = [example.predicted for example in examples]
        self.decoder = pipe.decoder
        self.scores, segmented = pipe.scores(docs, temperature=1.0)
        pieces = [(example, start) for example, segments in zip(examples, segmented) for start, _ in segments]
        self.gold = [mentions for example in examples for mentions in pipe.gold(example)]
        found: list[tuple[int, int, bool]] = []
        right = {id(example): _right(example, pipe.key) for example in examples}
        for number, (mentions, (example, first)) in enumerate(zip(self.decoder.decode(self.scores), pieces)):
            for start, end, label in mentions:
                mention = Mention(first + start, first + end, pipe.labels[label])
                if example.get_aligned_spans_x2y([example.predicted[mention.start : mention.end]], True):
                    cell = self.scores.layout.cell(number, start, end)
                    found.append((label, cell, mention in right[id(example)]))
        self.labels, self.cells, self.right = np.array(found, dtype=int).reshape(-1, 3).T

    def at(self, temperature: float) -> PackedScores:
        return self.scores.like(self.scores.values / np.float32(temperature))

    def probabilities(self, temperature: float) -> np.ndarray:
        return self.decoder.marginals(self.at(temperature)).values[self.labels, self.cells]

    def nll(self, temperature: float) -> tuple[float, int]:
        """In sum, and of how many segments."""
        n = sum(mentions is not None for mentions in self.gold)
        return n * crf_loss(self.decoder, self.at(temperature), self.gold)[0], n


def _right(example: Example, spans_key: str) -> set[Mention]:
    """Gold mentions in tokens of the predicted doc."""
    aligned: list[Any] = example.get_aligned_spans_y2x(list(example.reference.spans[spans_key]), True)
    return {Mention(span.start, span.end, span.label_) for span in aligned}


def _probabilities(batches: Sequence[_Batch], temperature: float) -> tuple[np.ndarray, np.ndarray]:
    """Of the mentions found, and whether they are right."""
    probabilities = [batch.probabilities(temperature) for batch in batches]
    return np.concatenate(probabilities), np.concatenate([batch.right for batch in batches])


def _confidence(batches: Sequence[_Batch], temperature: float) -> Confidence:
    probabilities, right = _probabilities(batches, temperature)
    losses, counts = zip(*(batch.nll(temperature) for batch in batches))
    nll = sum(losses) / max(1, sum(counts))
    errors = reliability(probabilities, right)
    return Confidence(temperature, nll, log_loss(probabilities, right), errors["ece"], errors["by_chance"])
