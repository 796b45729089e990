"""How good a pipeline is, in numbers that go into a JSON file and onto the page."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from spacy.scorer import PRFScore

from ..decoders import Mention
from .confidence import Row, ranking, reliability
from .errors import confident_errors, surprising_sentences
from .predictions import Judged
from .scorer import mentions_by_depth, score_levels
from .statistics import in_ranges

# Upper ends of the ranges of lengths for which there are scores, in words.
LENGTHS = (1, 2, 3, 4, 5, 10)


def measure(judged: list[Judged], *, n_examples: int = 20) -> dict[str, Any]:
    """All numbers about judged documents.

    judged (list[Judged]): What `predict` gives.
    n_examples (int): How many sentences with surprising errors, and how many spurious mentions, to list.
    RETURNS (dict[str, Any]): What report.json has, except the names of the pipeline and the data.
    """
    every = PRFScore()
    for each in judged:
        every.score_set(set(each.found), each.gold)
    thresholds = _thresholds(judged)
    levels = _by_level(judged)
    nothing = _row(PRFScore())
    return {
        "documents": len(judged),
        "sentences": sum(start < end for each in judged for start, end in each.sentences),
        "words": sum(len(each.words) for each in judged),
        "mentions": sum(len(each.gold) for each in judged),
        "unaligned": sum(each.unaligned for each in judged),
        "scores": {"all": _row(every), **{name: levels.get(name, nothing) for name in ("first_level", "nested")}},
        "by_label": _by_label(judged),
        "by_depth": {name: levels[name] for name in sorted(filter(str.isdigit, levels), key=int)},
        "by_length": _by_length(judged),
        "thresholds": thresholds,
        "best_threshold": max(thresholds, key=lambda row: row["f"])["threshold"] if thresholds else None,
        "calibration": _calibration(judged),
        "error_ranking": _error_ranking(judged),
        "confusion": _confusion(judged),
        "spurious": confident_errors(judged, n_examples),
        "examples": surprising_sentences(judged, n_examples),
    }


# ---- precision, recall, F ----


def _row(score: PRFScore) -> Row:
    return {
        "p": score.precision,
        "r": score.recall,
        "f": score.fscore,
        "gold": score.tp + score.fn,
        "predicted": score.tp + score.fp,
        "correct": score.tp,
    }


def _by_level(judged: list[Judged]) -> dict[str, Row]:
    """First level, nested, and every depth, as `spacy evaluate` scores them."""
    levels = score_levels((mentions_by_depth(each.gold), mentions_by_depth(each.found)) for each in judged)
    return {
        name: {
            **level.to_dict(),
            "gold": level.n_gold,
            "predicted": level.n_found,
            "correct": level.n_found_right,
        }
        for name, level in levels.items()
    }


def _by_label(judged: list[Judged]) -> dict[str, Row]:
    """The most frequent labels of the gold first."""
    scores = grouped(judged, lambda mention: mention.label)
    return {
        label: _row(score) for label, score in sorted(scores.items(), key=lambda item: (-_n_gold(item[1]), item[0]))
    }


def _by_length(judged: list[Judged]) -> dict[str, Row]:
    scores = grouped(judged, length_range)
    return {name: _row(scores[name]) for name in in_ranges(Counter(), LENGTHS) if name in scores}


def length_range(mention: Mention) -> str:
    """The range of `LENGTHS` that the length of a mention is in, such as "6-10"."""
    counts = in_ranges(Counter([mention.end - mention.start]), LENGTHS)
    return next(name for name, n in counts.items() if n)


def grouped(judged: list[Judged], group: Callable[[Mention], str]) -> dict[str, PRFScore]:
    """Scores of the mentions in each group.

    group (Callable[[Mention], str]): The name of the group of a mention, gold or found.
    """
    scores: dict[str, PRFScore] = defaultdict(PRFScore)
    for each in judged:
        for mention in each.gold | set(each.found):
            score = scores[group(mention)]
            score.tp += mention in each.gold and mention in each.found
            score.fn += mention not in each.found
            score.fp += mention not in each.gold
    return scores


def _n_gold(score: PRFScore) -> int:
    return score.tp + score.fn


def _thresholds(judged: list[Judged]) -> list[Row]:
    gold_by_depth = [mentions_by_depth(each.gold) for each in judged]
    rows = []
    for threshold in judged[0].at if judged else ():
        score = PRFScore()
        for each in judged:
            score.score_set(set(each.at[threshold]), each.gold)
        found_by_depth = (mentions_by_depth(each.at[threshold]) for each in judged)
        levels = score_levels(zip(gold_by_depth, found_by_depth))
        rows.append({"threshold": threshold, **_row(score), "nested_r": levels["nested"].to_dict()["r"]})
    return rows


# ---- confidence and confusion ----


def _calibration(judged: list[Judged]) -> dict[str, Any]:
    """Of the mentions found."""
    found = [(probability, mention in each.gold) for each in judged for mention, probability in each.found.items()]
    return reliability([probability for probability, _ in found], [right for _, right in found])


def _error_ranking(judged: list[Judged]) -> dict[str, Any] | None:
    """How soon errors are found if sentences are read by entropy, by length, and in the best order there is; None if
    entropies are not known."""
    rows = [row for each in judged for row in _segment_errors(each)]
    if not rows:
        return None
    entropies, words, errors = zip(*rows)
    orders = {"entropy": entropies, "length": words, "best": errors}
    by_words = {**orders, "best": [n / size for n, size in zip(errors, words)]}
    return {
        "segments": len(rows),
        "errors": sum(errors),
        "by_segments": {name: ranking(keys, errors) for name, keys in orders.items()},
        "by_words": {name: ranking(keys, errors, words) for name, keys in by_words.items()},
    }


def _segment_errors(each: Judged) -> Iterable[tuple[float, int, int]]:
    """Entropy, words and errors of each segment. An error belongs to the segment in which it begins."""
    starts = [start for start, _, _ in each.segments]
    errors = Counter(bisect_right(starts, mention.start) - 1 for mention in each.gold ^ set(each.found))
    for number, (start, end, entropy) in enumerate(each.segments):
        if start < end:
            yield entropy, end - start, errors[number]


def _confusion(judged: list[Judged]) -> dict[str, Any]:
    """Gold and predicted labels of the same span. Every mention counts once: of several labels on one span, those that
    agree are paired first, then the others; what remains is missed or spurious."""
    pairs: Counter[tuple[str, str]] = Counter()
    missed: Counter[str] = Counter()
    spurious: Counter[str] = Counter()
    for each in judged:
        labels: dict[tuple[int, int], tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
        for side, mentions in enumerate((each.gold, each.found)):
            for start, end, label in mentions:
                labels[start, end][side].add(label)
        for gold, found in labels.values():
            pairs.update((label, label) for label in gold & found)
            wrong = list(zip(sorted(gold - found), sorted(found - gold)))
            pairs.update(wrong)
            missed.update(sorted(gold - found)[len(wrong) :])
            spurious.update(sorted(found - gold)[len(wrong) :])
    names = list(_by_label(judged))
    return {
        "labels": names,
        "counts": {gold: {found: pairs[gold, found] for found in names if pairs[gold, found]} for gold in names},
        "missed": {label: missed[label] for label in names},
        "spurious": {label: spurious[label] for label in names},
    }
