"""Which decoder some gold mentions need: the search spaces by cost, and what each of them keeps."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from .decoder import CubicDecoder, Decoder, FlatDecoder, QuadraticDecoder
from .mention import Mention

# For each of the spaces, whether it keeps a mention.
Fate = tuple[bool, ...]

# Tokens of the longest span up to which the cubic decoder takes less time than the quadratic one with
# max_short_child = 2 (measured, see docs/explanation/decoding.md).
CUBIC_IS_CHEAPER = 64


class NamedSpace(NamedTuple):
    """A decoder, and the short name of its search space."""

    name: str
    decoder: Decoder


class Choice(NamedTuple):
    """A decoder, and the share of mentions that it keeps.

    is_enough (bool): Whether that is the share asked for.
    """

    decoder: Decoder
    coverage: float
    is_enough: bool


def all_spaces(max_span_length: int | None = None) -> list[NamedSpace]:
    """The spaces that are compared, each holding the one before it: first with one label per span,
    then with several."""
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


def cheapest(spaces: list[NamedSpace], coverages: list[float], min_coverage: float, longest: int | None) -> NamedSpace:
    """The cheapest space that keeps enough; if none does, the cheapest of those that keep most.

    longest (int | None): Tokens of the longest span that is looked for; None for no limit.
    """
    by_cost = sorted(range(len(spaces)), key=lambda i: _cost(spaces[i].decoder, longest))
    enough = min(min_coverage, max(coverages))
    return spaces[next(i for i in by_cost if coverages[i] >= enough)]


def _cost(decoder: Decoder, longest: int | None) -> tuple[bool, float]:
    """The order of measured cost."""
    short = decoder.space.max_short_child
    size = float("inf") if short is None else float(short)
    if size == float("inf") and longest is not None and longest <= CUBIC_IS_CHEAPER:
        size = 1.5
    return decoder.multi_label, size


def check_min_coverage(min_coverage: float) -> None:
    if not 0 <= min_coverage <= 1:
        raise ValueError(f"min_coverage is {min_coverage}; expected a share from 0 to 1, such as 0.999")


@dataclass(frozen=True, kw_only=True)
class AutoDecoder:
    """Chooses a decoder: the cheapest one that keeps enough of some gold mentions. It is not a decoder itself.

    min_coverage (float): The share of mentions to keep.
    """

    min_coverage: float = 0.999

    def __post_init__(self) -> None:
        check_min_coverage(self.min_coverage)

    def choose(
        self,
        segments: Iterable[tuple[list[Mention], int]],
        longest: int | None,
        *,
        counts: Mapping[Any, int] | None = None,
    ) -> Choice | None:
        """A decoder for these mentions; None if there are none.

        segments (Iterable[tuple[list[Mention], int]]): Gold mentions of every segment, and its tokens.
        longest (int | None): Tokens of the longest span that is looked for; None for no limit.
        counts (Mapping[Any, int] | None): How often every label occurs in the corpus (SearchSpace.project). It does
            not change how many mentions a space keeps.
        """
        spaces = all_spaces()
        kept = [0] * len(spaces)
        total = 0
        for mentions, n_tokens in segments:
            total += len(mentions)
            for fate in fates_of(mentions, n_tokens, spaces, counts) if mentions else ():
                kept = [n + here for n, here in zip(kept, fate)]
        if not total:
            return None
        coverages = [n / total for n in kept]
        space = cheapest(spaces, coverages, self.min_coverage, longest)
        coverage = coverages[spaces.index(space)]
        return Choice(space.decoder, coverage, coverage >= self.min_coverage)

    def not_chosen(self) -> ValueError:
        """What to raise when a decoder is needed before one was chosen."""
        return ValueError(
            f"{self!r} has not chosen a decoder yet: it does so from the training data, when the component is "
            f"initialized (nlp.initialize or spacy train). Do that first, or name a decoder in the config"
        )
