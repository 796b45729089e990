"""Gold that was read in an earlier epoch, as long as nothing has changed that it depends on."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from spacy.tokens import Doc
from spacy.training import Example

from ..annotation import INCOMPLETE, Segment
from ..decoders import Decoder
from .gold import GoldReader, Known
from .lost import Lost


class _Entry(NamedTuple):
    """What was read of an example.

    state (tuple): What it was read from.
    """

    state: tuple[Any, ...]
    known: list[Known]
    lost: Lost


class GoldCache:
    """Reads gold, and keeps it for as long as the gold docs exist.

    spaCy's training loop reads a corpus once, unless max_epochs is -1, and makes new examples for every update, each
    with the same gold doc and a copy of the predicted one. Gold is read again if tokens, spans or segments differ from
    those it was read from, and all of it if the settings of the component do. Where every epoch has new gold docs,
    this holds nothing but the gold of docs that something else holds, too.
    """

    def __init__(self) -> None:
        self._settings: tuple[GoldReader, Decoder] | None = None
        self._entries: WeakKeyDictionary[Doc, _Entry] = WeakKeyDictionary()

    def __reduce__(self) -> tuple[type, tuple[()]]:
        # A copy of a component starts with nothing: weak references cannot be pickled.
        return GoldCache, ()

    def __len__(self) -> int:
        """How many gold docs it knows."""
        return len(self._entries)

    def read(
        self,
        reader: GoldReader,
        examples: Iterable[Example],
        segments: Iterable[list[Segment]],
        decoder: Decoder,
        lost: Lost,
    ) -> list[Known]:
        """What is known of every segment of some examples, as `GoldReader.read` gives it for one of them.

        reader (GoldReader): Reads what is not known yet.
        segments (Iterable[list[Segment]]): Where those of every predicted doc begin and end.
        decoder (Decoder): The search space.
        lost (Lost): Counts mentions that are not learned.
        """
        # A copy: the component changes its counts in place.
        reader = replace(reader, label_counts=dict(reader.label_counts))
        if (reader, decoder) != self._settings:
            self._settings = reader, decoder
            self._entries.clear()
        known: list[Known] = []
        for example, bounds in zip(examples, segments):
            entry = self._read(reader, example, bounds, decoder)
            known += entry.known
            lost.include(entry.lost)
        return known

    def _read(self, reader: GoldReader, example: Example, segments: list[Segment], decoder: Decoder) -> _Entry:
        state = _state(example, segments, reader.key, reader.incorrect_key)
        entry = self._entries.get(example.reference)
        if entry is None or entry.state != state:
            lost = Lost()
            entry = _Entry(state, reader.read(example, segments, decoder, lost), lost)
            self._entries[example.reference] = entry
        return entry


def _state(example: Example, segments: list[Segment], *keys: str) -> tuple[Any, ...]:
    """All of an example that gold depends on. Comparing it takes a fraction of the time of reading."""
    docs = (example.predicted, example.reference)
    tokens = (doc.to_array("ORTH").tobytes() for doc in docs)
    return (segments, *tokens, *(_group(example.reference, key) for key in keys))


def _group(doc: Doc, key: str) -> tuple[Any, ...] | None:
    group = doc.spans.get(key)
    if group is None:
        return None
    incomplete = group.attrs.get(INCOMPLETE)
    # Types differ in meaning, and compare first: True says less than 1, and an array has no truth.
    return type(incomplete), incomplete, [(span.start, span.end, span.label) for span in group]
