"""Run a pipeline on documents with gold mentions: at its own settings, and at other thresholds."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import minibatch
from tqdm import tqdm

from ..annotation import mentions_of, sentence_bounds
from ..corpus import Record
from ..corpus.reader import bare_doc
from ..decoders import Mention
from ..pipeline.component import NestedNER
from ..pipeline.prediction import expected_weights

THRESHOLDS = tuple(n / 100 for n in range(5, 100, 5))

# Mentions with their probabilities.
Found = dict[Mention, float]


@dataclass
class Judged:
    """A document with its gold mentions and what the pipeline found, in tokens of the gold.

    sentences (list[tuple[int, int]]): Where the sentences of the gold begin and end.
    found (Found): At the settings of the pipeline.
    at (dict[float, Found]): At other thresholds.
    probabilities (Found): Of gold mentions, also of those not found, where a component knows them.
    segments (list[tuple[int, int, float]]): What was decoded as one, a sentence or the document: where it
        begins and ends, and its entropy, where a component knows it.
    unaligned (int): Mentions found that begin or end inside a token of the gold. They are in no score,
        as in spaCy's own.
    """

    where: str
    words: list[str]
    sentences: list[tuple[int, int]]
    gold: set[Mention]
    found: Found
    at: dict[float, Found] = field(default_factory=dict)
    probabilities: Found = field(default_factory=dict)
    segments: list[tuple[int, int, float]] = field(default_factory=list)
    unaligned: int = 0

    def probability(self, mention: Mention) -> float:
        """The probability of a mention, as far as it is known; 0 for one found at no threshold."""
        known = (self.probabilities, self.found, *self.at.values())
        return next((found[mention] for found in known if mention in found), 0.0)


def predict(
    nlp: Language,
    records: Iterable[Record],
    *,
    spans_key: str = "sc",
    thresholds: Iterable[float] = THRESHOLDS,
    gold_tokens: bool = False,
    progress: bool = False,
) -> list[Judged]:
    """Documents without gold mentions under the key, and those without tokens, are left out.

    thresholds (Iterable[float]): A component with a threshold predicts once for each of them; what any
        other has found is filtered by its scores.
    gold_tokens (bool): Predict on the tokens and sentences of the data; otherwise on what the pipeline makes
        of the text, as `spacy evaluate` does.
    progress (bool): Show bars, on terminals only.
    """
    check_pipeline(nlp, spans_key)
    kept = [record for record in records if len(record.doc) and spans_key in record.doc.spans]
    examples = [make_example(nlp, record.doc, gold_tokens) for record in kept]
    judged: list[Judged] = []
    for example, record in zip(annotated(nlp, examples, progress), kept):
        check_scores(nlp, example.predicted, spans_key)
        found, unaligned = _found(example, spans_key)
        gold = set(mentions_of(example.reference, spans_key))
        words = [token.text for token in example.reference]
        bounds = sentence_bounds(example.reference)
        judged.append(Judged(record.where, words, bounds, gold, found, unaligned=unaligned))
    component = component_of(nlp, spans_key)
    pipe = component[1] if component else None
    batches = list(minibatch(zip(examples, judged), nlp.batch_size))
    if isinstance(pipe, NestedNER):
        for batch in bar(batches, len(batches), "batches", progress):
            _add_probabilities(pipe, *zip(*batch))
    _add_thresholds(pipe, batches, spans_key, list(thresholds), progress)
    return judged


def component_of(nlp: Language, spans_key: str) -> tuple[str, Any] | None:
    """Name and pipe of the last component that says it writes to this key."""
    found = [(name, pipe) for name, pipe in nlp.pipeline if getattr(pipe, "key", None) == spans_key]
    return found[-1] if found else None


def check_pipeline(nlp: Language, spans_key: str) -> None:
    """An error, before any work, if no component says or may be expected to write to the key."""
    keys = {name: pipe.key for name, pipe in nlp.pipeline if isinstance(getattr(pipe, "key", None), str)}
    if spans_key in keys.values():
        return
    if keys:
        others = ", ".join(f"{name} to doc.spans[{key!r}]" for name, key in keys.items())
        raise ValueError(f"no component of the pipeline writes to doc.spans[{spans_key!r}]: {others}; see --spans-key")
    # A component written as a function says nothing of keys; whether it writes is seen at the first doc.
    if all(hasattr(pipe, "model") for _, pipe in nlp.pipeline):
        raise _no_scores(nlp.pipe_names, spans_key)


def check_scores(nlp: Language, doc: Doc, spans_key: str) -> None:
    """An error if nothing wrote mentions with probabilities to a doc that the pipeline has seen."""
    if spans_key not in doc.spans or "scores" not in doc.spans[spans_key].attrs:
        raise _no_scores(nlp.pipe_names, spans_key)


def _no_scores(names: Iterable[str], spans_key: str) -> ValueError:
    pipes = ", ".join(names) or "no components"
    return ValueError(
        f"looked for a component that writes mentions to doc.spans[{spans_key!r}] and their probabilities to its "
        f'attrs["scores"], such as nested_ner or spancat; the pipeline has {pipes}'
    )


def make_example(nlp: Language, doc: Doc, gold_tokens: bool = False) -> Example:
    """Tokens as `spacy evaluate` takes them: those of the pipeline, where the text is known; or those of the
    gold, with its sentences."""
    reference = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    if gold_tokens:
        return Example(bare_doc(nlp, doc), reference)
    if not doc.has_unknown_spaces:
        return Example(nlp.make_doc(doc.text), reference)
    words, spaces = zip(*((token.text, bool(token.whitespace_)) for token in doc))
    return Example(Doc(nlp.vocab, words=words, spaces=spaces), reference)


def annotated(nlp: Language, examples: Sequence[Example], progress: bool) -> Iterator[Example]:
    """The examples, after the pipeline has run on their predicted docs."""
    # A component may be asked again and need what a doc_cleaner removes: listeners the tensor.
    cleaners = [name for name in nlp.pipe_names if nlp.get_pipe_meta(name).factory == "doc_cleaner"]
    with nlp.select_pipes(disable=cleaners):
        docs = nlp.pipe(example.predicted for example in examples)
        for example, _ in zip(examples, bar(docs, len(examples), "documents", progress)):
            yield example


def _found(example: Example, spans_key: str) -> tuple[Found, int]:
    """What stands in the predicted doc, in tokens of the gold, and how much does not fit them."""
    group = example.predicted.spans[spans_key]
    found: Found = {}
    unaligned = 0
    for span, score in zip(group, group.attrs["scores"]):
        aligned: list[Span] = example.get_aligned_spans_x2y([span], True)
        for other in aligned:
            mention = Mention(other.start, other.end, other.label_)
            found[mention] = max(float(score), found.get(mention, 0.0))
        unaligned += not aligned
    return found, unaligned


def _add_probabilities(pipe: NestedNER, examples: Sequence[Example], judged: Sequence[Judged]) -> None:
    """The marginals of gold mentions, and entropies. Gold outside the search space keeps no marginal: it is
    impossible."""
    docs = [example.predicted for example in examples]
    scores, segmented = pipe.scores(docs)
    pieces = [(k, start, n) for k, segments in enumerate(segmented) for start, n in segments]
    totals, marginals = pipe.decoder.log_partition_and_marginals(scores)
    expected = expected_weights(scores, marginals)
    limit = pipe.span_limit or max(map(len, docs))
    numbers = {label: number for number, label in enumerate(pipe.labels)}
    gold = [list(_gold_in_predicted(example, each.gold)) for example, each in zip(examples, judged)]
    for segment, (k, first, n) in enumerate(pieces):
        entropy = max(0.0, totals[segment] - expected[segment])
        judged[k].segments.append((*_in_gold(examples[k], first, first + n), entropy))
        for mention, start, end in gold[k]:
            if first <= start and end <= first + n and end - start <= limit and mention.label in numbers:
                cell = marginals.layout.cell(segment, start - first, end - first)
                judged[k].probabilities[mention] = float(marginals.values[numbers[mention.label], cell])


def _in_gold(example: Example, start: int, end: int) -> tuple[int, int]:
    """A stretch of the predicted doc in tokens of the gold. A token of the gold is where it begins; both docs
    have the same text."""
    predicted, begins = example.predicted, [token.idx for token in example.reference]
    first = bisect_left(begins, predicted[start].idx) if start else 0
    return first, bisect_left(begins, predicted[end].idx) if end < len(predicted) else len(begins)


def _gold_in_predicted(example: Example, gold: set[Mention]) -> Iterator[tuple[Mention, int, int]]:
    """Gold mentions with their start and end in tokens of the predicted doc."""
    for mention in gold:
        span = Span(example.reference, mention.start, mention.end)
        for aligned in example.get_aligned_spans_y2x([span], True):
            yield mention, aligned.start, aligned.end


def _add_thresholds(
    pipe: Any,
    batches: list[list[tuple[Example, Judged]]],
    spans_key: str,
    thresholds: list[float],
    progress: bool,
) -> None:
    """What is found at each of them."""
    if not _has_threshold(pipe):
        for _, each in chain.from_iterable(batches):
            each.at = {t: {m: p for m, p in each.found.items() if p >= t} for t in thresholds}
        return
    with _restored(pipe.cfg):
        for threshold in bar(thresholds, len(thresholds), "thresholds", progress):
            pipe.cfg["threshold"] = threshold
            for batch in batches:
                docs = [example.predicted for example, _ in batch]
                pipe.set_annotations(docs, pipe.predict(docs))
                for example, each in batch:
                    each.at[threshold] = _found(example, spans_key)[0]


def _has_threshold(pipe: Any) -> bool:
    return isinstance(pipe, NestedNER) or isinstance(getattr(pipe, "cfg", {}).get("threshold"), float)


@contextmanager
def _restored(cfg: dict[str, Any]) -> Iterator[None]:
    threshold = cfg["threshold"]
    try:
        yield
    finally:
        cfg["threshold"] = threshold


def bar(items: Iterable[Any], total: int, unit: str, progress: bool) -> Iterable[Any]:
    return tqdm(items, total=total, unit=f" {unit}", leave=False, disable=None if progress else True)
