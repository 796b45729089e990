"""Texts and the scores of their spans. The network runs once per text; everything else is decoded from its scores."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from threading import Lock

from spacy.language import Language
from spacy.tokens import Doc

from ...annotation import Segment
from ...corpus.pieces import piece
from ...decoders import Mention, PackedScores
from ...decoders.layout import count_spans
from ...evaluation.components import SplitPipeline
from ...pipeline.component import NestedNER
from .settings import ViewSettings

# Scores of one text: 7 labels on 100,000 tokens with at most 19 words per mention, or on 2,600 tokens without a limit.
MOST_SCORES = 25_000_000
# Bytes of scores that are kept, and of how many texts.
KEPT_BYTES = 256 * 2**20
KEPT_TEXTS = 100


class RefusedError(ValueError):
    """What a user asks for cannot be done. The message says why, and what to do instead."""


@dataclass(frozen=True, eq=False)
class Scored:
    """A text, and what the network made of it.

    doc (Doc): Its tokens.
    scores (PackedScores): Of all its spans.
    segments (list[Segment]): What is decoded as one: sentences, or the whole.
    gold (list[Mention] | None): Its gold mentions, if there is gold.
    """

    doc: Doc
    scores: PackedScores
    segments: list[Segment]
    gold: list[Mention] | None = None

    def segment(self, number: int) -> "Scored":
        """One segment as a text of its own."""
        start, end = self.segments[number]
        gold = self.gold
        if gold is not None:
            inside = (m for m in gold if start <= m.start and m.end <= end)
            gold = [Mention(m.start - start, m.end - start, m.label) for m in inside]
        return Scored(piece(self.doc, start, end), self.scores.select([number]), [(0, end - start)], gold)


class Scorer:
    """A pipeline, and the scores of the texts it has seen last. It may be used from several threads.

    nlp (Language): The pipeline.
    spans_key (str): nested_ner writes to `doc.spans[spans_key]`.
    most_scores (int): Texts with more scores are refused.
    """

    def __init__(self, nlp: Language, spans_key: str = "sc", *, most_scores: int = MOST_SCORES):
        self.nlp = nlp
        self.spans_key = spans_key
        self.name, self.pipe = find_component(nlp, spans_key)
        self.settings = ViewSettings.of(self.pipe)
        self.runs = 0  # of the network
        self._most_scores = most_scores
        self._pipeline = SplitPipeline.at(nlp, spans_key)
        # spaCy does not promise that a pipeline can be used from several threads at once.
        self._running = Lock()
        self._kept = _Kept()

    @property
    def labels(self) -> tuple[str, ...]:
        return self.pipe.labels

    def text(self, text: str) -> Scored:
        """The scores of a text."""
        return self._once(("text", text), lambda: (self.nlp.make_doc(text), None))

    def document(self, key: Hashable, doc: Doc, gold: list[Mention] | None) -> Scored:
        """The scores of a document of a corpus.

        key (Hashable): By which it is known.
        doc (Doc): Its tokens and sentences.
        gold (list[Mention] | None): Its gold mentions.
        """
        return self._once(("document", key), lambda: (doc, gold))

    def _once(self, key: Hashable, make: Callable[[], tuple[Doc, list[Mention] | None]]) -> Scored:
        found = self._kept.get(key)
        if found is None:
            with self._running:
                found = self._kept.get(key)  # perhaps somebody else asked for it meanwhile
                if found is None:
                    doc, gold = make()
                    (found,) = self._run([doc])
                    found = replace(found, gold=gold)
                    self._kept.put(key, found)
        return found

    def documents(self, docs: Iterable[Doc]) -> list[Scored]:
        """The scores of several documents, which are not kept."""
        with self._running:
            return self._run(list(docs))

    def _run(self, docs: list[Doc]) -> list[Scored]:
        pipe, pipeline = self.pipe, self._pipeline
        self.runs += 1
        # Before the network runs, but after what sets sentence boundaries; a tok2vec is fast in comparison.
        pipeline.run(pipeline.before, docs)
        for doc in docs:
            self._check_size(doc, pipe.segments(doc))
        scored = pipe.scores(docs)
        result, first = [], 0
        for doc, segments in zip(docs, scored.segments):
            numbers = range(first, first + len(segments))
            result.append(Scored(doc, scored.scores.select(numbers), segments))
            first += len(segments)
        return result

    def _check_size(self, doc: Doc, segments: list[Segment]) -> None:
        limit = self.pipe.span_limit
        n_scores = len(self.labels) * sum(count_spans(end - start, limit) for start, end in segments)
        if n_scores > self._most_scores:
            raise RefusedError(
                f"The text has {len(doc):,} tokens and {n_scores:,} possible mentions; expected at most "
                f"{self._most_scores:,}. Take a shorter text."
            )


class _Kept:
    """The scores of the texts that were asked for last."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._scored: OrderedDict[Hashable, Scored] = OrderedDict()
        self._bytes = 0

    def get(self, key: Hashable) -> Scored | None:
        with self._lock:
            if key in self._scored:
                self._scored.move_to_end(key)
            return self._scored.get(key)

    def put(self, key: Hashable, scored: Scored) -> None:
        with self._lock:
            self._scored[key] = scored
            self._bytes += scored.scores.values.nbytes
            while len(self._scored) > 1 and (self._bytes > KEPT_BYTES or len(self._scored) > KEPT_TEXTS):
                _, oldest = self._scored.popitem(last=False)
                self._bytes -= oldest.scores.values.nbytes


def find_component(nlp: Language, spans_key: str) -> tuple[str, NestedNER]:
    """Name and pipe of the component nested_ner that writes to a key; a ValueError if there is none."""
    found = {name: pipe for name, pipe in nlp.pipeline if isinstance(pipe, NestedNER)}
    for name, pipe in found.items():
        if pipe.key == spans_key:
            return name, pipe
    if found:
        keys = ", ".join(f"{name} writes to {pipe.key!r}" for name, pipe in found.items())
        raise ValueError(f"no nested_ner writes to doc.spans[{spans_key!r}]: {keys}; see --spans-key")
    pipes = ", ".join(nlp.pipe_names) or "no components"
    raise ValueError(
        f"the pipeline has no component nested_ner, but {pipes}; train one (docs/tutorial.md), or explore `sample`"
    )
