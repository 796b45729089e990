"""A corpus, sentence by sentence: what the pipeline gets wrong in each, and how undecided it is."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from threading import Event, Thread
from typing import Literal

from spacy.tokens import Doc
from spacy.util import minibatch

from ...annotation import mentions_of
from ...corpus import Record
from ...corpus.reader import bare_doc
from ...decoders import Mention
from .scoring import RefusedError, Scored, Scorer
from .view import View

# How many documents are scored at a time: what a user of the page asks for meanwhile has to wait for them.
BATCH = 16
# Characters of a sentence that the list shows.
SHOWN = 160

Order = Literal["corpus", "entropy", "errors"]


@dataclass(frozen=True)
class Sentence:
    """A sentence of a corpus, or a whole document if the pipeline does not know its sentences.

    number (int): Of the sentence, from 0 on.
    document (int): The number of its document, from 0 on.
    segment (int): Its number in the document, from 0 on.
    where (str): Where it comes from, for people.
    text (str): Its beginning.
    tokens (int): How many it has.
    labels (frozenset[str]): Of its gold and of what was found.
    errors (Counter[str]): By their kind; empty without gold.
    entropy (float): Of all its analyses, in nats.
    """

    number: int
    document: int
    segment: int
    where: str
    text: str
    tokens: int
    labels: frozenset[str]
    errors: Counter[str] = field(hash=False)
    entropy: float


@dataclass(frozen=True)
class Filter:
    """Which sentences are wanted. A sentence has to fit all of it.

    label (str | None): A label in the gold or among what was found.
    error (str | None): A kind of error; "any" for all kinds.
    entropy (float): At least this.
    order (Order): As in the corpus, or the highest entropy or the most errors first.
    """

    label: str | None = None
    error: str | None = None
    entropy: float = 0.0
    order: Order = "corpus"

    def fits(self, sentence: Sentence) -> bool:
        return (
            (self.label is None or self.label in sentence.labels)
            and (self.error is None or bool(sentence.errors if self.error == "any" else sentence.errors[self.error]))
            and sentence.entropy >= self.entropy
        )


class Corpus:
    """The sentences of a corpus. They are scored in a thread; until it is done, those that are ready are known.

    scorer (Scorer): The pipeline.
    records (Iterable[Record]): The documents.
    name (str): What the page calls the corpus.
    """

    def __init__(self, scorer: Scorer, records: Iterable[Record], name: str = "corpus"):
        self.name = name
        self.sentences: list[Sentence] = []
        self.scored = 0  # documents
        self.failure: str | None = None
        self._scorer = scorer
        records = [record for record in records if len(record.doc)]
        self._places = [record.where.rpartition(", ")[2] or record.where for record in records]
        self._docs = [bare_doc(scorer.nlp, record.doc) for record in records]
        self.fingerprint = _fingerprint(self._docs)
        self._gold = [_gold_of(record.doc, scorer.spans_key) for record in records]
        self._stop = Event()
        self._thread = Thread(target=self._score_all, name="explorer-corpus", daemon=True)

    def __len__(self) -> int:
        """The number of documents."""
        return len(self._docs)

    @property
    def has_gold(self) -> bool:
        return any(gold is not None for gold in self._gold)

    def start(self) -> None:
        """Begin to score the documents."""
        self._thread.start()

    def wait(self) -> None:
        """Until all documents are scored."""
        self._thread.join()

    def stop(self) -> None:
        """Score no more documents."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def document(self, number: int) -> Doc:
        """The tokens and sentences of a document."""
        if not 0 <= number < len(self._docs):
            raise RefusedError(f"There is no document {number}; expected 0 to {len(self._docs) - 1}.")
        return self._docs[number]

    def scored_document(self, number: int) -> Scored:
        """A document with its scores and gold."""
        # A copy: other components may have changed the sentences of the one that is scored.
        return self._scorer.document(
            (self, number), bare_doc(self._scorer.nlp, self.document(number)), self._gold[number]
        )

    def sentence(self, number: int) -> Sentence:
        if not 0 <= number < len(self.sentences):
            known = f"expected 0 to {len(self.sentences) - 1}" if self.sentences else "none is ready"
            raise RefusedError(f"There is no sentence {number} yet; {known}.")
        return self.sentences[number]

    def scored_sentence(self, number: int) -> Scored:
        """A sentence with its scores and gold."""
        sentence = self.sentence(number)
        return self.scored_document(sentence.document).segment(sentence.segment)

    def find(self, wanted: Filter) -> list[Sentence]:
        """The sentences that fit, in the order that is wanted."""
        found = [sentence for sentence in list(self.sentences) if wanted.fits(sentence)]
        if wanted.order == "entropy":
            found.sort(key=lambda sentence: -sentence.entropy)
        elif wanted.order == "errors":
            found.sort(key=lambda sentence: -sentence.errors.total())
        return found

    def _score_all(self) -> None:
        try:
            for batch in minibatch(range(len(self._docs)), BATCH):
                if self._stop.is_set():
                    return
                self._score(batch)
        except Exception as error:  # shown on the page: a thread has nobody else to tell
            self.failure = f"The corpus could not be scored any further: {error}"

    def _score(self, numbers: Sequence[int]) -> None:
        copies = [bare_doc(self._scorer.nlp, self._docs[number]) for number in numbers]
        for number, scored in zip(numbers, self._scorer.documents(copies)):
            whole = Scored(scored.doc, scored.scores, scored.segments, self._gold[number])
            self.sentences += list(self._describe(number, whole))  # at once: others read the list
            self.scored += 1

    def _describe(self, document: int, scored: Scored) -> Iterator[Sentence]:
        for segment in range(len(scored.segments)):
            view = View.of(self._scorer, scored.segment(segment), self._scorer.settings)
            place = self._places[document]
            yield Sentence(
                number=len(self.sentences) + segment,
                document=document,
                segment=segment,
                where=f"{place}, sentence {segment + 1}" if len(scored.segments) > 1 else place,
                text=_beginning(view.scored.doc),
                tokens=len(view.scored.doc),
                labels=frozenset(m.label for m in [*view.mentions, *(view.scored.gold or ())]),
                errors=Counter(error.kind for error in view.errors),
                entropy=view.prediction.entropy,
            )


def _gold_of(doc: Doc, spans_key: str) -> list[Mention] | None:
    """The gold mentions, on the tokens of the doc; None if it is not annotated."""
    return mentions_of(doc, spans_key) if spans_key in doc.spans else None


def _fingerprint(docs: Iterable[Doc]) -> str:
    """Of the tokens of documents."""
    digest = sha256()
    for doc in docs:
        digest.update("\0".join(token.text for token in doc).encode() + b"\n")
    return digest.hexdigest()[:16]


def _beginning(doc: Doc) -> str:
    text = " ".join("".join(token.text_with_ws for token in islice(doc, SHOWN)).split())
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
