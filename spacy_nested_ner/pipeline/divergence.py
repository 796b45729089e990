"""Networks whose numbers have become infinite or NaN: say so, instead of which score is wrong."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from ..decoders import PackedScores
from .saved import REMEDY


class Divergence:
    """Explains errors that come from scores that are not finite. Costs nothing as long as there is no error.

    name (str): The name of the component.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._updates = 0
        self._rate: float | None = None

    def note_update(self, learn_rate: float) -> None:
        """An update of the weights at this learning rate."""
        self._updates += 1
        self._rate = learn_rate

    @contextmanager
    def in_training(self, scores: PackedScores) -> Iterator[None]:
        try:
            yield
        except ValueError as error:
            value = _not_finite(scores)
            if value is None:
                raise
            rate = "unknown" if self._rate is None else f"{self._rate:g}"
            raise ValueError(
                f"training of {self._name} has diverged: after {self._updates:,} updates, a score is {value}. The "
                f"learning rate is {rate}: lower learn_rate in [training.optimizer], warm it up, or lower "
                f"learn_rate_scale. model-last is useless then; model-best is from before"
            ) from error

    @contextmanager
    def in_prediction(self, scores: PackedScores) -> Iterator[None]:
        try:
            yield
        except ValueError as error:
            if _not_finite(scores) is None:
                raise
            raise ValueError(
                f"the network of {self._name} gives scores that are not finite: its weights, or the vectors of tok2vec "
                f"or the transformer, are not; training has diverged, or files are damaged: {REMEDY}"
            ) from error


def _not_finite(scores: PackedScores) -> float | None:
    """The first score that no decoder takes; the network itself never gives -inf."""
    wrong = scores.values[~np.isfinite(scores.values)]
    return float(wrong[0]) if wrong.size else None
