"""Which spans are worth scoring for some gold mentions."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_nested_ner.decoders import Mention
from spacy_nested_ner.decoders.span_limit import ALWAYS_SCORED, LimitChoice, choose_limit, lengths_of

COUNTS = st.dictionaries(st.integers(1, 60), st.integers(1, 3000), max_size=6).map(Counter)


def choose(*labels):
    return choose_limit(dict(enumerate(map(Counter, labels))))


@pytest.mark.parametrize(
    "labels, limit, kept",
    [
        ([{1: 5, 3: 1}], 3, 6),
        ([{1: 998, 78: 1}], 78, 999),  # fewer than 1,000: all
        ([{1: 999, 78: 1}], 20, 999),
        ([{1: 1998, 30: 1, 78: 1}], 20, 1998),
        ([{1: 1998, 30: 1, 78: 2}], 30, 1999),
        ([{1: 10_000, 19: 1}], 19, 10_001),  # short spans cost little
        ([{1: 10_000}, {30: 9, 78: 1}], 30, 10_009),  # rare labels with long mentions
        ([{1: 10_000}, {30: 8, 78: 2}], 78, 10_010),
        ([{1: 10_000}, {78: 1}], 78, 10_001),
    ],
)
def test_the_rule(labels, limit, kept):
    longest = max(max(lengths) for lengths in labels)
    total = sum(sum(lengths.values()) for lengths in labels)
    assert choose(*labels) == (limit, total, kept, longest)


def test_no_mentions():
    assert choose() is choose({}) is None


@given(st.dictionaries(st.sampled_from("ABC"), COUNTS))
def test_it_is_the_shortest_that_keeps_enough(lengths):
    def is_enough(limit):
        kept = {label: sum(n for k, n in of.items() if k <= limit) for label, of in lengths.items()}
        each = all(kept[label] >= 0.9 * of.total() for label, of in lengths.items())
        return each and sum(kept.values()) >= 0.999 * sum(of.total() for of in lengths.values())

    choice = choose_limit(lengths)
    if choice is None:
        assert not any(lengths.values())
        return
    assert is_enough(choice.limit)
    assert choice.limit <= choice.longest
    assert choice.limit <= ALWAYS_SCORED or not is_enough(choice.limit - 1)
    assert choice.limit >= min(choice.longest, ALWAYS_SCORED)


def test_lengths_by_label():
    segments = [([Mention(0, 3, "A"), Mention(1, 2, "B"), Mention(1, 2, "B")], 5), ([Mention(2, 5, "A")], 9), ([], 1)]
    assert lengths_of(segments) == {"A": {3: 2}, "B": {1: 1}}


def test_the_reason_in_words():
    assert str(LimitChoice(46, 11_164, 11_153, 78)) == (
        "max_span_length = 46 keeps 99.90 % of 11,164 gold mentions (the longest has 78 tokens)"
    )
    assert str(LimitChoice(6, 18, 18, 6)) == "max_span_length = 6 keeps 100.00 % of 18 gold mentions"
    assert LimitChoice(3, 4, 3, 9).coverage == 0.75
