"""Precision, recall and F of mentions: overall and by label as spaCy computes them, and by depth."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

from spacy.scorer import Scorer
from spacy.training import Example

from ..annotation import mentions_of
from ..decoders.mention import Mention
from ..decoders.nesting import depths

# The mentions of a doc by their depth, from 1 on.
ByDepth = dict[int, set[Mention]]


def make_nested_ner_scorer() -> Callable[..., dict[str, Any]]:
    return nested_ner_score


def nested_ner_score(examples: Iterable[Example], *, spans_key: str, **kwargs: Any) -> dict[str, Any]:
    """What `Scorer.score_spans` gives for `spans_<key>`, and the same three numbers for first-level mentions, for
    nested ones, and for every depth (see LevelScore).

    examples (Iterable[Example]): Predicted docs with their gold.
    spans_key (str): Where the mentions are in `doc.spans`.
    kwargs (Any): Not used; spaCy passes other settings of the pipeline.
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
        (mentions_by_depth(mentions_of(example.reference, spans_key)), mentions_by_depth(_found(example, spans_key)))
        for example in examples
        if spans_key in example.reference.spans
    )
    for name in ("first_level", "nested"):
        for letter, value in levels[name].to_dict().items() if name in levels else dict.fromkeys("prf").items():
            scores[f"{attr}_{name}_{letter}"] = value
    per_depth = sorted((name for name in levels if name.isdigit()), key=int)
    annotated = scores[f"{attr}_f"] is not None
    scores[f"{attr}_per_depth"] = {depth: levels[depth].to_dict() for depth in per_depth} if annotated else None
    return scores


@dataclass
class LevelScore:
    """Precision, recall and F of the mentions on one level of nesting.

    Recall is the share of gold mentions on this level that were found, precision the share of found mentions on this
    level that are right: a mention that was found without the one around it is not wrong.
    """

    n_gold: int = 0
    n_gold_found: int = 0
    n_found: int = 0
    n_found_right: int = 0

    def add(self, gold: set[Mention], found: set[Mention], all_gold: set[Mention], all_found: set[Mention]) -> None:
        """Count the mentions of a doc: those on this level, and all of them."""
        self.n_gold += len(gold)
        self.n_gold_found += len(gold & all_found)
        self.n_found += len(found)
        self.n_found_right += len(found & all_gold)

    def to_dict(self) -> dict[str, float]:
        precision = self.n_found_right / self.n_found if self.n_found else 0.0
        recall = self.n_gold_found / self.n_gold if self.n_gold else 0.0
        both = precision + recall
        return {"p": precision, "r": recall, "f": 2 * precision * recall / both if both else 0.0}


def score_levels(pairs: Iterable[tuple[ByDepth, ByDepth]]) -> dict[str, LevelScore]:
    """Scores of "first_level", "nested" and every depth from "1" on.

    pairs (Iterable[tuple[ByDepth, ByDepth]]): Gold and found mentions of every doc.
    """
    levels: dict[str, LevelScore] = defaultdict(LevelScore)
    for gold, found in pairs:
        all_gold, all_found = set().union(*gold.values()), set().union(*found.values())
        for depth in sorted({*gold, *found}):
            for name in (str(depth), "first_level" if depth == 1 else "nested"):
                levels[name].add(gold.get(depth, set()), found.get(depth, set()), all_gold, all_found)
    return levels


def mentions_by_depth(mentions: Collection[Mention]) -> ByDepth:
    """The mentions of a doc by depth (see `depths`)."""
    result: ByDepth = defaultdict(set)
    in_order = list(mentions)
    for mention, depth in zip(in_order, depths(in_order)):
        result[depth].add(mention)
    return dict(result)


def _found(example: Example, spans_key: str) -> set[Mention]:
    """The mentions found, on the tokens of the gold; those that do not align are left out, as spaCy does."""
    spans = example.get_aligned_spans_x2y(example.predicted.spans.get(spans_key, []), True)
    return {Mention(span.start, span.end, span.label_) for span in spans}
