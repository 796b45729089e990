"""How deep mentions are, and which are inside which."""

from itertools import combinations
from time import process_time

import pytest
from hypothesis import given
from nested_documents import PLAIN_WORD, sentences

from spacy_nested_ner.decoders.mention import Mention
from spacy_nested_ner.decoders.nesting import depths, places, relations, second_longest_children


def contains(outer, inner):
    return outer.start <= inner.start and inner.end <= outer.end and outer[:2] != inner[:2]


def test_depths():
    mentions = [Mention(0, 5, "A"), Mention(0, 5, "B"), Mention(1, 3, "A"), Mention(2, 4, "A"), Mention(2, 3, "A")]
    assert depths(mentions) == [1, 1, 2, 2, 4]
    assert depths([Mention(0, 2, "A"), Mention(2, 3, "A")]) == [1, 1]
    assert depths([]) == []


def test_depths_of_mentions_in_any_order():
    assert depths([Mention(1, 2, "A"), Mention(0, 3, "A"), Mention(1, 3, "A"), Mention(0, 3, "B")]) == [3, 1, 2, 1]


@given(sentences(PLAIN_WORD, crossing=True))
def test_depths_are_those_of_the_definition(sentence):
    mentions = [Mention(*mention) for mention in sentence[1]]
    around = [{other[:2] for other in mentions if contains(other, mention)} for mention in mentions]
    assert depths(mentions) == [1 + len(spans) for spans in around]


def test_parents():
    whole, other, left, right = Mention(0, 9, "A"), Mention(0, 9, "B"), Mention(1, 5, "A"), Mention(3, 7, "A")
    both, again, last = Mention(3, 5, "A"), Mention(3, 5, "B"), Mention(9, 10, "A")
    found = places([both, whole, other, left, right, again, last])
    assert [place.parent for place in found] == [3, None, None, 1, 1, 3, None]
    assert found[0].depth == 4, "inside two that cross, and inside the whole"


def check_parents(mentions):
    for mention, place in zip(mentions, places(mentions)):
        around = [(m.end - m.start, m.start, number) for number, m in enumerate(mentions) if contains(m, mention)]
        assert place.parent == (min(around)[-1] if around else None)


@given(sentences(PLAIN_WORD, crossing=True))
def test_a_parent_is_the_shortest_mention_around_another(sentence):
    check_parents([Mention(*mention) for mention in sentence[1]])


def test_parents_of_all_arrangements_of_three():
    """Such as the third inside the first two, which cross, and of which the second is shorter."""
    spans = [Mention(start, end, "A") for start, end in combinations(range(6), 2)]
    for mentions in combinations(spans, 3):
        check_parents(mentions)


@pytest.mark.slow
def test_long_chains_and_rows_take_no_quadratic_time():
    n = 50_000
    chain = [Mention(i, 2 * n - i, "A") for i in range(n)]
    row = [Mention(i, i + 1, "A") for i in range(n)]
    labels = [Mention(0, 1, f"{i:05}") for i in range(8_000)]
    before = process_time()
    assert places(chain)[-1] == (n, n - 2)
    assert depths(row)[-1] == 1
    assert len(relations(chain).inside) == n - 1
    assert relations(row) == ([], [], [])
    assert len(relations(labels).same_span) < 800_000
    assert process_time() - before < 30  # as a rule, 2 seconds; in quadratic time, many minutes


def test_pairs_of_mentions():
    whole, left, right, deep = Mention(0, 6, "A"), Mention(0, 3, "B"), Mention(2, 6, "C"), Mention(2, 3, "D")
    again = Mention(2, 3, "E")
    found = relations([whole, left, right, deep, again])
    assert found.inside == [
        (whole, left),
        (whole, right),
        *[(left, deep), (right, deep)],
        *[(left, again), (right, again)],
    ]
    assert found.same_span == [(deep, again)]
    assert found.crossing == [(left, right)]


def test_neighbors_are_no_pair():
    assert relations([Mention(0, 2, "A"), Mention(2, 3, "A")]) == ([], [], [])


def test_the_second_longest_child():
    outer, other = Mention(0, 9, "A"), Mention(9, 12, "A")
    twice = [Mention(0, 2, "B"), Mention(0, 2, "C")]
    inside = [(outer, mention) for mention in [*twice, Mention(3, 7, "B"), Mention(8, 9, "B")]]
    assert second_longest_children([*inside, (other, Mention(9, 11, "B"))]) == [2]
    assert second_longest_children([(outer, mention) for mention in twice]) == []


@given(sentences(PLAIN_WORD, crossing=True))
def test_pairs_are_those_of_the_definition(sentence):
    mentions = [Mention(*mention) for mention in sentence[1]]
    pairs = [(one, other) for i, one in enumerate(mentions) for other in mentions[i + 1 :]]
    inside = [
        pair
        for pair in pairs
        if contains(*pair) and not any(contains(pair[0], m) and contains(m, pair[1]) for m in mentions)
    ]
    found = relations(mentions)
    assert sorted(found.inside) == sorted(inside)
    assert sorted(found.same_span) == sorted(pair for pair in pairs if pair[0][:2] == pair[1][:2])
    crossing = [pair for pair in pairs if pair[0].start < pair[1].start < pair[0].end < pair[1].end]
    assert sorted(found.crossing) == sorted(crossing)
