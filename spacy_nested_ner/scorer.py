"""Precision, recall and F of mentions: overall and by label as spaCy does it, and by nesting."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from spacy.scorer import PRFScore, Scorer
from spacy.tokens import Doc, Span
from spacy.training import Example

Spans = set[tuple[str, int, int]]


def make_nested_ner_scorer() -> Callable[..., dict[str, Any]]:
    return nested_ner_score


def nested_ner_score(examples: Iterable[Example], *, spans_key: str, **kwargs: Any) -> dict[str, Any]:
    """What `Scorer.score_spans` gives for `spans_<key>`, and beside it the same three numbers for
    first-level mentions, for nested ones, and for every depth.

    spans_key (str): Where the mentions are in `doc.spans`.
    RETURNS (dict[str, Any]): `spans_<key>_p/r/f/per_type`, `spans_<key>_first_level_p/r/f`,
        `spans_<key>_nested_p/r/f`, and `spans_<key>_per_depth`, a dictionary from "1" (first level) on.
    """
    examples = list(examples)
    attr = f"spans_{spans_key}"
    scores = Scorer.score_spans(
        examples,
        attr,
        getter=lambda doc, _: doc.spans.get(spans_key, []),
        has_annotation=lambda doc: spans_key in doc.spans,
        allow_overlap=True,
    )
    by_depth: dict[int, PRFScore] = defaultdict(PRFScore)
    first_level, nested = PRFScore(), PRFScore()
    n_annotated = 0
    for example in examples:
        if spans_key not in example.reference.spans:
            continue
        n_annotated += 1
        gold = mentions_by_depth(example.reference.spans[spans_key])
        found = mentions_by_depth(_aligned(example, spans_key))
        for depth in {*gold, *found}:
            by_depth[depth].score_set(found.get(depth, set()), gold.get(depth, set()))
        first_level.score_set(found.get(1, set()), gold.get(1, set()))
        nested.score_set(_below_first(found), _below_first(gold))
    for name, score in (("first_level", first_level), ("nested", nested)):
        known = n_annotated and len(score) > 0
        for letter, value in (("p", score.precision), ("r", score.recall), ("f", score.fscore)):
            scores[f"{attr}_{name}_{letter}"] = value if known else None
    depths = {str(depth): score.to_dict() for depth, score in sorted(by_depth.items())}
    scores[f"{attr}_per_depth"] = depths if n_annotated else None
    return scores


def mentions_by_depth(spans: Iterable[Span]) -> dict[int, Spans]:
    """Mentions by the number of other spans around them and one more. Labels of one span are at
    one depth; crossing spans are not inside each other."""
    borders = sorted({(span.start, -span.end) for span in spans})
    depth_of: dict[tuple[int, int], int] = {}
    open_ends: list[int] = []
    for start, negative_end in borders:
        end = -negative_end
        open_ends = [other for other in open_ends if other > start]
        depth_of[start, end] = 1 + sum(other >= end for other in open_ends)
        open_ends.append(end)
    result: dict[int, Spans] = defaultdict(set)
    for span in spans:
        result[depth_of[span.start, span.end]].add((span.label_, span.start, span.end - 1))
    return dict(result)


def _aligned(example: Example, spans_key: str) -> list[Span]:
    predicted: Doc = example.predicted
    if spans_key not in predicted.spans:
        return []
    return example.get_aligned_spans_x2y(predicted.spans[spans_key], True)


def _below_first(mentions: dict[int, Spans]) -> Spans:
    return {mention for depth, found in mentions.items() if depth > 1 for mention in found}
