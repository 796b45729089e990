"""Analyses of equal weight: every mention costs 1e-12 of the weight of the best analysis, in all decoders alike."""

import itertools

import numpy as np
import pytest
from helpers import weight_of

from spacy_nested_ner.decoders import CubicDecoder, FlatDecoder, Mention, PackedScores, QuadraticDecoder

NESTED = [QuadraticDecoder(), QuadraticDecoder(max_short_child=2), QuadraticDecoder(max_short_child=9), CubicDecoder()]


def only(n, labels=1, **weights):
    """Scores that forbid all but some mentions: only(4, m0_2=1.0) allows tokens 0 to 2."""
    scores = np.full((n, n, labels), -np.inf)
    for name, weight in weights.items():
        first, last = map(int, name[1:].split("_"))
        scores[first, last] = weight
    return scores


def mirrored(scores):
    """The sentence read from its end."""
    return np.ascontiguousarray(scores[::-1, ::-1].transpose(1, 0, 2))


def test_a_weight_of_zero_is_left_out(make_decoder):
    assert make_decoder().decode(np.zeros((5, 5, 2))) == []
    assert make_decoder(multi_label=True).decode(np.zeros((5, 5, 2))) == []


def test_ties_go_to_fewer_mentions(make_decoder):
    # Two mentions together as heavy as one that crosses both, which is not in the middle.
    scores = only(6, m0_1=1.0, m2_4=1.0, m1_3=2.0)
    assert make_decoder().decode(scores) == [Mention(1, 4, 0)]
    assert make_decoder().decode(mirrored(scores)) == [Mention(2, 5, 0)]
    # The same with weights whose sums are rounded: 0.1 + 0.2 is not 0.3.
    scores = only(6, m0_1=0.1, m2_4=0.2, m1_3=0.3)
    assert make_decoder().decode(scores) == [Mention(1, 4, 0)]
    assert make_decoder().decode(mirrored(scores)) == [Mention(2, 5, 0)]


def test_ties_count_labels_as_mentions(implementation):
    scores = np.full((4, 4, 2), -np.inf)
    scores[0, 1] = [1.0, 1.0]
    scores[1, 2] = [2.0, -1.0]
    for name in ("FlatDecoder", "QuadraticDecoder", "CubicDecoder"):
        assert getattr(implementation, name)(multi_label=True).decode(scores) == [Mention(1, 3, 0)]


@pytest.mark.slow
@pytest.mark.parametrize("multi_label", [False, True])
@pytest.mark.parametrize("unit", [1.0, 0.1, 1e-200, 1e200])
def test_ties_of_whole_numbers_equal_enumeration(make_pair, multi_label, unit):
    """Multiples of one number make many ties; weight and number of mentions must both be the best."""
    fast, slow = make_pair(multi_label=multi_label)
    random = np.random.default_rng(0)
    for _ in range(100):
        n = int(random.integers(2, 7))
        scores = random.integers(-3, 3, size=(n, n, 2)) * unit
        found, expected = fast.decode(scores), slow.decode(scores)
        assert slow.contains(found, n)
        assert weight_of(found, scores) == pytest.approx(weight_of(expected, scores), rel=1e-12)
        assert len(found) == len(expected)
        assert found == fast.decode(scores)
        assert len(fast.decode(mirrored(scores))) == len(expected)
        (packed,) = fast.decode(PackedScores.pack([scores]))
        assert packed == found


@pytest.mark.parametrize("huge", [1e11, 1e13, 1e15, 1e100])
def test_decoders_agree_on_what_is_negligible(huge):
    """A tiny mention is measured by the whole analysis, wherever the heavy one is. With the rest of the sentence as
    the measure, quadratic found the late one and cubic did not."""
    for heavy, tiny in itertools.permutations([(0, 0), (2, 4), (6, 6)], 2):
        scores = np.full((7, 7, 1), -np.inf)
        scores[heavy], scores[tiny] = huge, 1.0
        for decoder in (FlatDecoder(), *NESTED):
            assert len(decoder.decode(scores)) == (2 if huge < 1e12 else 1)
            assert len(decoder.decode(mirrored(scores))) == (2 if huge < 1e12 else 1)


@pytest.mark.parametrize("decoder", NESTED, ids=repr)
@pytest.mark.parametrize("place", ["m1_1", "m1_3", "m0_3", "m0_0", "m2_5", "m5_5"])
def test_a_nested_mention_of_negligible_weight_is_left_out(decoder, place):
    """As a first-level one is: a single token, a first, a last, a long or a short child."""
    for share, n_mentions in [(1e-9, 2), (1e-13, 1), (1e-16, 1)]:
        scores = only(6, m0_5=1000.0, **{place: 1000.0 * share})
        assert len(decoder.decode(scores)) == n_mentions


def test_a_further_label_of_negligible_weight_is_left_out(implementation):
    for name in ("FlatDecoder", "QuadraticDecoder", "CubicDecoder"):
        decoder = getattr(implementation, name)(multi_label=True)
        scores = np.full((3, 3, 3), -np.inf)
        scores[0, 1] = [1e-13, 1.0, 1e-9]
        assert decoder.decode(scores) == [Mention(0, 2, 1), Mention(0, 2, 2)]


def test_a_parent_of_negligible_weight_leaves_its_children(make_decoder):
    scores = only(6, m0_5=1e-14, m1_2=1.0, m4_4=1.0)
    assert make_decoder().decode(scores) == [Mention(1, 3, 0), Mention(4, 5, 0)]


def test_many_negligible_mentions_are_all_left_out(make_decoder):
    """Together they weigh more than the tolerance."""
    scores = only(6, m0_0=1.0, m1_1=9e-13, m2_2=9e-13, m3_3=9e-13, m4_4=9e-13, m5_5=9e-13)
    assert make_decoder().decode(scores) == [Mention(0, 1, 0)]


@pytest.mark.parametrize("multi_label", [False, True])
def test_long_segments_full_of_ties(multi_label):
    """The family with all children short is the cubic decoder; the quadratic one finds what the family with c = 2
    does when no mention has two tokens."""
    random = np.random.default_rng(1)
    for n in (30, 80):
        scores = random.integers(-4, 3, size=(n, n, 3)).astype(np.float32)
        scores[np.arange(n - 1), np.arange(1, n)] = -np.inf
        pairs = [
            (CubicDecoder(multi_label=multi_label), QuadraticDecoder(max_short_child=n, multi_label=multi_label)),
            (QuadraticDecoder(multi_label=multi_label), QuadraticDecoder(max_short_child=2, multi_label=multi_label)),
        ]
        for one, other in pairs:
            for each in (scores, mirrored(scores)):
                found = one.decode(each), other.decode(each)
                assert weight_of(found[0], each) == weight_of(found[1], each)
                assert len(found[0]) == len(found[1])
            assert len(one.decode(scores)) == len(one.decode(mirrored(scores)))


def test_a_label_that_weighs_just_the_fee_is_left_out(implementation):
    decoder = implementation.CubicDecoder(multi_label=True)
    assert decoder.decode(np.array([[[1e-12, 1.0]]])) == [Mention(0, 1, 1)]
