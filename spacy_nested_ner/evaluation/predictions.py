"""What a pipeline finds in documents with gold mentions, on the tokens of the gold."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import minibatch

from .._progress import progress_bar
from ..annotation import Segment, mentions_of, sentence_bounds
from ..corpus import Record
from ..corpus.reader import bare_doc
from ..decoders import Mention
from .alignment import Alignment
from .components import SplitPipeline, check_scores
from .findings import Finding, Written, find, written_to

THRESHOLDS = tuple(n / 100 for n in range(5, 100, 5))

# Mentions with their probabilities.
Found = dict[Mention, float]


@dataclass(frozen=True)
class Judged:
    """A document with its gold mentions and those that the pipeline found, on the tokens of the gold.

    where (str): Where the document comes from.
    words (list[str]): The tokens of the gold.
    sentences (list[Segment]): Where the sentences of the gold begin and end.
    gold (set[Mention]): The gold mentions.
    found (Found): At the settings of the pipeline.
    at (dict[float, Found]): At other thresholds.
    probabilities (Found): Of gold mentions, including those not found, where a component knows them.
    segments (list[tuple[int, int, float]]): Where what was decoded as one, a sentence or the document, begins and ends,
        and its entropy, where a component knows it.
    unaligned (int): Mentions found that begin or end inside a token of the gold. They are in no score, as in spaCy.
    spaces (list[str]): What is written after each of the words; nothing here if that is one space.
    """

    where: str
    words: list[str]
    sentences: list[Segment]
    gold: set[Mention]
    found: Found
    at: dict[float, Found] = field(default_factory=dict)
    probabilities: Found = field(default_factory=dict)
    segments: list[tuple[int, int, float]] = field(default_factory=list)
    unaligned: int = 0
    spaces: list[str] = field(default_factory=list)

    def spaces_between(self, start: int, end: int) -> list[str]:
        """What is written after each of some words."""
        return self.spaces[start:end] or [" "] * (end - start)

    def probability(self, mention: Mention) -> float:
        """The probability of a mention, as far as it is known; 0 for one found at no threshold."""
        known = (self.probabilities, self.found, *self.at.values())
        return next((found[mention] for found in known if mention in found), 0.0)


def predict(
    nlp: Language,
    records: Iterable[Record],
    *,
    spans_key: str = "sc",
    gold_key: str | None = None,
    thresholds: Iterable[float] = THRESHOLDS,
    gold_tokens: bool = False,
    progress: bool = False,
) -> list[Judged]:
    """Run a pipeline on documents with gold mentions. Documents without mentions under the key, and those without
    tokens, are left out.

    nlp (Language): A trained pipeline.
    records (Iterable[Record]): Documents with gold mentions.
    spans_key (str): The pipeline writes mentions to `doc.spans[spans_key]`.
    gold_key (str | None): The gold mentions are in `doc.spans[gold_key]`; None if that is the same key.
    thresholds (Iterable[float]): nested_ner and spancat find mentions at each of them; what any other component has
        found is filtered by its scores.
    gold_tokens (bool): Predict on the tokens and sentences of the data; otherwise on the tokens that the pipeline makes
        of the text, as `spacy evaluate` does.
    progress (bool): Show a bar, on terminals only.
    """
    pipeline = SplitPipeline.at(nlp, spans_key)
    keys = _Keys(spans_key if gold_key is None else gold_key, spans_key)
    kept = [record for record in records if len(record.doc) and keys.gold in record.doc.spans]
    thresholds = list(thresholds)
    judged: list[Judged] = []
    with progress_bar(total=len(kept), unit="documents", shown=progress) as bar:
        for batch in minibatch(kept, nlp.batch_size):
            examples = [make_example(nlp, record.doc, gold_tokens) for record in batch]
            judged += _judge(pipeline, examples, [record.where for record in batch], keys, thresholds)
            bar.update(len(batch))
    return judged


class _Keys(NamedTuple):
    """Where mentions are in `doc.spans`."""

    gold: str
    found: str


def make_example(nlp: Language, doc: Doc, gold_tokens: bool = False) -> Example:
    """An example with the tokens of the pipeline if the text is known, as `spacy evaluate` makes it; or with the tokens
    and sentences of the gold."""
    reference = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    if gold_tokens:
        return Example(bare_doc(nlp, doc), reference)
    if not doc.has_unknown_spaces:
        return Example(nlp.make_doc(doc.text), reference)
    words, spaces = [token.text for token in doc], [bool(token.whitespace_) for token in doc]
    return Example(Doc(nlp.vocab, words=words, spaces=spaces), reference)


def _judge(
    pipeline: SplitPipeline,
    examples: Sequence[Example],
    places: Sequence[str],
    keys: _Keys,
    thresholds: Sequence[float],
) -> list[Judged]:
    """Run the pipeline on a batch."""
    docs = [example.predicted for example in examples]
    pipeline.run(pipeline.before, docs)
    alignments = [Alignment(example) for example in examples]
    # Gold mentions on the tokens of the predicted docs.
    asked = [
        _aligned(mentions_of(example.reference, keys.gold), alignment.to_predicted)
        for example, alignment in zip(examples, alignments)
    ]
    findings = find(pipeline, docs, [mentions.values() for mentions in asked], thresholds)
    # Brought to the tokens of the gold before later components run, which may change those of the docs.
    judged = [_with_finding(*each, keys.gold) for each in zip(places, examples, alignments, asked, findings)]
    pipeline.run(pipeline.after, docs)
    for doc in docs:
        check_scores(pipeline.nlp, doc, keys.found)
    return [_with_found(*each, keys.found, thresholds) for each in zip(judged, examples)]


def _with_finding(
    where: str,
    example: Example,
    alignment: Alignment,
    asked: dict[Mention, Mention],
    finding: Finding,
    gold_key: str,
) -> Judged:
    """The gold, and what the component knows in addition to the mentions that it writes."""
    reference, probabilities = example.reference, finding.probabilities
    return Judged(
        where,
        [token.text for token in reference],
        sentence_bounds(reference),
        set(mentions_of(reference, gold_key)),
        {},
        at={threshold: _in_gold(written, alignment)[0] for threshold, written in finding.at.items()},
        probabilities={gold: probabilities[mention] for gold, mention in asked.items() if mention in probabilities},
        spaces=[token.whitespace_ for token in reference],
        segments=[(*alignment.stretch_to_gold(start, end), entropy) for start, end, entropy in finding.segments],
    )


def _with_found(judged: Judged, example: Example, spans_key: str, thresholds: Sequence[float]) -> Judged:
    """The same with the mentions that the whole pipeline has written."""
    found, unaligned = _in_gold(written_to(example.predicted, spans_key), Alignment(example))
    filtered = {threshold: {m: p for m, p in found.items() if p >= threshold} for threshold in thresholds}
    return replace(judged, found=found, at=judged.at or filtered, unaligned=unaligned)


def _in_gold(written: Written, alignment: Alignment) -> tuple[Found, int]:
    """Mentions of the predicted doc on the tokens of the gold, and the number of those that do not align."""
    aligned = _aligned([mention for mention, _ in written], alignment.to_gold)
    found: Found = {}
    for mention, probability in written:
        if mention in aligned:
            found[aligned[mention]] = max(probability, found.get(aligned[mention], 0.0))
    return found, sum(mention not in aligned for mention, _ in written)


def _aligned(mentions: Iterable[Mention], align: Callable[[int, int], Segment | None]) -> dict[Mention, Mention]:
    """Mentions on the tokens of one doc to the same on those of the other; without those that do not align."""
    bounds = ((mention, align(mention.start, mention.end)) for mention in mentions)
    return {mention: Mention(*places, mention.label) for mention, places in bounds if places is not None}
