"""The k best analyses: against all analyses written down and sorted, and what can be asked of them."""

import itertools

import numpy as np
import pytest
from helpers import random_scores, weight_of

from spacy_nested_ner.decoders import (
    CubicDecoder,
    FlatDecoder,
    Mention,
    PackedScores,
    QuadraticDecoder,
    SpanLayout,
    reference,
)
from spacy_nested_ner.decoders import _memory as memory
from spacy_nested_ner.decoders._kernels import engine
from spacy_nested_ner.decoders._kernels.batch import Batch

OPTIONS = [{}, {"multi_label": True}, {"max_span_length": 2}, {"multi_label": True, "max_span_length": 3}]
EVERY = [FlatDecoder(), QuadraticDecoder(), QuadraticDecoder(max_short_child=3), CubicDecoder()]


def cases(multi_label):
    for n, labels, forbidden in itertools.product(range(4 if multi_label else 5), (0, 1, 2), (0.0, 0.3)):
        yield random_scores(n, labels, seed=n, forbidden=forbidden)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_all_analyses_come_once_and_in_order(make_pair, options):
    fast, slow = make_pair(**options)
    for scores in cases("multi_label" in options):
        found, expected = fast.k_best(scores, 10**30), slow.k_best(scores, 10**30)
        assert [mentions for mentions, _ in found] == [mentions for mentions, _ in expected]
        assert [weight for _, weight in found] == pytest.approx([weight for _, weight in expected], abs=1e-12)
        assert len({tuple(mentions) for mentions, _ in found}) == len(found)


def test_enumeration_of_six_tokens(make_pair):
    """Children that are long, short, or left of a long one need some room."""
    fast, slow = make_pair()
    scores = random_scores(6, 1, seed=3)
    found, expected = fast.k_best(scores, 100_000), slow.k_best(scores, 100_000)
    assert [mentions for mentions, _ in found] == [mentions for mentions, _ in expected]


@pytest.mark.parametrize("multi_label", [False, True])
@pytest.mark.parametrize("unit", [1.0, 0.1])
def test_ties_go_to_fewer_mentions(make_pair, multi_label, unit):
    """Multiples of one number make many ties, and some segments in which the empty analysis is the best one."""
    fast, slow = make_pair(multi_label=multi_label)
    random = np.random.default_rng(1)
    for high in (3, 1):
        for _ in range(5):
            scores = random.integers(-3, high, size=(3, 3, 2)) * unit
            found, expected = fast.k_best(scores, 500), slow.k_best(scores, 500)
            assert len(found) == len(expected)
            weights = [weight for _, weight in expected]
            assert [weight for _, weight in found] == pytest.approx(weights, rel=1e-11, abs=1e-11 * unit)
            assert [len(mentions) for mentions, _ in found] == [len(mentions) for mentions, _ in expected]
            assert len({tuple(mentions) for mentions, _ in found}) == len(found)


@pytest.mark.parametrize("multi_label", [False, True])
@pytest.mark.parametrize("size", [1e308, 6e307])
def test_what_adds_up_to_less_than_all_numbers_is_not_listed(make_pair, multi_label, size):
    """Two weights of -1e308, or three of -6e307, add up to -inf: as impossible as a forbidden mention."""
    fast, slow = make_pair(multi_label=multi_label)
    scores = np.full((4, 4, 1), -size)
    scores[1, 1] = 2.0
    if multi_label:
        scores = np.repeat(scores[:3, :3], 2, axis=2)
    found, expected = fast.k_best(scores, 10**6), slow.k_best(scores, 10**6)
    assert found[-1][1] > -np.inf
    assert [weight for _, weight in found] == pytest.approx([weight for _, weight in expected], rel=1e-12)
    assert {tuple(mentions) for mentions, _ in found} == {tuple(mentions) for mentions, _ in expected}


def test_without_weights_the_empty_analysis_comes_first(make_decoder):
    for decoder in (make_decoder(), make_decoder(multi_label=True)):
        found = decoder.k_best(np.zeros((3, 3, 1)), 100)
        sizes = [len(mentions) for mentions, _ in found]
        assert sizes == sorted(sizes)
        assert found[0] == ([], 0.0)
        assert len(found) == round(np.exp(decoder.log_partition(np.zeros((3, 3, 1)))))


def test_the_first_one_is_what_decode_finds(make_decoder, implementation):
    n = 4 if implementation is reference else 12
    for dtype in (np.float32, np.float64):
        scores = random_scores(n, 1, seed=1, dtype=dtype)
        ((mentions, weight),) = make_decoder().k_best(scores, 1)
        assert mentions == make_decoder().decode(scores)
        assert weight == pytest.approx(weight_of(mentions, scores), rel=1e-12)
        assert type(weight) is float
        assert type(mentions[0]) is Mention


@pytest.mark.parametrize("decoder", EVERY, ids=repr)
def test_long_segments(decoder):
    """Every k gives the beginning of the same list; all analyses are inside the space, distinct and no better than
    those before them."""
    scores = random_scores(40, 3, seed=0, dtype=np.float32)
    found = decoder.k_best(scores, 300)
    weights = [weight for _, weight in found]
    assert found[0][0] == decoder.decode(scores)
    assert found[:7] == decoder.k_best(scores, 7)
    assert len({tuple(mentions) for mentions, _ in found}) == 300
    assert all(decoder.contains(mentions, 40) for mentions, _ in found)
    assert weights == pytest.approx([weight_of(mentions, scores) for mentions, _ in found], rel=1e-12)
    assert weights == sorted(weights, reverse=True)


def test_all_decoders_agree_where_their_spaces_are_equal():
    scores = random_scores(30, 2, seed=4)
    assert CubicDecoder().k_best(scores, 50) == QuadraticDecoder(max_short_child=30).k_best(scores, 50)
    scores[np.arange(29), np.arange(1, 30)] = -np.inf  # no child of two tokens: c = 1 and c = 2 are the same
    assert QuadraticDecoder().k_best(scores, 50) == QuadraticDecoder(max_short_child=2).k_best(scores, 50)


@pytest.mark.parametrize("multi_label", [False, True])
def test_packed_scores_give_what_dense_ones_give(make_decoder, multi_label):
    decoder = make_decoder(multi_label=multi_label)
    arrays = [random_scores(n, 2, seed=n) for n in (3, 0, 2, 1)]
    expected = [decoder.k_best(array, 9) for array in arrays]
    assert decoder.k_best(arrays, 9) == expected
    assert decoder.k_best(PackedScores.pack(arrays), 9) == expected
    assert [len(found) for found in expected][1] == 1
    assert decoder.k_best([], 3) == []


@pytest.mark.parametrize("decoder", [QuadraticDecoder(max_span_length=8), CubicDecoder(max_span_length=8)], ids=repr)
def test_a_segment_of_many_tokens_does_not_end_the_process(decoder):
    """Items depend on each other from one end of the segment to the other: no recursion."""
    n = 30_000
    layout = SpanLayout([n], 8)
    values = np.random.default_rng(0).normal(-3, 1, (1, layout.n_spans)).astype("float32")
    (found,) = decoder.k_best(PackedScores(values, layout), 3)
    assert found[0][0] == decoder.decode(PackedScores(values, layout))[0]
    assert found[0][1] > found[1][1] > found[2][1]


def test_k_must_be_a_positive_whole_number(make_decoder):
    decoder, scores = make_decoder(), np.zeros((2, 2, 1))
    for k in (0, -1):
        with pytest.raises(ValueError, match=f"k is {k}; expected 1 or more"):
            decoder.k_best(scores, k)
    for k in (2.0, "3", True, None):
        with pytest.raises(TypeError, match=f"k is {k!r}; expected a whole number, 1 or more"):
            decoder.k_best(scores, k)
    assert len(decoder.k_best(scores, np.int64(2))) == 2
    with pytest.raises(ValueError, match="k is 0; expected 1 or more"):
        engine.k_best(Batch.of_arrays([scores], False, False, 0), 1, False, 0, 1e9)


@pytest.mark.parametrize("size", [10.0, 3e3, 1e4, 1e5, 2e6])
@pytest.mark.parametrize("decoder", [CubicDecoder(), QuadraticDecoder(multi_label=True)], ids=repr)
def test_more_analyses_than_memory_holds(monkeypatch, decoder, size):
    """Wherever it is that the last byte is taken."""
    monkeypatch.setattr(memory, "physical_memory", lambda: size)
    with pytest.raises(
        MemoryError,
        match=r"^out of memory for the 1000000000 best analyses of segment 0 of .*, after \d+: ask for fewer$",
    ):
        decoder.k_best(random_scores(30, 2, seed=0), 10**9)
