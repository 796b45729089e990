"""What the training data contain, read in one pass before training starts: labels, lengths, what can be learned."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from shlex import quote
from typing import NamedTuple

from spacy.errors import Errors
from spacy.tokens import Doc
from spacy.training import Example, validate_examples

from .._warn import warn
from ..annotation import Segment, as_mention
from ..decoders import Mention
from .gold import AlignedGold, GoldReader, align, labeled_spans
from .lost import Lost

# Docs that the model is initialized with.
_SAMPLE_SIZE = 10


class Survey(NamedTuple):
    """What examples have.

    n_docs (int): How many there are.
    sample (list[Doc]): Some docs with tokens.
    label_counts (dict[str, int]): Mentions of every label, in the order in which labels first appear.
    gold (list[tuple[AlignedGold, list[Segment]]]): The mentions of every annotated doc, and its segments.
    other_keys (dict[str, int]): Spans under other keys, in docs without a mention.
    entities (int): Entities in `doc.ents`, in docs without a mention.
    """

    n_docs: int
    sample: list[Doc]
    label_counts: dict[str, int]
    gold: list[tuple[AlignedGold, list[Segment]]]
    other_keys: dict[str, int]
    entities: int

    def place(self, reader: GoldReader, lost: Lost) -> list[tuple[list[Mention], int]]:
        """The mentions that any search space could keep: of every segment that has some, with its number of tokens.

        lost (Lost): Counts the others.
        """
        placed = (each for aligned, segments in self.gold for each in reader.place(aligned, segments, lost))
        return [(mentions, n_tokens) for mentions, n_tokens in placed if mentions]

    def describe_other_annotation(self, spans_key: str) -> str:
        """What is annotated elsewhere in docs without a mention, and how to use it."""
        found = [f"{n:,} spans in doc.spans[{key!r}]" for key, n in self.other_keys.items()]
        advice = []
        if self.other_keys:
            largest = max(self.other_keys, key=self.other_keys.__getitem__)
            advice.append(f"set spans_key = {json.dumps(largest)} in the config of nested_ner")
        if self.entities:
            found.append(f"{self.entities:,} entities in doc.ents")
            key = "" if spans_key == "sc" else f" --spans-key {quote(spans_key)}"
            advice.append(f"move the entities to spans with `spacy nested-ner convert in.spacy out.spacy --ents{key}`")
        if not found:
            return (
                "they have no other spans or entities either: check that the right files are read or, in Python, that "
                "nlp.initialize is given examples"
            )
        return f"found {' and '.join(found)}: {', or '.join(advice)}"


def check_mentions_found(survey: Survey, spans_key: str, labels: Sequence[str]) -> None:
    """Raise an error if there is nothing to learn, or warn about it if there are labels from elsewhere.

    labels (Sequence[str]): What the component knows.
    """
    if survey.label_counts:
        return
    message = f"nested_ner found no mention in doc.spans[{spans_key!r}] of the {survey.n_docs:,} training docs"
    if not labels:
        raise ValueError(f"{message}, and was given no labels; {survey.describe_other_annotation(spans_key)}")
    if survey.other_keys or survey.entities:
        warn(f"{message}, and will learn to find none; {survey.describe_other_annotation(spans_key)}")


def survey_examples(
    get_examples: Callable[[], Iterable[Example]],
    reader: GoldReader,
    segments_of: Callable[[Doc], list[Segment]],
) -> Survey:
    """Read examples once, and check their annotation.

    get_examples (Callable): Gives the examples. Called once: spaCy's own check would read a corpus twice.
    segments_of (Callable): Where the segments of a doc begin and end.
    """
    method = "NestedNER.initialize"
    examples = get_examples() if callable(get_examples) else get_examples
    if not callable(get_examples) or not examples:
        raise TypeError(Errors.E930.format(method=method, obj=type(examples)))
    n_docs = entities = 0
    sample: list[Doc] = []
    gold: list[tuple[AlignedGold, list[Segment]]] = []
    counts: Counter[str] = Counter()
    other_keys: Counter[str] = Counter()
    for example in examples:
        validate_examples([example], method)
        n_docs += 1
        if len(sample) < _SAMPLE_SIZE and len(example.x):
            sample.append(example.x)
        reference = example.reference
        spans = labeled_spans(reference, reader.key)
        # Without duplicates, and in the order of the group: labels are numbered as they appear.
        counts.update(mention.label for mention in dict.fromkeys(map(as_mention, spans)))
        if not spans:
            others = reference.spans.keys() - {reader.key, reader.incorrect_key}
            other_keys.update({key: len(reference.spans[key]) for key in others})
            entities += len(reference.ents)
        if reader.is_annotated(reference):
            reader.check(reference)
            gold.append((align(example, reader.key), segments_of(example.predicted)))
    return Survey(n_docs, sample, dict(counts), gold, dict(+other_keys), entities)
