"""A corpus in parts: train, dev and test."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from ..annotation import mentions_by_segment, sentence_bounds
from .conversion_report import ConversionReport, FormatError, counted
from .documents import Record, Settings, describe
from .pieces import piece

PARTS = ("train", "dev", "test")
UNITS = ("document", "sentence")


@dataclass(frozen=True)
class Split:
    """A random division of a corpus.

    shares (tuple[float, ...]): The shares of train and dev, or of train, dev and test. Their sum is 1.
    seed (int): The same seed gives the same parts.
    by (str): What stays whole: every "document", or only every "sentence".
    """

    shares: tuple[float, ...]
    seed: int = 0
    by: str = "document"

    def __post_init__(self) -> None:
        if self.by not in UNITS:
            raise ValueError(f"by is {self.by!r}; expected one of {', '.join(UNITS)}")
        if len(self.shares) not in (2, 3) or min(self.shares) <= 0 or abs(sum(self.shares) - 1) > 1e-6:
            raise ValueError(
                f"shares are {self.shares}; expected two (train, dev) or three (train, dev, test), "
                "each more than 0, that add up to 1"
            )

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts."""
        return PARTS[: len(self.shares)]

    def divide(
        self, records: Iterable[Record], settings: Settings, report: ConversionReport, source: Path
    ) -> list[list[Record]]:
        """The documents of each part, in their order in the corpus.

        Documents with the same text are in the same part: otherwise a score would show what was learned by heart.
        """
        units = list(records if self.by == "document" else _sentences(records, settings, report))
        if not units:
            return [[] for _ in self.parts]
        groups: dict[str, list[int]] = {}
        for number, (doc, _) in enumerate(units):
            groups.setdefault(" ".join(doc.text.split()), []).append(number)
        sizes = self._sizes(len(units))
        members: list[list[int]] = [[] for _ in sizes]
        order = list(groups.values())
        Random(self.seed).shuffle(order)
        # Large groups first, while there is room for them.
        for group in sorted(order, key=len, reverse=True):
            emptiest = max(range(len(sizes)), key=lambda part: sizes[part] - len(members[part]))
            members[emptiest] += group
        for name, numbers in zip(self.parts, members):
            if not numbers:
                different = "" if len(groups) == len(units) else f" ({len(groups):,} different)"
                reason = f"too few for these shares: with {counted(len(units), self.by)}{different}, {name} is empty"
                remedy = "; use other shares" + ("" if self.by == "sentence" else ", or split by sentence")
                raise FormatError(str(source), reason + remedy)
        if len(groups) < len(units):
            repeated = counted(len(units) - len(groups), self.by)
            report.note(f"Split      {repeated} with the text of an earlier one, put into the same part")
        return [[units[number] for number in sorted(numbers)] for numbers in members]

    def _sizes(self, n: int) -> list[int]:
        """How many units each part is to have: the largest remainders are rounded up, and no part is empty if there are
        enough units."""
        exact = [share * n for share in self.shares]
        sizes = [int(size + 1e-9) for size in exact]
        by_remainder = sorted(range(len(sizes)), key=lambda part: sizes[part] - exact[part])
        for part in by_remainder[: n - sum(sizes)]:
            sizes[part] += 1
        for part in range(len(sizes)):
            if not sizes[part] and max(sizes) > 1:
                sizes[sizes.index(max(sizes))] -= 1
                sizes[part] = 1
        return sizes


def parse_shares(text: str) -> tuple[float, ...]:
    """Shares such as 80/10/10 or 0.9/0.1."""
    try:
        numbers = [float(number) for number in text.split("/")]
    except ValueError:
        numbers = []
    total = sum(numbers)
    if len(numbers) not in (2, 3) or not min(numbers) > 0 or min(abs(total - 1), abs(total - 100)) > 1e-6:
        expected = "two or three shares that add up to 100, as in 80/20 or 80/10/10"
        raise ValueError(f"split is {text!r}; expected {expected}, or nothing for the standard split of the corpus")
    return tuple(number / total for number in numbers)


def _sentences(records: Iterable[Record], settings: Settings, report: ConversionReport) -> Iterator[Record]:
    """Every sentence as a document."""
    for doc, where in records:
        segments, across = mentions_by_segment(doc, settings.spans_key)
        for mention in across:
            report.lose("mentions across a sentence boundary", f"{where}: {describe(doc, mention)}")
        for start, end, _ in segments:
            yield Record(piece(doc, start, end), where)


def divide_at(records: Iterator[Record], sizes: tuple[int, ...], source: Path) -> Iterator[Iterator[Record]]:
    """The documents of each part of a standard split, as many as have the given numbers of sentences together."""

    def take(size: int) -> Iterator[Record]:
        missing = size
        while missing > 0:
            record = next(records, None)
            if record is None:
                reason = f"{missing:,} of {size:,} sentences of a part are missing; expected the whole corpus"
                raise FormatError(str(source), reason)
            missing -= len(sentence_bounds(record.doc))
            if missing < 0:
                reason = f"{-missing:,} sentences too many for a part of {size:,}; expected the original order"
                raise FormatError(record.where, reason)
            yield record

    for size in sizes:
        yield take(size)
    if next(records, None) is not None:
        raise FormatError(str(source), f"more than {sum(sizes):,} sentences; expected the whole corpus and no more")


def check_parts(parts: dict[str, ConversionReport]) -> list[str]:
    """Warnings about parts that are unfit for training or for scores."""
    warnings = [f"{name} has no mention" for name, part in parts.items() if not part.mentions]
    unseen = sum((part.labels for part in parts.values()), Counter()) - parts[PARTS[0]].labels
    missing = [label for label in unseen if label not in parts[PARTS[0]].labels]
    if missing:
        shown = ", ".join(f"{label} ({unseen[label]:,})" for label in missing)
        warnings.append(f"labels that train does not have, so that nothing can learn them: {shown}; try another seed")
    return warnings
