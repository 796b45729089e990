"""Which decoder some gold mentions need: the search spaces by cost, and what each of them keeps."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

from .decoder import CubicDecoder, Decoder, FlatDecoder, QuadraticDecoder
from .mention import Mention, check_mentions
from .space import clusters

# The gold mentions of some segments, and the number of tokens of each segment.
Segments = Iterable[tuple[list[Mention], int]]

# For each of the spaces, whether it keeps a mention.
Fate = tuple[bool, ...]

# The share of gold mentions that is enough when a setting is chosen by them.
MIN_COVERAGE = 0.999

# Tokens of the longest span up to which the cubic decoder takes less time than the quadratic one with
# max_short_child = 2 (measured, see docs/explanation/decoding.md).
CUBIC_IS_CHEAPER = 64


class NamedSpace(NamedTuple):
    """A decoder, and the short name of its search space."""

    name: str
    decoder: Decoder


class Choice(NamedTuple):
    """A decoder that was chosen for some mentions. Printed, it gives the reason.

    decoder (Decoder): The cheapest decoder that keeps enough.
    mentions (int): How many mentions there are.
    kept (int): How many of them the decoder keeps.
    kept_by_quadratic (int): How many the plain QuadraticDecoder keeps, for comparison.
    kept_by_widest (int): How many the widest search space keeps. The others cross; no decoder can keep them.
    """

    decoder: Decoder
    mentions: int
    kept: int
    kept_by_quadratic: int
    kept_by_widest: int

    @property
    def coverage(self) -> float:
        """The share of mentions that the decoder keeps."""
        return self.kept / self.mentions

    def counts(self) -> dict[str, int]:
        """The numbers, as they go into a JSON file."""
        return {name: n for name, n in self._asdict().items() if name != "decoder"}

    def __str__(self) -> str:
        others = []
        if self.decoder != QuadraticDecoder():
            others.append(f"QuadraticDecoder: {self._share(self.kept_by_quadratic)}")
        if self.kept < self.kept_by_widest < self.mentions:
            others.append(f"at most: {self._share(self.kept_by_widest)}")
        kept = f"{brief(self.decoder)} keeps {self._share(self.kept)} of {self.mentions:,} gold mentions"
        return f"{kept} ({', '.join(others)})" if others else kept

    def _share(self, kept: int) -> str:
        return share_kept(kept, self.mentions)


def share_kept(kept: int, mentions: int) -> str:
    """Rounded down: 100.00 % means all."""
    return f"{kept * 10_000 // mentions / 100:.2f} %"


def brief(decoder: Decoder) -> str:
    """The name of a decoder, with the settings that are not the defaults."""
    defaults = type(decoder)().settings()  # type: ignore[call-arg]  # the subclasses have defaults
    changed = {name: value for name, value in decoder.settings().items() if value != defaults[name]}
    settings = ", ".join(f"{name}={value!r}" for name, value in changed.items())
    return f"{decoder.name}({settings})" if settings else decoder.name


def all_spaces(max_span_length: int | None = None) -> list[NamedSpace]:
    """The spaces that are compared: first those with one label per span, then those with several. Among either, each
    holds the one before it."""
    spaces: list[NamedSpace] = []
    for multi_label in (False, True):
        options: dict[str, Any] = {"multi_label": multi_label, "max_span_length": max_span_length}
        spaces.append(NamedSpace("flat", FlatDecoder(**options)))
        spaces += [NamedSpace(f"c = {c}", QuadraticDecoder(max_short_child=c, **options)) for c in (1, 2, 3)]
        spaces.append(NamedSpace("cubic", CubicDecoder(**options)))
    return spaces


def fates_of(
    mentions: list[Mention], n_tokens: int, spaces: list[NamedSpace], counts: Mapping[Any, int] | None = None
) -> list[Fate]:
    """What becomes of the mentions of a segment in each of the spaces, of which the first is flat.

    counts (Mapping[Any, int] | None): How often every label occurs in the corpus (SearchSpace.project).
    """
    if len(spaces[0].decoder.project(mentions, n_tokens)) == len(mentions):
        return [(True,) * len(spaces)] * len(mentions)  # all other spaces hold the flat one
    kept = [set(space.decoder.project(mentions, n_tokens, counts=counts)) for space in spaces]
    return [tuple(mention in some for some in kept) for mention in mentions]


def count_kept(segments: Segments, decoders: Sequence[Decoder]) -> list[int]:
    """How many mentions each decoder keeps.

    That depends only on how mentions lie inside and across each other. A corpus repeats the same few arrangements over
    and over, so each of them is projected once.
    """
    arrangements: Counter[tuple[tuple[int, int], ...]] = Counter()
    for mentions, n_tokens in segments:
        for cluster in clusters(check_mentions(mentions, n_tokens)):
            first = cluster[0].start
            arrangements[tuple((m.start - first, m.end - first) for m in cluster)] += 1
    kept = [0] * len(decoders)
    for spans, times in arrangements.items():
        # A span that occurs several times has several labels; which ones makes no difference.
        mentions = [Mention(*span, label) for span, n_labels in Counter(spans).items() for label in range(n_labels)]
        n_tokens = max(end for _, end in spans)
        for number, decoder in enumerate(decoders):
            kept[number] += times * len(decoder.project(mentions, n_tokens))
    return kept


def cheapest(spaces: list[NamedSpace], kept: list[int], min_coverage: float, longest: int | None) -> NamedSpace:
    """The cheapest space that keeps enough of what the widest space keeps.

    Where mentions cross, no space keeps all of them. Measured against all mentions, nothing would be enough, and a
    single span with two labels would decide for the widest space.

    kept (list[int]): How many mentions each space keeps.
    min_coverage (float): The share that is enough.
    longest (int | None): Tokens of the longest span that is looked for; None for no limit.
    """
    most = max(kept)
    enough = {space for space, n in zip(spaces, kept) if n == most or n / most >= min_coverage}
    return next(space for space in by_cost(spaces, longest) if space in enough)


def by_cost(spaces: list[NamedSpace], longest: int | None) -> list[NamedSpace]:
    """The cheapest space first.

    longest (int | None): Tokens of the longest span that is looked for; None for no limit.
    """
    return sorted(spaces, key=lambda space: _cost(space.decoder, longest))


def _cost(decoder: Decoder, longest: int | None) -> tuple[bool, float]:
    """The order of measured cost."""
    short = decoder.space.max_short_child
    size = float("inf") if short is None else float(short)
    if size == float("inf") and longest is not None and longest <= CUBIC_IS_CHEAPER:
        size = 1.5
    return decoder.multi_label, size


def check_min_coverage(min_coverage: float) -> None:
    if not isinstance(min_coverage, Real) or not 0 <= min_coverage <= 1:
        raise ValueError(f"min_coverage is {min_coverage!r}; expected a share from 0 to 1, such as 0.999")


@dataclass(frozen=True, kw_only=True)
class AutoDecoder:
    """Chooses a decoder: the cheapest one that keeps enough of some gold mentions. It is not a decoder itself.

    min_coverage (float): The share of mentions to keep, of those that the widest search space keeps.
    """

    min_coverage: float = MIN_COVERAGE

    def __post_init__(self) -> None:
        check_min_coverage(self.min_coverage)

    def choose(self, segments: Segments, longest: int | None) -> Choice | None:
        """A decoder for these mentions; None if there are none.

        segments (Segments): Gold mentions of every segment, and its tokens.
        longest (int | None): Tokens of the longest span that is looked for; None for no limit.
        """
        filled = [(mentions, n_tokens) for mentions, n_tokens in segments if mentions]
        if not filled:
            return None
        spaces = all_spaces()
        kept = dict(zip(spaces, count_kept(filled, [space.decoder for space in spaces])))
        space = cheapest(spaces, list(kept.values()), self.min_coverage, longest)
        return Choice(
            decoder=space.decoder,
            mentions=sum(len(set(mentions)) for mentions, _ in filled),
            kept=kept[space],
            kept_by_quadratic=next(n for space, n in kept.items() if space.decoder == QuadraticDecoder()),
            kept_by_widest=max(kept.values()),
        )

    def not_chosen(self) -> ValueError:
        """What to raise when a decoder is needed before one was chosen."""
        return ValueError(
            f"{self!r} has not chosen a decoder yet: it does so from the training data, when the component is "
            f"initialized (nlp.initialize or spacy train). Do that first, or name a decoder in the config"
        )
