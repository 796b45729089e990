"""The probability of a given analysis."""

import numpy as np
import pytest
from helpers import random_scores

from spacy_nested_ner.decoders import Mention, PackedScores


@pytest.mark.parametrize("options", [{}, {"multi_label": True}, {"max_span_length": 2}], ids=str)
def test_probabilities_of_all_analyses_add_up_to_one(make_decoder, options):
    decoder = make_decoder(**options)
    scores = random_scores(3, 2, seed=0)
    every = [mentions for mentions, _ in decoder.k_best(scores, 10_000)]
    assert sum(np.exp(decoder.log_prob(scores, mentions)) for mentions in every) == pytest.approx(1.0, abs=1e-12)


def test_of_one_array_of_several_and_of_packed_scores(make_decoder):
    decoder = make_decoder()
    arrays = [random_scores(n, 2, seed=n) for n in (3, 0, 5)]
    analyses = decoder.decode(arrays)
    expected = [decoder.log_prob(array, mentions) for array, mentions in zip(arrays, analyses)]
    assert all(type(number) is float for number in expected)
    assert expected[1] == 0.0
    assert decoder.log_prob(arrays, analyses) == expected
    assert decoder.log_prob(PackedScores.pack(arrays), analyses) == expected
    assert decoder.log_prob(arrays[0], reversed(analyses[0] * 2)) == expected[0]


def test_an_impossible_analysis_has_no_probability(make_decoder):
    decoder = make_decoder(max_span_length=3)
    scores = random_scores(5, 2, seed=0)
    scores[1, 1, 0] = -np.inf
    for mentions in ([(0, 2, 0), (1, 3, 0)], [(0, 4, 0)], [(0, 1, 0), (0, 1, 1)], [(1, 2, 0)]):
        assert decoder.log_prob(scores, mentions) == -np.inf
    packed = PackedScores.pack([scores], 2)
    assert decoder.log_prob(packed, [[(0, 3, 0)]]) == [-np.inf]
    assert decoder.log_prob(packed, [[(0, 2, 0)]])[0] > -np.inf


def test_mistakes(make_decoder):
    decoder, scores = make_decoder(), np.zeros((3, 3, 2))
    for label in (2, -1, "A", 1.0, True):
        with pytest.raises(ValueError, match=r"has the label .*; expected a number from 0 to 1"):
            decoder.log_prob(scores, [Mention(0, 1, label)])
    with pytest.raises(ValueError, match="not a span of 3 tokens"):
        decoder.log_prob(scores, [(2, 4, 0)])
    with pytest.raises(ValueError, match="mentions are 1 analyses; expected a list of 2 analyses, one for every segm"):
        decoder.log_prob([scores, scores], [[]])
    with pytest.raises(ValueError, match="mentions are None; expected a list of 1 analyses"):
        decoder.log_prob([scores], None)
