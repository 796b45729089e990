"""Gold in training that differs from what a component was initialized with, so that it cannot be learned."""

from collections.abc import Container

from .._warn import warn
from ..decoders import Decoder
from ..decoders.auto import brief
from .lost import Lost, listed


class UnseenGold:
    """Warns about mentions that are left out of training because of what initialization has settled: the labels, the
    longest mention and the decoder. Each label is reported once, and so are the other two reasons."""

    def __init__(self) -> None:
        self._labels: set[str] = set()
        self._reasons: set[str] = set()

    def add_reported(self, lost: Lost) -> None:
        """What is lost of the examples of `initialize`, which reports it itself."""
        self._reasons.update(reason for _, reason in lost.counts)

    def warn(self, name: str, lost: Lost, decoder: Decoder, limit: int | None, *, known: Container[str]) -> None:
        """Warn about what is new in a batch.

        name (str): The name of the component.
        limit (int | None): Tokens of the longest span.
        known (Container[str]): The labels of the examples of `initialize`.
        """
        labels = lost.by_label("label")
        if new := {label: n for label, n in labels.items() if label not in known and label not in self._labels}:
            self._labels.update(new)
            warn(
                f"{name} does not know the labels of some mentions ({listed(new.items())} in this batch), and does not "
                f"learn them: call add_label before training goes on, or initialize with examples of all labels"
            )
        for reason, problem, setting in (
            ("length", f"are longer than max_span_length = {limit}", "max_span_length"),
            ("space", f"are outside the search space of {brief(decoder)}", "a wider decoder"),
        ):
            found = lost.by_label(reason)
            if found and reason not in self._reasons:
                self._reasons.add(reason)
                warn(
                    f"some mentions {problem} ({listed(found.items())} in this batch), and {name} does not learn them: "
                    f"initialize with examples that have such mentions, or set {setting}"
                )
