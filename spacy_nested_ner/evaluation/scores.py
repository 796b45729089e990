"""Tables of scores with confidence intervals, and of the differences between two pipelines."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..decoders import Mention
from .measures import LENGTHS, grouped, length_range
from .predictions import Judged
from .resampling import Resampling, bootstrap_intervals, paired_bootstrap, precision_recall_f, randomization_test
from .scorer import mentions_by_depth, score_levels
from .statistics import in_ranges


class Estimate(NamedTuple):
    """A number, and the ends of its confidence interval; None where they are not defined."""

    value: float | None
    low: float | None
    high: float | None


class RowName(NamedTuple):
    """Which mentions a row is about.

    group (str): "all", "level", "depth", "label" or "length".
    name (str): Which one of them: "all"; "first_level" or "nested"; a depth; a label; a range of words.
    """

    group: str
    name: str


class ScoreRow(NamedTuple):
    """The scores of some mentions.

    gold, found (int): How many there are.
    gold_found (int): How many of the gold mentions were found.
    correct (int): How many of the mentions found are gold; on a level of nesting, that may be another number.
    """

    group: str
    name: str
    gold: int
    found: int
    gold_found: int
    correct: int
    p: Estimate
    r: Estimate
    f: Estimate


class DifferenceRow(NamedTuple):
    """The F of some mentions of two pipelines.

    difference (Estimate): Of the first from the second; the interval is that of the paired bootstrap by document.
    p_value (float | None): Two-sided, by approximate randomization of documents, for this row alone.
    """

    group: str
    name: str
    gold: int
    f: float | None
    other_f: float | None
    difference: Estimate
    p_value: float | None


@dataclass(frozen=True)
class ScoreTable:
    """All scores of a pipeline.

    documents (int): How many documents were scored.
    unaligned (int): Mentions found that begin or end inside a token of the gold. They are in no score, as in spaCy.
    rows (list[ScoreRow]): One for all mentions, one per level, depth, label and length.
    resampling (Resampling): How intervals were made.
    """

    documents: int
    unaligned: int
    rows: list[ScoreRow]
    resampling: Resampling

    def as_dict(self) -> dict[str, Any]:
        """All numbers, as they go into a JSON file."""
        return {**asdict(self), "rows": [_row_dict(row) for row in self.rows]}


@dataclass(frozen=True)
class DifferenceTable:
    """The differences between two pipelines on the same documents.

    documents (int): How many documents were compared.
    rows (list[DifferenceRow]): One for all mentions, one per level, depth, label and length.
    resampling (Resampling): How intervals and p-values were made.
    """

    documents: int
    rows: list[DifferenceRow]
    resampling: Resampling

    def as_dict(self) -> dict[str, Any]:
        """All numbers, as they go into a JSON file."""
        return {**asdict(self), "rows": [_row_dict(row) for row in self.rows]}


def score_table(judged: list[Judged], resampling: Resampling | None = None) -> ScoreTable:
    """Precision, recall and F, with confidence intervals: of all mentions, of the first level and nested ones, by
    depth, by label and by length. They are those of `spacy evaluate`.

    judged (list[Judged]): What `predict` gives.
    resampling (Resampling | None): How intervals are made; None for the default.
    """
    resampling = resampling or Resampling()
    counted = [dict(_counted(each)) for each in judged]
    names = _row_names(counted)
    counts = _stacked(counted, names)
    totals = counts.sum(axis=0)
    scores, ends = precision_recall_f(totals), bootstrap_intervals(counts, resampling)
    rows = []
    for (group, name), counted_in_row, values, intervals in zip(names, totals.tolist(), scores, ends):
        gold, gold_found, found, correct = counted_in_row
        p, r, f = (_estimate(value, interval) for value, interval in zip(values, intervals))
        rows.append(ScoreRow(group, name, gold, found, gold_found, correct, p, r, f))
    return ScoreTable(len(judged), sum(each.unaligned for each in judged), rows, resampling)


def difference_table(
    judged: list[Judged], other: list[Judged], resampling: Resampling | None = None
) -> DifferenceTable:
    """How much better one pipeline is than another, in F, and whether that may be chance. The rows are those of both.

    judged, other (list[Judged]): What `predict` gives for the same documents.
    resampling (Resampling | None): How intervals and p-values are made; None for the default.
    """
    if [each.gold for each in judged] != [each.gold for each in other]:
        raise ValueError(
            f"{len(judged)} and {len(other)} documents with different gold mentions; expected the results of two "
            f"pipelines on the same documents, in the same order"
        )
    resampling = resampling or Resampling()
    counted, others_counted = ([dict(_counted(each)) for each in some] for some in (judged, other))
    names = _row_names([*counted, *others_counted])
    counts, others = _stacked(counted, names), _stacked(others_counted, names)
    gold = counts.sum(axis=0)[:, 0].tolist()
    f, other_f = (precision_recall_f(some.sum(axis=0))[:, 2] for some in (counts, others))
    ends, tests = paired_bootstrap(counts, others, resampling), randomization_test(counts, others, resampling)
    rows = []
    for (group, name), n_gold, one, two, interval, p_value in zip(names, gold, f, other_f, ends, tests):
        difference = _estimate(one - two, interval)
        rows.append(DifferenceRow(group, name, n_gold, _number(one), _number(two), difference, _number(p_value)))
    return DifferenceTable(len(judged), rows, resampling)


# What a document adds to each row: gold mentions, those of them found, mentions found, those of them that are right.
_Counts = dict[RowName, tuple[int, int, int, int]]


def _counted(each: Judged) -> Iterator[tuple[RowName, tuple[int, int, int, int]]]:
    groups: dict[str, Callable[[Mention], str]] = {
        "all": lambda _: "all",
        "label": lambda mention: str(mention.label),
        "length": length_range,
    }
    for group, key in groups.items():
        for name, score in grouped([each], key).items():
            yield RowName(group, name), (score.tp + score.fn, score.tp, score.tp + score.fp, score.tp)
    for name, level in score_levels([(mentions_by_depth(each.gold), mentions_by_depth(each.found))]).items():
        counts = (level.n_gold, level.n_gold_found, level.n_found, level.n_found_right)
        yield RowName("depth" if name.isdigit() else "level", name), counts


def _row_names(counted: list[_Counts]) -> list[RowName]:
    """All rows that have a mention, in the order of the table; the most frequent labels of the gold first."""
    gold: Counter[RowName] = Counter()
    for rows in counted:
        gold.update({name: counts[0] for name, counts in rows.items()})
    lengths = list(in_ranges(Counter(), LENGTHS))
    return [
        RowName("all", "all"),
        RowName("level", "first_level"),
        RowName("level", "nested"),
        *sorted((row for row in gold if row.group == "depth"), key=lambda row: int(row.name)),
        *sorted((row for row in gold if row.group == "label"), key=lambda row: (-gold[row], row.name)),
        *sorted((row for row in gold if row.group == "length"), key=lambda row: lengths.index(row.name)),
    ]


def _stacked(counted: list[_Counts], names: list[RowName]) -> NDArray[np.int64]:
    """Documents, rows, and the four counts."""
    counts = np.zeros((len(counted), len(names), 4), dtype="int64")
    for number, rows in enumerate(counted):
        for place, name in enumerate(names):
            counts[number, place] = rows.get(name, 0)
    return counts


def _estimate(value: float, interval: NDArray[np.float64]) -> Estimate:
    low, high = map(_number, interval)
    return Estimate(_number(value), low, high)


def _number(number: float) -> float | None:
    return None if np.isnan(number) else float(number)


def _row_dict(row: ScoreRow | DifferenceRow) -> dict[str, Any]:
    return {name: value._asdict() if isinstance(value, Estimate) else value for name, value in row._asdict().items()}
