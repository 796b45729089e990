"""Errors that are worth a look: those that the pipeline was most certain about."""

from collections.abc import Iterator
from math import log2

from ..decoders import Mention
from ..decoders.mention import sort_mentions
from .confidence import Row
from .predictions import Judged

# Probabilities are taken to be at least this and at most one minus this: no error is infinitely surprising.
FLOOR = 0.01


def surprise(probability: float, right: bool) -> float:
    """How surprising it is, in bits, that a mention of this probability is right or wrong."""
    probability = min(max(probability, FLOOR), 1 - FLOOR)
    return -log2(probability if right else 1 - probability)


def confident_errors(judged: list[Judged], n: int) -> list[Row]:
    """The spurious mentions with the highest probability."""
    wrong = [(p, k, m) for k, each in enumerate(judged) for m, p in each.found.items() if m not in each.gold]
    rows = []
    for probability, number, mention in sorted(wrong, key=lambda item: (-item[0], *item[1:]))[:n]:
        each = judged[number]
        labels = sorted(label for start, end, label in each.gold if (start, end) == mention[:2])
        spaces = each.spaces_between(mention.start, mention.end)
        text = "".join(map("".join, zip(each.words[mention.start : mention.end], spaces))).rstrip()
        rows.append(
            {"text": text, "label": mention.label, "probability": probability, "gold": labels, "where": each.where}
        )
    return rows


def surprising_sentences(judged: list[Judged], n: int) -> list[Row]:
    """The sentences whose errors are the most surprising, in sum."""
    rows = [row for each in judged for row in _sentences(each) if row["surprise"] > 0]
    return sorted(rows, key=lambda row: -row["surprise"])[:n]


def _sentences(each: Judged) -> Iterator[Row]:
    all_gold, all_found = sort_mentions(each.gold), sort_mentions(each.found)
    for number, (start, end) in enumerate(each.sentences, 1):
        gold = [m for m in all_gold if start <= m.start < end]
        found = [m for m in all_found if start <= m.start < end]
        missed = sum(surprise(each.probability(m), True) for m in gold if m not in each.found)
        wrong = sum(surprise(each.found[m], False) for m in found if m not in each.gold)
        yield {
            "where": f"{each.where}, sentence {number}",
            "surprise": missed + wrong,
            "words": each.words[start:end],
            "spaces": each.spaces_between(start, end),
            "gold": [_mention(m, start, each.probability(m), m in each.found) for m in gold],
            "predicted": [_mention(m, start, each.found[m], m in each.gold) for m in found],
        }


def _mention(mention: Mention, offset: int, probability: float, correct: bool) -> Row:
    """On the tokens of its sentence."""
    return {
        "start": mention.start - offset,
        "end": mention.end - offset,
        "label": mention.label,
        "probability": probability,
        "correct": correct,
    }
