"""Numbers about judged documents, as they go into a JSON file and onto the page."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from math import log2
from typing import Any

from spacy.scorer import PRFScore

from ..decoders import Mention
from ..decoders.mention import sort_mentions
from .confidence import ranking, reliability
from .predictions import Judged
from .scorer import mentions_by_depth, score_levels
from .statistics import in_ranges

LENGTHS = (1, 2, 3, 4, 5, 10)
# Probabilities are taken for at least this and at most one minus this: no error is infinitely surprising.
FLOOR = 0.01

Row = dict[str, Any]


def measure(judged: list[Judged], *, n_examples: int = 20) -> dict[str, Any]:
    """All numbers.

    n_examples (int): How many sentences with surprising errors, and spurious mentions, to list.
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
        "spurious": _spurious(judged, n_examples),
        "examples": _examples(judged, n_examples),
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
    scores = _grouped(judged, lambda mention: mention.label)
    return {
        label: _row(score) for label, score in sorted(scores.items(), key=lambda item: (-_n_gold(item[1]), item[0]))
    }


def _by_length(judged: list[Judged]) -> dict[str, Row]:
    scores = _grouped(judged, _length_range)
    return {name: _row(scores[name]) for name in in_ranges(Counter(), LENGTHS) if name in scores}


def _length_range(mention: Mention) -> str:
    counts = in_ranges(Counter([mention.end - mention.start]), LENGTHS)
    return next(name for name, n in counts.items() if n)


def _grouped(judged: list[Judged], group: Callable[[Mention], str]) -> dict[str, PRFScore]:
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
    """How soon errors are found where sentences are read by entropy, by length, and in the best order there
    is; None where entropies are not known."""
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
    """Entropy, words and errors of what was decoded as one; an error is where it begins."""
    starts = [start for start, _, _ in each.segments]
    errors = Counter(bisect_right(starts, mention.start) - 1 for mention in each.gold ^ set(each.found))
    for number, (start, end, entropy) in enumerate(each.segments):
        if start < end:
            yield entropy, end - start, errors[number]


def _confusion(judged: list[Judged]) -> dict[str, Any]:
    """Gold and predicted labels of the same span. Every mention counts once: of several labels on one
    span those that agree are taken first, then the others in pairs; what is left is missed or spurious."""
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


# ---- errors worth a look ----


def surprise(probability: float, right: bool) -> float:
    """How surprising it is, in bits, that a mention of this probability is right or wrong."""
    probability = min(max(probability, FLOOR), 1 - FLOOR)
    return -log2(probability if right else 1 - probability)


def _spurious(judged: list[Judged], n: int) -> list[Row]:
    """Mentions the pipeline was most sure of, and wrong."""
    wrong = [(p, k, m) for k, each in enumerate(judged) for m, p in each.found.items() if m not in each.gold]
    rows = []
    for probability, number, mention in sorted(wrong, key=lambda item: (-item[0], *item[1:]))[:n]:
        each = judged[number]
        labels = sorted(label for start, end, label in each.gold if (start, end) == mention[:2])
        text = " ".join(each.words[mention.start : mention.end])
        rows.append(
            {"text": text, "label": mention.label, "probability": probability, "gold": labels, "where": each.where}
        )
    return rows


def _examples(judged: list[Judged], n: int) -> list[Row]:
    """The sentences whose errors are the most surprising, in sum."""
    rows = [row for each in judged for row in _sentences(each) if row["surprise"] > 0]
    return sorted(rows, key=lambda row: -row["surprise"])[:n]


def _sentences(each: Judged) -> Iterable[Row]:
    for number, (start, end) in enumerate(each.sentences, 1):
        gold = [m for m in sort_mentions(each.gold) if start <= m.start < end]
        found = [m for m in sort_mentions(each.found) if start <= m.start < end]
        missed = sum(surprise(each.probability(m), True) for m in gold if m not in each.found)
        wrong = sum(surprise(each.found[m], False) for m in found if m not in each.gold)
        yield {
            "where": f"{each.where}, sentence {number}",
            "surprise": missed + wrong,
            "words": each.words[start:end],
            "gold": [_mention(m, start, each.probability(m), m in each.found) for m in gold],
            "predicted": [_mention(m, start, each.found[m], m in each.gold) for m in found],
        }


def _mention(mention: Mention, offset: int, probability: float, correct: bool) -> Row:
    """In tokens of its sentence."""
    return {
        "start": mention.start - offset,
        "end": mention.end - offset,
        "label": mention.label,
        "probability": probability,
        "correct": correct,
    }
