"""Precision, recall and F of mentions: overall and by label as spaCy does it, and by nesting."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from spacy.scorer import Scorer
from spacy.tokens import Doc, Span
from spacy.training import Example

Spans = set[tuple[str, int, int]]


def make_nested_ner_scorer() -> Callable[..., dict[str, Any]]:
    return nested_ner_score


def nested_ner_score(examples: Iterable[Example], *, spans_key: str, **kwargs: Any) -> dict[str, Any]:
    """What `Scorer.score_spans` gives for `spans_<key>`, and beside it the same three numbers for
    first-level mentions, for nested ones, and for every depth (see LevelScore).

    spans_key (str): Where the mentions are in `doc.spans`.
    RETURNS (dict[str, Any]): `spans_<key>_p/r/f/per_type`, `spans_<key>_first_level_p/r/f`,
        `spans_<key>_nested_p/r/f`, and `spans_<key>_per_depth`, a dictionary from "1" (first level) on.
    """
    examples = list(examples)
    for example in examples:
        # spaCy looks labels up in the vocab of the gold doc, which may be another one.
        for span in example.predicted.spans.get(spans_key, []):
            example.reference.vocab.strings.add(span.label_)
    attr = f"spans_{spans_key}"
    scores = Scorer.score_spans(
        examples,
        attr,
        getter=lambda doc, _: doc.spans.get(spans_key, []),
        has_annotation=lambda doc: spans_key in doc.spans,
        allow_overlap=True,
    )
    levels = score_levels(
        (mentions_by_depth(example.reference.spans[spans_key]), mentions_by_depth(_aligned(example, spans_key)))
        for example in examples
        if spans_key in example.reference.spans
    )
    for name in ("first_level", "nested"):
        for letter, value in levels[name].to_dict().items() if name in levels else dict.fromkeys("prf").items():
            scores[f"{attr}_{name}_{letter}"] = value
    depths = sorted((name for name in levels if name.isdigit()), key=int)
    annotated = scores[f"{attr}_f"] is not None
    scores[f"{attr}_per_depth"] = {depth: levels[depth].to_dict() for depth in depths} if annotated else None
    return scores


class LevelScore:
    """Precision, recall and F of the mentions at one level of nesting.

    Recall is the share of gold mentions at this level that are found, precision the share of found
    mentions at this level that are right: a mention that is found without the one around it is not wrong.
    """

    def __init__(self) -> None:
        self.n_gold = self.n_gold_found = self.n_found = self.n_found_right = 0

    def add(self, gold: Spans, found: Spans, all_gold: Spans, all_found: Spans) -> None:
        self.n_gold += len(gold)
        self.n_gold_found += len(gold & all_found)
        self.n_found += len(found)
        self.n_found_right += len(found & all_gold)

    def to_dict(self) -> dict[str, float]:
        precision = self.n_found_right / self.n_found if self.n_found else 0.0
        recall = self.n_gold_found / self.n_gold if self.n_gold else 0.0
        both = precision + recall
        return {"p": precision, "r": recall, "f": 2 * precision * recall / both if both else 0.0}


def score_levels(pairs: Iterable[tuple[dict[int, Spans], dict[int, Spans]]]) -> dict[str, LevelScore]:
    """Scores of "first_level", "nested" and every depth from "1" on.

    pairs (Iterable): Gold and found mentions of every doc, by depth.
    """
    levels: dict[str, LevelScore] = defaultdict(LevelScore)
    for gold, found in pairs:
        everything = set().union(*gold.values()), set().union(*found.values())
        for depth in sorted({*gold, *found}):
            here = gold.get(depth, set()), found.get(depth, set())
            for name in (str(depth), "first_level" if depth == 1 else "nested"):
                levels[name].add(*here, *everything)
    return levels


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
