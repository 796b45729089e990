"""What a component knows of docs: its mentions at any threshold, and the probabilities of others.

The network runs once per batch. Everything else is decoded from the scores it gave.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from spacy.pipeline.spancat import SpanCategorizer
from spacy.tokens import Doc

from ..annotation import as_mention, by_segment, scores_of
from ..decoders import Mention
from ..decoders.auto import brief
from ..pipeline.component import NestedNER
from ..pipeline.prediction import Distribution
from .components import SplitPipeline

# Mentions with their probabilities, as a component writes them: on the tokens of its doc, perhaps repeated.
Written = list[tuple[Mention, float]]


@dataclass(frozen=True)
class Finding:
    """What a component knows of a doc in addition to the mentions that it writes, on the tokens of this doc.

    at (dict[float, Written]): The mentions at other thresholds; nothing for a component without a threshold.
    probabilities (dict[Mention, float]): Of the mentions asked for, where the component knows them.
    segments (list[tuple[int, int, float]]): Where what was decoded as one begins and ends, and its entropy, where the
        component knows it.
    """

    at: dict[float, Written] = field(default_factory=dict)
    probabilities: dict[Mention, float] = field(default_factory=dict)
    segments: list[tuple[int, int, float]] = field(default_factory=list)


def find(
    pipeline: SplitPipeline, docs: Sequence[Doc], asked: Sequence[Iterable[Mention]], thresholds: Sequence[float]
) -> list[Finding]:
    """Run the component that writes mentions on docs that are ready for it, and get what else it knows of them.

    asked (Sequence[Iterable[Mention]]): For every doc, mentions to get the probabilities of.
    """
    pipe = pipeline.pipe
    if isinstance(pipe, NestedNER):
        return _find_with_nested_ner(pipe, docs, asked, thresholds)
    if isinstance(pipe, SpanCategorizer) and pipe.cfg["threshold"] is not None:
        return _find_with_spancat(pipe, docs, thresholds)
    if pipeline.name is not None:
        pipeline.run([pipeline.name], docs)
    return [Finding() for _ in docs]


def settings_of(pipe: Any) -> dict[str, Any] | None:
    """The settings of nested_ner that decide what it finds, as they go into a JSON file; None for other components."""
    if not isinstance(pipe, NestedNER):
        return None
    return {
        "decoder": str(pipe.decoder_choice or brief(pipe.decoder)),
        "max_span_length": pipe.span_limit,
        "threshold": pipe.threshold,
        "temperature": pipe.temperature,
    }


def written_to(doc: Doc, spans_key: str) -> Written:
    """The mentions of a doc with their probabilities; none if the group does not have a probability for each."""
    group = doc.spans[spans_key]
    return [(as_mention(span), score) for span, score in zip(group, scores_of(group) or ())]


def _find_with_nested_ner(
    pipe: NestedNER, docs: Sequence[Doc], asked: Sequence[Iterable[Mention]], thresholds: Sequence[float]
) -> list[Finding]:
    distribution = pipe.scores(docs).at(pipe.temperature)
    at: list[dict[float, Written]] = [{} for _ in docs]
    for threshold in thresholds:
        for found, prediction in zip(at, distribution.predict(threshold)):
            mentions = (Mention(m.start, m.end, pipe.labels[m.label]) for m in prediction.mentions)
            found[threshold] = list(zip(mentions, prediction.probabilities))
    pipe.set_annotations(docs, distribution.predict(pipe.threshold))
    probabilities = _marginals_of(distribution, asked, pipe.labels)
    segments = _with_entropies(distribution)
    return [Finding(*of_doc) for of_doc in zip(at, probabilities, segments)]


def _marginals_of(
    distribution: Distribution, asked: Sequence[Iterable[Mention]], labels: Sequence[str]
) -> list[dict[Mention, float]]:
    """The marginals of the mentions of every doc. Mentions that have no score, because of their label or length or a
    sentence boundary, are left out: they are impossible."""
    marginals = distribution.marginals
    limit = marginals.layout.max_span_length
    numbers = {label: number for number, label in enumerate(labels)}
    result: list[dict[Mention, float]] = []
    first = 0  # of the segments of a doc, counted over the batch
    for segments, mentions in zip(distribution.segments, asked):
        result.append({})
        for number, ((begin, _), inside) in enumerate(zip(segments, by_segment(mentions, segments)[0]), first):
            for start, end, label in inside:
                if label in numbers and (limit is None or end - start <= limit):
                    probability = marginals.values[numbers[label], marginals.layout.cell(number, start, end)]
                    result[-1][Mention(begin + start, begin + end, label)] = float(probability)
        first += len(segments)
    return result


def _with_entropies(distribution: Distribution) -> list[list[tuple[int, int, float]]]:
    entropies = iter(distribution.entropies)
    return [[(start, end, next(entropies)) for start, end in segments] for segments in distribution.segments]


def _find_with_spancat(pipe: SpanCategorizer, docs: Sequence[Doc], thresholds: Sequence[float]) -> list[Finding]:
    """spancat compares scores with the threshold, which is in its cfg, when it writes mentions to docs."""
    predictions = pipe.predict(docs)
    own = pipe.cfg["threshold"]
    at: list[dict[float, Written]] = [{} for _ in docs]
    try:
        for threshold in thresholds:
            pipe.cfg["threshold"] = threshold
            pipe.set_annotations(docs, predictions)
            for found, doc in zip(at, docs):
                found[threshold] = written_to(doc, pipe.key)
    finally:
        pipe.cfg["threshold"] = own
    pipe.set_annotations(docs, predictions)
    return [Finding(of_doc) for of_doc in at]
