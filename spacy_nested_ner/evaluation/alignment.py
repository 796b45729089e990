"""Spans of a predicted doc on the tokens of the gold doc, and back."""

from bisect import bisect_left
from functools import cached_property

from spacy.training import Example

from ..annotation import Segment


class Alignment:
    """The two tokenizations of an example. The docs must not change while this is used."""

    def __init__(self, example: Example):
        self._example = example
        # The same spans are found at many thresholds.
        self._in_gold: dict[Segment, Segment | None] = {}

    def to_gold(self, start: int, end: int) -> Segment | None:
        """A span of the predicted doc on the tokens of the gold; None if it begins or ends inside one of them."""
        if (start, end) not in self._in_gold:
            aligned = self._example.get_aligned_spans_x2y([self._example.predicted[start:end]], True)
            self._in_gold[start, end] = (aligned[0].start, aligned[0].end) if aligned else None
        return self._in_gold[start, end]

    def to_predicted(self, start: int, end: int) -> Segment | None:
        """A span of the gold doc on the tokens of the prediction; None if it begins or ends inside one of them."""
        aligned = self._example.get_aligned_spans_y2x([self._example.reference[start:end]], True)
        return (aligned[0].start, aligned[0].end) if aligned else None

    def stretch_to_gold(self, start: int, end: int) -> Segment:
        """A stretch of the predicted doc on the tokens of the gold. Stretches without gaps stay without gaps: a token
        of the gold belongs to the stretch in which it begins."""
        predicted, begins = self._example.predicted, self._token_begins
        first = bisect_left(begins, predicted[start].idx) if start else 0
        return first, bisect_left(begins, predicted[end].idx) if end < len(predicted) else len(begins)

    @cached_property
    def _token_begins(self) -> list[int]:
        return [token.idx for token in self._example.reference]
