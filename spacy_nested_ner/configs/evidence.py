"""What a component will learn from: the examples that the reader of a config gives, on the tokens of the pipeline."""

import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from spacy.language import Language
from spacy.training import Example

from .._progress import progress_bar
from ..annotation import by_segment, sentence_bounds
from ..decoders import AutoDecoder, Decoder, Mention, QuadraticDecoder
from ..decoders.auto import count_kept
from ..decoders.nesting import depths
from ..decoders.span_limit import WITHOUT_MENTIONS, LimitChoice, choose_limit, lengths_of
from ..pipeline.gold import align, labeled_spans, on_predicted
from .contents import Contents

Reader = Callable[[Language], Iterable[Example]]


@dataclass
class Evidence:
    """The gold mentions of a corpus as a component sees them.

    unannotated (int): Examples without a group of mentions, which teach nothing.
    mentions (int): All gold mentions.
    labels (Counter[str]): The mentions by label.
    nested (int): Mentions inside another.
    lengths (Counter[int]): The mentions that align with the tokens, by number of tokens.
    misaligned (list[str]): The texts of those that begin or end inside a token.
    segments (list[tuple[list[Mention], int]]): The mentions in each stretch of text that is decoded as one, and its
        number of tokens.
    """

    examples: int = 0
    unannotated: int = 0
    mentions: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    nested: int = 0
    lengths: Counter[int] = field(default_factory=Counter)
    misaligned: list[str] = field(default_factory=list)
    segments: list[tuple[list[Mention], int]] = field(default_factory=list)

    @property
    def longest(self) -> int:
        """Tokens of the longest mention."""
        return max(self.lengths, default=0)

    @cached_property
    def limit(self) -> LimitChoice | None:
        """What max_span_length = "auto" will choose when training starts. Ask for it after the last example."""
        return choose_limit(lengths_of(self.segments))

    @property
    def span_limit(self) -> int:
        """Tokens of the longest span that is scored."""
        return WITHOUT_MENTIONS if self.limit is None else self.limit.limit

    @cached_property
    def scored(self) -> list[tuple[list[Mention], int]]:
        """The mentions in each stretch of text that a decoder could keep, and its number of tokens."""
        return [([m for m in mentions if m.end - m.start <= self.span_limit], n) for mentions, n in self.segments]

    @property
    def placed(self) -> int:
        """Mentions that align with tokens and segments and are not too long, so that a decoder could keep them."""
        return sum(len(mentions) for mentions, _ in self.scored)

    def kept_by(self, decoder: Decoder) -> int:
        """Mentions that a search space keeps."""
        return count_kept(self.scored, [decoder])[0]

    @cached_property
    def decoder(self) -> Decoder:
        """What the component will choose when training starts. Ask for it after the last example."""
        choice = AutoDecoder().choose(self.scored, self.span_limit)
        return QuadraticDecoder() if choice is None else choice.decoder

    def add(self, example: Example, spans_key: str, *, use_sentences: bool) -> None:
        """Count an example."""
        self.examples += 1
        if spans_key not in example.reference.spans:
            self.unannotated += 1
            return
        self.labels.update(span.label_ for span in labeled_spans(example.reference, spans_key))
        gold = align(example, spans_key)
        self.mentions += gold.n_gold
        self.nested += sum(depth > 1 for depth in depths(gold.mentions))
        self.lengths.update(mention.end - mention.start for mention in gold.mentions)
        segments = sentence_bounds(example.predicted, use_sentences=use_sentences)
        inside, _ = by_segment(gold.mentions, segments)
        self.segments += [(mentions, end - start) for (start, end), mentions in zip(segments, inside)]
        if gold.misaligned:
            self._add_misaligned(example, spans_key)

    def _add_misaligned(self, example: Example, spans_key: str) -> None:
        for span in example.reference.spans[spans_key]:
            if not on_predicted(example, [span]):
                self.misaligned.append(span.text)


class Part(NamedTuple):
    """A part of a corpus: what its files hold, and what the component will see of it."""

    contents: Contents
    evidence: Evidence


def collect_evidence(
    read: Reader, nlp: Language, spans_key: str, *, use_sentences: bool = True, progress: bool = False
) -> Evidence:
    """Read a corpus as training will.

    read (Reader): What the config names in [corpora].
    nlp (Language): A pipeline with the tokenizer of the config.
    use_sentences (bool): The setting of the component.
    progress (bool): Show a progress bar on a terminal.
    """
    evidence = Evidence()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # training will repeat them
        for example in progress_bar(read(nlp), unit="documents", shown=progress):
            evidence.add(example, spans_key, use_sentences=use_sentences)
    return evidence
