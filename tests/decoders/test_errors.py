"""Every mistake a user can make, and what is said about it."""

import numpy as np
import pytest
from helpers import random_scores

from spacy_nested_ner.decoders import (
    CubicDecoder,
    FlatDecoder,
    PackedScores,
    QuadraticDecoder,
    reference,
)

METHODS = ["decode", "log_partition", "marginals", "log_partition_and_marginals", "sample", "entropy", "k_best"]


@pytest.fixture(params=METHODS)
def method(request, make_decoder):
    return getattr(make_decoder(), request.param)


@pytest.mark.parametrize(
    "scores, error, message",
    [
        (np.zeros((3, 4, 2)), ValueError, r"scores has shape \(3, 4, 2\); expected \(n, n, labels\)"),
        (np.zeros((3, 3)), ValueError, r"scores has shape \(3, 3\); expected three axes"),
        (np.zeros((3, 3, 1), dtype=int), TypeError, r"scores has dtype int64; expected float32 or float64"),
        (np.zeros((3, 3, 1), dtype=np.float16), TypeError, r"dtype float16.*astype\('float32'\)"),
        (np.zeros((3, 3, 1), dtype=complex), TypeError, "dtype complex128"),
        ("text", TypeError, "scores is a str; expected an array"),
        (None, TypeError, "scores is a NoneType"),
        ([np.zeros((2, 2, 1)), [[1.0]]], TypeError, r"scores\[1\] is a list; expected an array"),
        ([np.zeros((2, 2, 1)), np.zeros((2, 1, 1))], ValueError, r"scores\[1\] has shape \(2, 1, 1\)"),
    ],
)
def test_what_is_no_array_of_scores(method, scores, error, message):
    with pytest.raises(error, match=message):
        method(scores)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value, text", [(np.nan, "nan"), (np.inf, "inf")])
@pytest.mark.parametrize("multi_label", [False, True])
def test_nan_and_infinity_are_named_with_their_place(make_decoder, dtype, value, text, multi_label):
    decoder = make_decoder(multi_label=multi_label)
    scores = random_scores(6, 11, seed=0, dtype=dtype)
    scores[2, 4, 9] = value
    for name in METHODS:
        with pytest.raises(ValueError, match=rf"scores\[2, 4, 9\] is {text}; weights must be finite, or -inf"):
            getattr(decoder, name)(scores)
        with pytest.raises(ValueError, match=rf"scores\[1\]\[2, 4, 9\] is {text}"):
            getattr(decoder, name)([np.zeros((1, 1, 1)), scores])
        packed = PackedScores.pack([np.zeros((1, 1, 11), dtype), scores])
        with pytest.raises(ValueError, match=rf"label 9 of tokens 2 to 4 in segment 1 is {text}"):
            getattr(decoder, name)(packed)


@pytest.mark.parametrize("multi_label", [False, True])
def test_weights_near_the_largest_double_are_refused(make_decoder, multi_label):
    """Their sums would be infinite, and log Z no number."""
    decoder = make_decoder(multi_label=multi_label)
    for value in (1e290, 1e300, np.finfo(float).max):
        scores = random_scores(5, 2, seed=0)
        scores[1, 3, 1] = value
        for name in METHODS:
            with pytest.raises(ValueError, match=r"^scores\[1, 3, 1\] is 1.*; weights must be below 1e290, or -inf"):
                getattr(decoder, name)(scores)
            with pytest.raises(ValueError, match=r"label 1 of tokens 1 to 3 in segment 0 is 1.* must be below 1e290"):
                getattr(decoder, name)(PackedScores.pack([scores]))


@pytest.mark.parametrize("multi_label", [False, True])
def test_weights_just_below_the_limit_are_right(make_decoder, multi_label):
    decoder = make_decoder(multi_label=multi_label)
    scores = np.full((5, 5, 2), np.nextafter(1e290, 0))
    scores[0, 1] = -np.finfo(float).max
    log_z, marginals = decoder.log_partition_and_marginals(scores)
    assert np.isfinite(log_z)
    assert log_z == pytest.approx(sum(scores[m.start, m.end - 1, m.label] for m in decoder.decode(scores)))
    assert np.isfinite(marginals).all()
    assert not marginals[0, 1].any()
    assert np.isfinite(decoder.entropy(scores))
    assert decoder.contains(decoder.sample(scores, n_samples=1)[0], 5)


def test_nan_is_found_in_every_place_that_is_read_and_in_no_other():
    """Vector code reads several labels and spans at once; every one of them must be looked at."""
    for labels in (1, 5, 8, 9, 16, 19):
        for dtype in (np.float32, np.float64):
            clean = random_scores(11, labels, seed=labels, dtype=dtype)
            for decoder in (QuadraticDecoder(max_span_length=9), CubicDecoder(max_span_length=9, multi_label=True)):
                decoder.decode(clean)
                for i in range(11):
                    for j in range(11):
                        scores = clean.copy()
                        scores[i, j, (i + j) % labels] = np.nan
                        if 0 <= j - i < 9:
                            with pytest.raises(ValueError, match="nan"):
                                decoder.decode(scores)
                            with pytest.raises(ValueError, match="nan"):
                                decoder.log_partition(scores)
                        else:
                            assert decoder.decode(scores) == decoder.decode(clean)


@pytest.mark.parametrize("name", ["max_short_child", "max_span_length"])
def test_settings_must_be_positive_whole_numbers(implementation, name):
    for value in (0, -1):
        with pytest.raises(ValueError, match=f"{name} is {value}; expected 1 or more"):
            implementation.QuadraticDecoder(**{name: value})
    for value in (1.5, "2", True):
        with pytest.raises(TypeError, match=f"{name} is {value!r}; expected a whole number"):
            implementation.QuadraticDecoder(**{name: value})


def test_multi_label_is_true_or_false(implementation):
    with pytest.raises(TypeError, match="multi_label is 1; expected True or False"):
        implementation.FlatDecoder(multi_label=1)


def test_samples_are_counted_and_seeded_by_whole_numbers():
    decoder, scores = FlatDecoder(), np.zeros((2, 2, 1))
    with pytest.raises(ValueError, match="n_samples is -1; expected 0 or more"):
        decoder.sample(scores, n_samples=-1)
    with pytest.raises(TypeError, match=r"n_samples is 2\.0"):
        decoder.sample(scores, n_samples=2.0)
    with pytest.raises(ValueError, match="seed is -3; expected 0 or more"):
        decoder.sample(scores, seed=-3)
    with pytest.raises(MemoryError, match="out of memory for 281474976710656 samples"):
        decoder.sample(scores, n_samples=2**48)
    with pytest.raises(ValueError, match=r"seed is 18446744073709551616; expected 0 or more, below 2\*\*64"):
        decoder.sample(scores, seed=2**64)
    assert decoder.sample(scores, n_samples=1, seed=2**64 - 1)
    with pytest.raises(TypeError, match="seed is None"):
        decoder.sample(scores, seed=None)


@pytest.mark.parametrize(
    "mention, error, message",
    [
        ((-1, 2, "A"), ValueError, r"mention \(-1, 2, 'A'\) is not a span of 4 tokens; expected 0 <= start < end <= 4"),
        ((2, 2, "A"), ValueError, "is not a span"),
        ((2, 5, "A"), ValueError, "is not a span"),
        ((0.5, 2, "A"), TypeError, "must be whole numbers"),
        ((0, 2), TypeError, r"\(0, 2\) is not a mention; expected \(start, end, label\)"),
        (3, TypeError, "3 is not a mention"),
    ],
)
def test_mentions_must_be_spans(make_decoder, mention, error, message):
    decoder = make_decoder()
    for method in (decoder.project, decoder.contains, decoder.derivation):
        with pytest.raises(error, match=message):
            method([mention], 4)
        with pytest.raises(ValueError, match="n_tokens is -1; expected a whole number, 0 or more"):
            method([], -1)


def test_enumeration_has_a_limit():
    with pytest.raises(ValueError, match="cannot write down all analyses of 30 tokens; the most is 7"):
        reference.CubicDecoder().decode(np.zeros((30, 30, 1)))
