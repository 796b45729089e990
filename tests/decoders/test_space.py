"""Mentions in and out of the search spaces; what becomes of those outside; the paper's examples."""

import copy
import itertools
import pickle

import numpy as np
import pytest
from helpers import PAPER as SENTENCES
from helpers import SPACES
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_nested_ner.decoders import (
    CubicDecoder,
    FlatDecoder,
    Mention,
    QuadraticDecoder,
    SearchSpace,
    reference,
)
from spacy_nested_ner.decoders import decoder as kernels
from spacy_nested_ner.decoders.space import clusters

# [Chair of [the Committee of [Ministers of [the Council of [Europe]]]]]
CHAIN = (10, [(0, 10, "PER"), (2, 10, "ORG"), (5, 10, "PER"), (7, 10, "ORG"), (9, 10, "GPE")])


def decode_gold(decoder, n, mentions):
    """Decode scores that are +1 for the given mentions and -1 for all others."""
    labels = sorted({label for _, _, label in mentions})
    scores = np.full((n, n, len(labels)), -1.0, dtype=np.float32)
    for start, end, label in mentions:
        scores[start, end - 1, labels.index(label)] = 1.0
    return {(m.start, m.end, labels[m.label]) for m in decoder.decode(scores)}


@pytest.mark.parametrize("number", SENTENCES)
def test_sentences_of_the_first_figure(number):
    n, mentions = SENTENCES[number]
    for decoder in (QuadraticDecoder(), CubicDecoder()):
        assert decode_gold(decoder, n, mentions) == set(mentions)
        assert decoder.contains(mentions, n)
    assert FlatDecoder().contains(mentions, n) == (number == 1)


def test_chain_of_five_mentions():
    n, mentions = CHAIN
    for decoder in (QuadraticDecoder(), CubicDecoder()):
        assert decode_gold(decoder, n, mentions) == set(mentions)
    assert len(decode_gold(FlatDecoder(), n, mentions)) == 1


@st.composite
def mention_sets(draw, most=7, labels="AB"):
    n = draw(st.integers(1, 7))
    mentions = draw(
        st.lists(
            st.tuples(st.integers(0, n - 1), st.integers(1, n), st.sampled_from(labels)).filter(lambda m: m[0] < m[1]),
            max_size=most,
        )
    )
    return n, mentions


def rarity(kept, mentions, n, decoder, counts):
    """The sum of the ranks of the labels kept, with ranks as documented."""
    possible = sorted({Mention(*m) for m in mentions if decoder.contains([m], n)}, key=lambda m: (m[0], -m[1], m[2]))
    total = 0
    for cluster in clusters(possible):
        labels = sorted({m.label for m in cluster}, reverse=True)
        labels.sort(key=lambda label: counts.get(label, 0), reverse=True)
        total += sum(labels.index(m.label) for m in cluster if m in kept)
    return total


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize("options", [{}, {"multi_label": True}, {"max_span_length": 3}], ids=str)
@settings(max_examples=60, deadline=None)
@given(case=mention_sets())
def test_projection_is_the_largest_subset_inside(name, options, case):
    n, mentions = case
    class_name, space_settings = SPACES[name]
    fast = getattr(kernels, class_name)(**space_settings, **options)
    slow = getattr(reference, class_name)(**space_settings, **options)
    kept = fast.project(mentions, n)
    assert set(kept) <= {Mention(*m) for m in mentions}
    assert kept == sorted(kept, key=lambda m: (m.start, -m.end, m.label))
    assert slow.contains(kept, n)
    assert fast.contains(kept, n)
    expected = slow.project(mentions, n)
    assert len(kept) == len(expected)
    assert rarity(kept, mentions, n, fast, {}) == rarity(expected, mentions, n, fast, {})
    assert fast.contains(mentions, n) == slow.contains(mentions, n)
    assert fast.project(kept, n) == kept
    # Every analysis of the space has a derivation that ends with the whole segment.
    steps = fast.derivation(kept, n)
    assert str(steps[-1].item) == f"[→, {n}]"
    used = {k for step in steps for k in step.antecedents}
    assert used == set(range(1, len(steps)))


@pytest.mark.parametrize("name", SPACES)
@settings(max_examples=60, deadline=None)
@given(case=mention_sets(most=6, labels="ABC"), random=st.randoms(use_true_random=False))
def test_projection_keeps_the_rarer_labels(name, case, random):
    """Whatever the labels are called, and in whatever order they and the mentions come."""
    n, mentions = case
    class_name, options = SPACES[name]
    fast, slow = getattr(kernels, class_name)(**options), getattr(reference, class_name)(**options)
    counts = {"A": 30, "B": 7}  # and no C
    kept = fast.project(mentions, n, counts=counts)
    expected = slow.project(mentions, n, counts=counts)
    assert len(kept) == len(expected)
    assert rarity(kept, mentions, n, fast, counts) == rarity(expected, mentions, n, fast, counts)
    shuffled = random.sample(mentions, len(mentions))
    assert fast.project(shuffled, n, counts=dict(reversed(counts.items()))) == kept
    for names in itertools.permutations([0, 1, 2]):
        other = dict(zip("ABC", names))
        renamed = fast.project(
            [(start, end, other[label]) for start, end, label in shuffled],
            n,
            counts={other[label]: 1000 * count for label, count in counts.items()},
        )
        assert set(renamed) == {(start, end, other[label]) for start, end, label in kept}


def test_projection_of_two_labels_on_a_span():
    both = [(0, 2, "B"), (0, 2, "A")]
    for decoder in (FlatDecoder(), QuadraticDecoder(), CubicDecoder(), reference.CubicDecoder()):
        assert decoder.project(both, 3) == [Mention(0, 2, "A")]
        assert decoder.project(both, 3, counts={"A": 5}) == [Mention(0, 2, "B")]
        assert decoder.project(both, 3, counts={"A": 5, "B": 6}) == [Mention(0, 2, "A")]
        assert decoder.project(both, 3, counts={"A": 5, "B": 5}) == [Mention(0, 2, "A")]
        assert decoder.project([(0, 2, 7), (0, 2, 10)], 3) == [Mention(0, 2, 7)]


def test_size_comes_before_rarity():
    """One mention of the rarest of many labels never costs two others."""
    labels = [f"L{k:02}" for k in range(30)]
    mentions = [(2 * k, 2 * k + 2, label) for k, label in enumerate(labels)] + [(1, 59, "rare")]
    counts = {label: 1_000_000 + k for k, label in enumerate(labels)}
    kept = FlatDecoder().project(mentions, 60, counts=counts)
    assert [m.label for m in kept] == labels


def test_search_spaces_check_their_settings():
    assert SearchSpace() == SearchSpace(1, False, None) == QuadraticDecoder().space
    assert (SearchSpace(0), SearchSpace(None)) == (FlatDecoder().space, CubicDecoder().space)
    assert SearchSpace(np.int64(2), max_span_length=np.int32(3)) == SearchSpace(2, max_span_length=3)
    with pytest.raises(ValueError, match="max_short_child is -1; expected 0 or more, or None for any children"):
        SearchSpace(-1)
    with pytest.raises(TypeError, match=r"max_short_child is 1\.5; expected a whole number"):
        SearchSpace(1.5)
    with pytest.raises(TypeError, match="multi_label is 'no'; expected True or False"):
        SearchSpace(multi_label="no")
    with pytest.raises(ValueError, match="max_span_length is 0; expected 1 or more, or None for no limit"):
        SearchSpace(max_span_length=0)
    space = QuadraticDecoder(max_short_child=3).space
    assert pickle.loads(pickle.dumps(space)) == copy.deepcopy(space) == space
    assert space.violation([(0, 3, "A"), (2, 4, "A")], 5) == "0:3 (A) and 2:4 (A) cross"
    assert space.violation([(0, 3, "A")], 5) is None


def test_gold_outside_the_space_is_projected():
    """Two long children: the quadratic space keeps one of them, or loses the parent."""
    mentions = [(0, 6, "PER"), (0, 2, "PER"), (3, 6, "ORG"), (7, 9, "GPE")]
    assert len(QuadraticDecoder().project(mentions, 9)) == 3
    assert len(QuadraticDecoder(max_short_child=2).project(mentions, 9)) == 4
    assert CubicDecoder().project(mentions, 9) == [Mention(*m) for m in mentions]
    assert FlatDecoder().project(mentions, 9) == [Mention(0, 2, "PER"), Mention(3, 6, "ORG"), Mention(7, 9, "GPE")]
    assert CubicDecoder().project([(0, 2, "A"), (0, 2, "A")], 2) == [Mention(0, 2, "A")]
    assert CubicDecoder(max_span_length=3).project(mentions, 9)[0] == Mention(0, 2, "PER")


def test_projection_of_a_long_document_is_quick_and_small():
    """Mentions are projected cluster by cluster, whatever the length of the document."""
    n = 1_000_000
    mentions = [(k, k + 4, "A") for k in range(0, n - 10, 50)]
    mentions += [(k + 1, k + 6, "B") for k in range(0, n - 10, 500)]
    assert len(QuadraticDecoder().project(mentions, n)) == len(range(0, n - 10, 50))
