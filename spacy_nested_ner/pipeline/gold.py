"""What a doc is annotated with: gold mentions, as far as a search space and a model can learn them, with an
account of the rest; mentions that are known to be wrong; and whether there may be others."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from numbers import Real

from spacy.tokens import Doc, Span
from spacy.training import Example

from ..annotation import INCOMPLETE
from ..decoders import AutoDecoder, Decoder, Mention, QuadraticDecoder

# Why a gold mention cannot be learned, and what would win it back.
_REASONS = {
    "tokens": (
        "do not begin and end with a token",
        'check the tokenizer against the one of the annotation, or read with its tokens: "spacy-nested-ner.Corpus.v1"',
    ),
    "label": ("have a label that the component does not know", "add it to the labels"),
    "sentence": ("cross a sentence boundary", "set use_sentences = false, or correct the sentence boundaries"),
    "length": ("are longer than max_span_length = {limit}", 'set max_span_length = "auto" or null'),
    "space": ("are outside the search space of {decoder}", "{advice}"),
}


class Lost:
    """Counts gold mentions that cannot be learned, by label and reason."""

    def __init__(self) -> None:
        self.n_gold = 0
        self.counts: Counter[tuple[str, str]] = Counter()

    def __bool__(self) -> bool:
        return bool(self.counts)

    def describe(self, decoder: Decoder, limit: int | None, *, auto: AutoDecoder | None = None) -> str:
        """What is lost, with numbers and what to do about it, in one message.

        auto (AutoDecoder | None): What has chosen the decoder.
        """
        wider = _wider_space(decoder)
        if auto is not None:
            wider = f"raise min_coverage = {auto.min_coverage} of AutoDecoder, unless they cross others"
        total = sum(self.counts.values())
        lines = [
            f"nested_ner cannot learn {total} of {self.n_gold} gold mentions ({total / max(self.n_gold, 1):.2%}); "
            f"they are left out of training:"
        ]
        for reason, (what, advice) in _REASONS.items():
            by_label = Counter({label: n for (label, why), n in self.counts.items() if why == reason})
            if by_label:
                labels = ", ".join(f"{label} {n}" for label, n in by_label.most_common())
                text = f"  {sum(by_label.values())} {what} ({labels}): {advice}"
                lines.append(text.format(limit=limit, decoder=repr(decoder), advice=wider))
        return "\n".join(lines)


def gold_of_segments(
    example: Example,
    spans_key: str,
    labels: Sequence[str],
    segments: list[tuple[int, int]],
    decoder: Decoder,
    limit: int | None,
    lost: Lost | None = None,
) -> Iterator[list[Mention]]:
    """The gold mentions of every segment of the predicted doc, with label numbers, inside the search space.

    segments (list[tuple[int, int]]): Start and length of each.
    limit (int | None): Tokens of the longest mention.
    lost (Lost | None): Is told about mentions that are left out.
    """
    lost = Lost() if lost is None else lost
    for inside, length in mentions_of_segments(example, spans_key, labels, segments, limit, lost):
        kept = decoder.project(inside, length)
        for mention in set(inside).difference(kept):
            lost.counts[labels[mention.label], "space"] += 1
        yield kept


def mentions_of_segments(
    example: Example,
    spans_key: str,
    labels: Sequence[str],
    segments: list[tuple[int, int]],
    limit: int | None,
    lost: Lost,
) -> Iterator[tuple[list[Mention], int]]:
    """The same for any search space, with the length of every segment."""
    mentions = _aligned_mentions(example, spans_key, labels, lost)
    for start, length in segments:
        inside = []
        while mentions and mentions[-1].start < start + length:
            mention = mentions.pop()
            if mention.end > start + length:
                lost.counts[labels[mention.label], "sentence"] += 1
            elif limit is not None and mention.end - mention.start > limit:
                lost.counts[labels[mention.label], "length"] += 1
            else:
                inside.append(Mention(mention.start - start, mention.end - start, mention.label))
        yield inside, length


def _aligned_mentions(example: Example, spans_key: str, labels: Sequence[str], lost: Lost) -> list[Mention]:
    """Gold mentions on the tokens of the predicted doc, last one first."""
    gold = {(span.start, span.end, span.label_): span for span in example.reference.spans.get(spans_key, [])}
    numbers = {label: number for number, label in enumerate(labels)}
    aligned = on_predicted(example, gold.values())
    lost.n_gold += len(gold)
    missing = Counter(label for _, _, label in gold) - Counter(span.label_ for span in aligned)
    for label, number in missing.items():
        lost.counts[label, "tokens"] += number
    for span in aligned:
        if span.label_ not in numbers:
            lost.counts[span.label_, "label"] += 1
    known = {Mention(s.start, s.end, numbers[s.label_]) for s in aligned if s.label_ in numbers}
    return sorted(known, reverse=True)


def incorrect_of_segments(
    example: Example,
    incorrect_spans_key: str,
    labels: Sequence[str],
    segments: list[tuple[int, int]],
    limit: int | None,
) -> list[list[Mention]]:
    """The mentions of every segment that are known to be wrong. A span without a label stands for all labels.

    Spans that no prediction could have are left out: they do not begin and end with a token, cross a sentence
    boundary, are too long, or have a label that the component does not know.
    """
    numbers = {label: [number] for number, label in enumerate(labels)} | {"": list(range(len(labels)))}
    spans = on_predicted(example, example.reference.spans.get(incorrect_spans_key, []))
    starts = [start for start, _ in segments]
    result: list[list[Mention]] = [[] for _ in segments]
    for span in spans:
        place = bisect_right(starts, span.start) - 1
        start, length = segments[place]
        if span.end <= start + length and (limit is None or span.end - span.start <= limit):
            result[place] += [
                Mention(span.start - start, span.end - start, number) for number in numbers.get(span.label_, ())
            ]
    return result


def labelled_spans(reference: Doc, spans_key: str) -> list[Span]:
    """The gold mentions of a doc; an error if one has no label."""
    spans = list(reference.spans.get(spans_key, []))
    for span in spans:
        if not span.label:
            raise ValueError(
                f"the doc {_shortened(reference.text)!r} has {span.text!r} (tokens {span.start} to {span.end}) without "
                f"a label in doc.spans[{spans_key!r}]; expected a label of at least one character"
            )
    return spans


def on_predicted(example: Example, spans: Iterable[Span]) -> list[Span]:
    """Spans of the gold doc on the tokens of the predicted one; those that do not fit them are left out."""
    spans = list(spans)
    for span in spans:
        # spaCy looks labels up in the vocab of the other doc, which may be another one.
        example.predicted.vocab.strings.add(span.label_)
    return example.get_aligned_spans_y2x(spans, allow_overlap=True)


def missing_rate_of(reference: Doc, spans_key: str, default: float) -> float | None:
    """The probability that a mention of a doc was not annotated; None if all of them were.

    default (float): For docs that say that they are incomplete, but not how much.
    """
    if spans_key not in reference.spans:
        return default
    value = reference.spans[spans_key].attrs.get(INCOMPLETE)
    if value is None or value is False:
        return None
    if value is True:
        return default
    if not isinstance(value, Real) or not 0 < value <= 1:
        raise ValueError(
            f"doc.spans[{spans_key!r}].attrs[{INCOMPLETE!r}] of the doc {_shortened(reference.text)!r} is {value!r}; "
            f"expected True, False, or a number above 0 and up to 1, the share of its mentions that are missing"
        )
    return float(value)


def check_contradictions(reference: Doc, spans_key: str, incorrect_spans_key: str) -> None:
    """An error if a mention is both right and wrong."""
    incorrect = {(span.start, span.end, span.label_) for span in reference.spans.get(incorrect_spans_key, [])}
    if not incorrect:
        return
    for span in reference.spans.get(spans_key, []):
        for label in (span.label_, ""):
            if (span.start, span.end, label) in incorrect:
                raise ValueError(_contradiction(span, label, spans_key, incorrect_spans_key))


def _contradiction(span: Span, label: str, spans_key: str, incorrect_spans_key: str) -> str:
    other = "too" if label else "without a label, which stands for all labels"
    return (
        f"the doc {_shortened(span.doc.text)!r} has {span.text!r} (tokens {span.start} to {span.end}) with label "
        f"{span.label_!r} in doc.spans[{spans_key!r}], so that it is a mention, and in "
        f"doc.spans[{incorrect_spans_key!r}] {other}, so that it is none; take it out of one of them"
    )


def _shortened(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _wider_space(decoder: Decoder) -> str:
    """The next setting to try."""
    several = "" if decoder.multi_label else "; multi_label = true if they share a span with another label"
    if isinstance(decoder, QuadraticDecoder):
        return f"set max_short_child = {decoder.max_short_child + 1} or take CubicDecoder{several}"
    if type(decoder).__name__ == "FlatDecoder":
        return f"take QuadraticDecoder{several}"
    return "mentions that cross each other cannot be kept" + several
