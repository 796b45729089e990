"""What the training data contain, read in one pass before training starts: labels, lengths, what can be learned."""

import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from spacy.errors import Errors
from spacy.tokens import Doc
from spacy.training import Example, validate_examples
from spacy.util import logger

from ..annotation import Segment, as_mention
from ..decoders import AutoDecoder, Decoder, QuadraticDecoder
from .gold import AlignedGold, GoldReader, Lost, align, labeled_spans

# Docs that the model is initialized with.
_SAMPLE_SIZE = 10


class Survey(NamedTuple):
    """What examples have.

    sample (list[Doc]): Some docs with tokens.
    label_counts (dict[str, int]): Mentions of every label, in the order in which labels first appear.
    longest (int): Tokens of the longest mention, on the tokens of the predicted docs.
    gold (list[tuple[AlignedGold, list[Segment]]]): The mentions of every annotated doc, and its segments.
    """

    sample: list[Doc]
    label_counts: dict[str, int]
    longest: int
    gold: list[tuple[AlignedGold, list[Segment]]]

    def lost(self, reader: GoldReader, decoder: Decoder) -> Lost:
        """The mentions that cannot be learned."""
        lost = Lost()
        for aligned, segments in self.gold:
            for mentions, n_tokens in reader.place(aligned, segments, lost):
                reader.project(mentions, n_tokens, decoder, lost)
        return lost

    def choose_decoder(self, auto: AutoDecoder, reader: GoldReader) -> Decoder:
        """By the mentions that fit tokens, segments and the span limit; no decoder can recover the others."""
        placed = [each for aligned, segments in self.gold for each in reader.place(aligned, segments, Lost())]
        choice = auto.choose(placed, reader.span_limit, counts=self.label_counts)
        if choice is None:
            logger.info("AutoDecoder: no gold mention to choose by; the decoder is %r", QuadraticDecoder())
            return QuadraticDecoder()
        logger.info("AutoDecoder: %s of gold mentions are kept by %r", f"{choice.coverage:.2%}", choice.decoder)
        if not choice.is_enough:
            warnings.warn(
                f"no decoder keeps {auto.min_coverage:.2%} of the gold mentions, which is min_coverage of AutoDecoder; "
                f"{choice.decoder!r} keeps the most, {choice.coverage:.2%}. Mentions that cross are never kept",
                UserWarning,
                stacklevel=3,
            )
        return choice.decoder


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
    sample: list[Doc] = []
    gold: list[tuple[AlignedGold, list[Segment]]] = []
    counts: Counter[str] = Counter()
    for example in examples:
        validate_examples([example], method)
        if len(sample) < _SAMPLE_SIZE and len(example.x):
            sample.append(example.x)
        spans = labeled_spans(example.reference, reader.key)
        # Without duplicates, and in the order of the group: labels are numbered as they appear.
        counts.update(mention.label for mention in dict.fromkeys(map(as_mention, spans)))
        if reader.is_annotated(example.reference):
            reader.check(example.reference)
            gold.append((align(example, reader.key), segments_of(example.predicted)))
    longest = max((m.end - m.start for aligned, _ in gold for m in aligned.mentions), default=0)
    return Survey(sample, dict(counts), longest, gold)
