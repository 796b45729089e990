"""Gold mentions that cannot be learned: how many, why, and what would recover them."""

from collections import Counter
from collections.abc import Iterable

from ..decoders import (
    AutoDecoder,
    CubicDecoder,
    Decoder,
    FlatDecoder,
    Mention,
    QuadraticDecoder,
    decoder_from_settings,
)
from ..decoders.auto import brief, count_kept

# Why a gold mention cannot be learned, and what to do about it.
_REASONS = {
    "tokens": (
        "do not begin and end with a token",
        'check the tokenizer against the one of the annotation, or read with its tokens: "spacy-nested-ner.Corpus.v1"',
    ),
    "label": ("have a label that the component does not know", "add it to the labels"),
    "sentence": ("cross a sentence boundary", "set use_sentences = false, or correct the sentence boundaries"),
    "length": ("are longer than max_span_length", ""),
    "space": ("are outside the search space", ""),
}


class Lost:
    """Counts gold mentions that cannot be learned, by label and reason.

    n_gold (int): How many gold mentions there are.
    counts (Counter[tuple[str, str]]): The lost ones, by label and reason.
    conflicts (list[tuple[list[Mention], int]]): The segments of which the search space loses mentions, with all
        mentions that other spaces may keep, and the number of tokens.
    longest (int): Tokens of the longest mention that is lost because of its length.
    """

    def __init__(self) -> None:
        self.n_gold = 0
        self.longest = 0
        self.counts: Counter[tuple[str, str]] = Counter()
        self.conflicts: list[tuple[list[Mention], int]] = []

    def __bool__(self) -> bool:
        return bool(self.counts)

    def add(self, reason: str, labels: Iterable[str]) -> None:
        for label in labels:
            self.counts[label, reason] += 1

    def include(self, other: "Lost") -> None:
        """Count what another one has counted."""
        self.n_gold += other.n_gold
        self.counts.update(other.counts)
        self.conflicts += other.conflicts
        self.longest = max(self.longest, other.longest)

    def by_label(self, reason: str) -> Counter[str]:
        """The mentions lost for one reason."""
        return Counter({label: n for (label, why), n in self.counts.items() if why == reason})

    def describe(self, decoder: Decoder, limit: int | None, *, auto: AutoDecoder | None = None) -> str:
        """What is lost, with numbers and what to do about it, in one message.

        limit (int | None): Tokens of the longest span.
        auto (AutoDecoder | None): What has chosen the decoder.
        """
        total = self.counts.total()
        share = f"{100 * total / max(self.n_gold, 1):.2f} %"
        lines = [
            f"nested_ner cannot learn {total:,} of {self.n_gold:,} gold mentions ({share}); "
            f"they are left out of training:"
        ]
        details = {"length": f" = {limit}", "space": f" of {brief(decoder)}"}
        for reason, (what, advice) in _REASONS.items():
            by_label = self.by_label(reason)
            if by_label:
                labels = listed(by_label.most_common())
                if reason == "length":
                    advice = f"set max_span_length = {self.longest or 'null'} to learn them too, which takes more time"
                elif reason == "space":
                    advice = self._remedies(decoder, by_label.total(), auto)
                lines.append(f"  {by_label.total():,} {what}{details.get(reason, '')} ({labels}): {advice}")
        return "\n".join(lines)

    def _remedies(self, decoder: Decoder, n_lost: int, auto: AutoDecoder | None) -> str:
        """How many of the mentions outside the search space other settings recover, and how many none can."""
        wider = wider_decoders(decoder)
        kept, *others = count_kept(self.conflicts, [decoder, *wider.values()])
        gains = {name: n - kept for name, n in zip(wider, others)}
        most = max(gains.values(), default=0)
        if "QuadraticDecoder" in gains and gains["QuadraticDecoder"] == gains["CubicDecoder"]:
            del gains["CubicDecoder"]  # it takes longer, and keeps no more
        if most in list(gains.values())[:-1]:
            gains.popitem()  # one change is as good as both
        if auto is not None:
            gains = {f"min_coverage = 1 instead of {auto.min_coverage} in AutoDecoder": most}
        useful = [f"{name} keeps {gain:,} more" for name, gain in gains.items() if gain]
        parts = [", ".join(useful)] if useful else []
        if n_lost > most:
            parts.append(
                f"{n_lost - most:,} cross other mentions, which no setting can keep: correct them, or use spancat if "
                f"mentions must cross"
            )
        return "; ".join(parts)


def listed(counts: Iterable[tuple[str, int]]) -> str:
    """Labels with their numbers of mentions, for messages."""
    return ", ".join(f"{label} {n:,}" for label, n in counts)


def wider_decoders(decoder: Decoder) -> dict[str, Decoder]:
    """Decoders with larger search spaces, by what to change in the config. The last one has the largest."""
    several = {"multi_label = true": decoder_from_settings({**decoder.settings(), "multi_label": True})}
    nested: dict[str, Decoder] = {"CubicDecoder": CubicDecoder(multi_label=decoder.multi_label)}
    if decoder.space.max_short_child is None:
        return {} if decoder.multi_label else several
    if isinstance(decoder, FlatDecoder):
        nested = {"QuadraticDecoder": QuadraticDecoder(multi_label=decoder.multi_label), **nested}
    if decoder.multi_label:
        return nested
    return {**several, **nested, "CubicDecoder with multi_label = true": CubicDecoder(multi_label=True)}
