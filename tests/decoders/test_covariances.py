"""Second derivatives: against enumeration, and against differences of marginals."""

import numpy as np
import pytest
from helpers import random_scores

from spacy_nested_ner.decoders import CubicDecoder, FlatDecoder, PackedScores, QuadraticDecoder, SpanLayout
from spacy_nested_ner.decoders._kernels import engine
from spacy_nested_ner.decoders._kernels.batch import Batch

OPTIONS = [{}, {"multi_label": True}, {"max_span_length": 2}, {"multi_label": True, "max_span_length": 3}]


def random_values(scores, seed=0):
    return np.random.default_rng(seed).normal(size=scores.shape)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_covariances_equal_enumeration(make_pair, options):
    fast, slow = make_pair(**options)
    for n in range(4 if "multi_label" in options else 5):
        for labels, forbidden, offset in [(0, 0, 0), (1, 0, 0), (2, 0.3, 0), (2, 0, 800), (2, 0, -800)]:
            scores = random_scores(n, labels, seed=n, forbidden=forbidden)
            if n > 1:
                scores[0, n - 1] += offset  # from 80 on, sums are those of logarithms
            values = random_values(scores)
            np.testing.assert_allclose(
                fast.covariances(scores, values), slow.covariances(scores, values), atol=1e-12, rtol=1e-9
            )


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_covariances_are_the_derivatives_of_marginals(make_pair, options):
    decoder, _ = make_pair(**options)
    scores = random_scores(19, 3, seed=1, forbidden=0.1)
    values = random_values(scores)
    step = 1e-5
    difference = decoder.marginals(scores + step * values) - decoder.marginals(scores - step * values)
    np.testing.assert_allclose(decoder.covariances(scores, values), difference / (2 * step), atol=1e-8)


def test_the_gradient_of_the_entropy_is_minus_the_covariance_with_the_scores(make_pair):
    decoder, _ = make_pair(multi_label=True)
    scores = random_scores(8, 2, seed=2)
    gradient = -decoder.covariances(scores, np.nan_to_num(scores))
    for i, j, t in [(0, 0, 0), (2, 5, 1), (0, 7, 0), (7, 7, 1)]:
        shifted = [scores.copy(), scores.copy()]
        shifted[0][i, j, t] += 1e-5
        shifted[1][i, j, t] -= 1e-5
        up, down = decoder.entropy(shifted)
        assert gradient[i, j, t] == pytest.approx((up - down) / 2e-5, abs=1e-7)


def test_the_hessian_is_symmetric(make_pair):
    decoder, _ = make_pair()
    scores = random_scores(15, 2, seed=3)
    one, other = random_values(scores, 1), random_values(scores, 2)
    upper = np.triu_indices(15)
    there = (decoder.covariances(scores, one)[upper] * other[upper]).sum()
    assert there == pytest.approx((decoder.covariances(scores, other)[upper] * one[upper]).sum(), rel=1e-10)


def test_single_precision_and_packed_scores(make_pair):
    fast, slow = make_pair()
    arrays = [random_scores(n, 2, seed=n, dtype=np.float32) for n in (3, 0, 4, 1)]
    values = [random_values(array) for array in arrays]
    expected = slow.covariances(arrays, values)
    found = fast.covariances(arrays, values)
    packed = fast.covariances(PackedScores.pack(arrays), PackedScores.pack(values))
    for one, other, third in zip(found, expected, packed.unpack(fill=0.0)):
        assert one.dtype == third.dtype == np.float32
        np.testing.assert_allclose(one, other, atol=1e-6)
        np.testing.assert_array_equal(one, third)


def test_weights_of_any_size_give_finite_covariances(make_pair):
    decoder, _ = make_pair()
    for scale in (1e3, 1e6, 1e20, 1e280):
        scores = random_scores(9, 2, seed=1, scale=scale)
        assert np.isfinite(decoder.covariances(scores, random_values(scores))).all()


def test_values_of_other_shape_are_refused(make_pair):
    decoder, _ = make_pair()
    scores = np.zeros((3, 3, 2))
    for values in (np.zeros((2, 2, 2)), np.zeros((4, 4, 2)), []):
        with pytest.raises(ValueError, match="values have other segments or spans than the scores; expected the same"):
            decoder.covariances(scores, values)
    with pytest.raises(ValueError, match="values of segment 0 have other spans or labels than its scores"):
        decoder.covariances(scores, np.zeros((3, 3, 1)))
    broken = scores.copy()
    broken[0, 1, 1] = np.nan
    with pytest.raises(ValueError, match=r"scores\[0, 1, 1\] is nan"):
        decoder.covariances(broken, scores)


def test_the_kernels_check_both_batches():
    values = np.zeros((2, 6), dtype="float32")
    batch = Batch.of_packed(values, [3], 0, True, 0)
    with pytest.raises(ValueError, match="1 segments and values of 2; expected as many, and outputs"):
        engine.covariances(batch, 1, False, Batch.of_packed(np.zeros((2, 6)), [3, 0], 0, False, 0))
    with pytest.raises(ValueError, match="expected as many, and outputs"):
        engine.covariances(Batch.of_packed(values, [3], 0, False, 0), 1, False, batch)
    dense = Batch.of_arrays([np.zeros((3, 3, 2), "float32")], False, True, 0)
    for one, other in [(batch, dense), (dense, batch), (dense, dense)]:
        with pytest.raises(ValueError, match="segment 0 have other spans or labels than its scores"):
            engine.covariances(one, 1, False, other)
    with pytest.raises(TypeError):
        engine.covariances(batch, 1, False, None)


@pytest.mark.parametrize("decoder", [FlatDecoder(), QuadraticDecoder(), CubicDecoder()], ids=repr)
def test_values_that_are_not_finite_spread_and_do_no_harm(decoder):
    layout = SpanLayout([4])
    scores = PackedScores(np.zeros((1, layout.n_spans)), layout)
    values = np.zeros((1, layout.n_spans))
    values[0, 3] = np.inf
    assert np.isnan(decoder.covariances(scores, scores.like(values)).values).any()
