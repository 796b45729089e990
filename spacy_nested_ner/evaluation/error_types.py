"""What kind of error it is where gold and prediction differ."""

from collections.abc import Iterable
from typing import Literal, NamedTuple, get_args

from ..decoders.mention import Mention, sort_mentions

Kind = Literal["missed", "spurious", "label", "boundary"]
KINDS: tuple[Kind, ...] = get_args(Kind)


class MentionError(NamedTuple):
    """A difference between gold and prediction.

    kind (Kind): "label": the span is right, its label is not. "boundary": the label is right, and the span overlaps.
        "missed": gold that nothing predicted comes close to. "spurious": predicted, and no gold comes close to it.
    gold (Mention | None): The gold mention; None if spurious.
    predicted (Mention | None): The predicted mention; None if missed.
    """

    kind: Kind
    gold: Mention | None
    predicted: Mention | None


def classify_errors(gold: Iterable[Mention], predicted: Iterable[Mention]) -> list[MentionError]:
    """The errors of a prediction. Every gold mention that is not predicted, and every prediction that is not gold, is
    in exactly one of them.

    A prediction is first paired with a gold mention on the same span, then with one of the same label that shares most
    of its tokens.
    """
    gold, predicted = set(gold), set(predicted)
    missed, spurious = sort_mentions(gold - predicted), sort_mentions(predicted - gold)
    labels = [(m, p) for p in spurious for m in missed if m[:2] == p[:2]]
    shared = {(m, p): min(m.end, p.end) - max(m.start, p.start) for p in spurious for m in missed if m.label == p.label}
    overlapping = sorted((pair for pair, tokens in shared.items() if tokens > 0), key=lambda pair: -shared[pair])
    errors: list[MentionError] = []
    left: set[tuple[str, Mention]] = {("gold", m) for m in missed} | {("predicted", p) for p in spurious}
    kinds: tuple[tuple[Kind, list[tuple[Mention, Mention]]], ...] = (("label", labels), ("boundary", overlapping))
    for kind, pairs in kinds:
        for m, p in pairs:
            if {("gold", m), ("predicted", p)} <= left:
                left -= {("gold", m), ("predicted", p)}
                errors.append(MentionError(kind, m, p))
    errors += [MentionError("missed", m, None) for m in missed if ("gold", m) in left]
    errors += [MentionError("spurious", None, p) for p in spurious if ("predicted", p) in left]
    return sorted(errors, key=lambda error: _place(error.gold or error.predicted))


def _place(mention: Mention | None) -> tuple[int, int]:
    return (mention.start, -mention.end) if mention else (0, 0)
