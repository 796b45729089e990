"""Decoders with any shape, memory, type, weights and settings that a program can come up with.

Short segments are compared with enumeration. What holds for segments of any length is in properties.py."""

import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest
from fuzz import properties
from fuzz.properties import LIMIT, has_digits, read_weights, size_of
from helpers import weight_of

from spacy_nested_ner.decoders import Mention, PackedScores, reference
from spacy_nested_ner.decoders.decoder import decoder_from_settings

MOST_ENUMERATED = 6  # tokens
MOST_TOKENS = 60
STORAGES = (
    "plain",
    "fortran",
    "strided",
    "backwards",
    "transposed",
    "not aligned",
    "other byte order",
    "read-only",
    "packed",
    "packed in part",
)


class Case(NamedTuple):
    """One call of everything.

    settings (dict): Of the decoder.
    dtype (str): Of the scores.
    storage (str): How they lie in memory.
    labels (int): How many.
    segments (list): Dense weights, as nested lists of numbers.
    k (int), threshold (float | None), temperature (float), seed (int): What is asked for.
    """

    settings: dict
    dtype: str
    storage: str
    labels: int
    segments: list
    k: int = 5
    threshold: float | None = None
    temperature: float = 1.0
    seed: int = 0


# ---- make ----


def make(random):
    settings = _settings(random)
    few = settings["multi_label"]
    segments = []
    labels = int(random.choice([0, 1, 2, 3] if few else [0, 1, 2, 3, 9]))
    weights = KINDS[random.integers(len(KINDS))]
    lengths = random.choice([0, 1, 2, 3, 3, 4, 4, 5, 6] if labels < 3 else [0, 1, 2, 3, 4], size=random.integers(1, 4))
    if random.integers(3) == 0:
        lengths[random.integers(len(lengths))] = random.integers(MOST_ENUMERATED + 1, MOST_TOKENS + 1)
    for n in lengths.tolist():
        segments.append(_spoiled(random, weights(random, (n, n, labels))).tolist())
    return Case(
        settings,
        str(random.choice(["float32", "float64"])),
        str(random.choice(STORAGES)),
        labels,
        segments,
        int(random.choice([1, 2, 7, 60])),
        random.choice([None, 0.0, 0.3, 0.5, 1.0]),
        float(random.choice([1.0, 1.0, 0.1, 2.5, 1e3])),
        int(random.integers(2**62)),
    )


def _settings(random):
    kind = random.choice(["FlatDecoder", "QuadraticDecoder", "CubicDecoder"])
    settings = {"decoder": str(kind), "multi_label": bool(random.integers(2))}
    settings["max_span_length"] = [None, None, 1, 2, 3, 5, 20, 10**30][random.integers(8)]
    if kind == "QuadraticDecoder":
        settings["max_short_child"] = int(random.choice([1, 1, 2, 3, 4, 6, 100]))
    return settings


def _normal(random, shape):
    return random.normal(scale=10.0 ** random.uniform(-2, 2), size=shape)


def _large(random, shape):
    return random.normal(scale=10.0 ** random.uniform(2, 288), size=shape)


def _ties(random, shape):
    return random.integers(-3, 3, size=shape) * float(random.choice([1.0, 0.1, 1e-200, 1e-310, 5e-324, 1e30, 1e200]))


def _equal(random, shape):
    return np.full(shape, random.choice([0.0, -0.0, 1.0, -1.0, 1e4, -1e4, 1e-310, 1e-45, 79.9, 80.1, 700.0, -1e308]))


def _mixed(random, shape):
    sizes = 10.0 ** random.uniform(-320, 20, size=shape)
    return sizes * random.choice([-1.0, 1.0], size=shape)


def _odd(random, shape):
    numbers = [0.0, 1.0, -1.0, 1e4, -1e4, 79.9, 80.1, 679.0, 681.0, -707.0, -745.0, 5e-324, -5e-324, 1e-300, 1e15, 1e30]
    return random.choice([*numbers, -1e308, -6e307, 3e38, -np.inf, -np.inf], size=shape)


KINDS = [_normal, _normal, _large, _ties, _ties, _equal, _mixed, _odd]


def _spoiled(random, weights):
    """With forbidden mentions, NaN where nobody may look, and sometimes where somebody does."""
    n, _, labels = weights.shape
    if random.integers(3) == 0:
        weights[random.random(weights.shape) < random.choice([0.1, 0.5, 0.9])] = -np.inf
    weights[np.tril_indices(n, -1)] = np.nan
    if n and labels and random.integers(25) == 0:
        place = sorted(random.integers(n, size=2)), random.integers(labels)
        weights[(*place[0], place[1])] = random.choice([np.nan, np.inf, 1e290, 1e308])
    return weights


# ---- check ----


def check(case):
    """Raise an AssertionError if the decoder is wrong about anything."""
    with np.errstate(all="ignore"):
        arrays = [_array(segment, case) for segment in case.segments]
        fast = decoder_from_settings(case.settings)
        others = {name: value for name, value in case.settings.items() if name != "decoder"}
        slow = getattr(reference, case.settings["decoder"])(**others)
        random = np.random.default_rng(case.seed)
        values = [np.where(np.isnan(array), array, random.normal(size=array.shape)) for array in arrays]
        scores, arrays = _stored(arrays, case.storage)
        if not all((read_weights(fast, array) < LIMIT).all() for array in arrays):
            return _check_refused(fast, scores)
        values, directions = _stored([array.astype(case.dtype) for array in values], case.storage)
        _check_sums(fast, slow, scores, arrays)
        _check_best(fast, slow, scores, arrays, case)
        _check_covariances(fast, slow, scores, arrays, values, directions)
        _check_projection(fast, slow, len(arrays[0]), case)
        properties.check(fast, scores, arrays, values, case)


def _array(segment, case):
    array = np.array(segment, dtype="float64").reshape(len(segment), len(segment), case.labels)
    return array.astype(case.dtype)


def _stored(arrays, storage):
    """The scores in memory as a storage says, and dense arrays of what is in them."""
    if storage.startswith("packed"):
        limit = 2 if storage == "packed in part" else None
        packed = PackedScores.pack(arrays, limit)
        return packed, packed.unpack()
    return [_laid_out(array, storage) for array in arrays], arrays


def _laid_out(array, storage):
    n, _, labels = array.shape
    if storage == "fortran":
        return np.asfortranarray(array)
    if storage == "transposed":
        return np.ascontiguousarray(array.transpose(2, 1, 0)).transpose(2, 1, 0)
    if storage == "backwards":
        return np.ascontiguousarray(array[::-1, ::-1, ::-1])[::-1, ::-1, ::-1]
    if storage == "strided":
        larger = np.full((2 * n + 1, 3 * n + 1, 2 * labels + 1), np.nan, dtype=array.dtype)
        part = larger[1::2, 1::3, 1::2]
        part[...] = array
        return part
    if storage == "not aligned":
        memory = np.zeros(array.nbytes + 1, dtype="u1")
        part = memory[1:].view(array.dtype).reshape(array.shape)
        part[...] = array
        return part
    if storage == "other byte order":
        return array.astype(array.dtype.newbyteorder())
    array = array.copy()
    array.flags.writeable = storage != "read-only"
    return array


def _check_refused(decoder, scores):
    for ask in (decoder.decode, decoder.log_partition, decoder.marginals, decoder.entropy, decoder.k_best):
        with pytest.raises(ValueError, match="weights must be"):
            ask(scores)


def _is_short(array):
    return len(array) <= MOST_ENUMERATED


def _has_few_analyses(array):
    """So few that all of them can be written down with all their labels."""
    return len(array) <= 3 and array.shape[2] <= 2


def _check_sums(fast, slow, scores, arrays):
    totals, marginals = fast.log_partition_and_marginals(scores)
    if isinstance(scores, PackedScores):
        marginals = marginals.unpack(fill=0.0)
    assert fast.log_partition(scores) == totals
    entropies = fast.entropy(scores)
    single = arrays[0].dtype == np.float32
    for array, total, probabilities, entropy in zip(arrays, totals, marginals, entropies, strict=True):
        where = np.triu_indices(len(array))
        known = np.nan_to_num(probabilities[where], nan=7.0)
        assert ((known >= 0) & (known <= 1 + 1e-6)).all(), "marginals are no probabilities"
        if not _is_short(array):
            continue
        size = size_of(read_weights(fast, array))
        assert np.isclose(total, slow.log_partition(array), rtol=1e-6 if single else 1e-12, atol=1e-6 + 1e-14 * size)
        if has_digits(size):
            close = 2e-6 if single else 1e-9 + 1e-14 * size
            np.testing.assert_allclose(probabilities[where], slow.marginals(array)[where], atol=close)
        if size < 1e15:
            assert np.isclose(entropy, slow.entropy(array), atol=1e-5 + 1e-13 * size), "entropy"


def _check_best(fast, slow, scores, arrays, case):
    found, lists = fast.decode(scores), fast.k_best(scores, case.k)
    for array, analysis, ranked in zip(arrays, found, lists, strict=True):
        assert slow.contains(analysis, len(array)), "outside the search space"
        if not _is_short(array):
            continue
        expected = slow.decode(array)
        best = weight_of(expected, array)
        # Both after fees, which is what is compared: the rest is rounding.
        values = [properties.after_fees(mentions, array, best) for mentions in (analysis, expected, ranked[0][0])]
        assert np.isclose(values[0], values[1:], rtol=1e-13, atol=0.0).all(), f"not the best: {values}"
        assert all(slow.contains(mentions, len(array)) for mentions, _ in ranked)
        if _has_few_analyses(array):
            weights, order = ([weight for _, weight in each] for each in (ranked, slow.k_best(array, case.k)))
            assert len(weights) == len(order)
            np.testing.assert_allclose(weights, order, rtol=1e-11, atol=1e-11 * size_of(array[np.isfinite(array)]))


def _check_covariances(fast, slow, scores, arrays, values, directions):
    found = fast.covariances(scores, values)
    if isinstance(scores, PackedScores):
        found = found.unpack(fill=0.0)
    single = arrays[0].dtype == np.float32
    for array, direction, one in zip(arrays, directions, found, strict=True):
        size = size_of(read_weights(fast, array))
        if _has_few_analyses(array) and has_digits(size):
            close = 1e-5 if single else 1e-9 + 1e-14 * size
            np.testing.assert_allclose(one, slow.covariances(array, direction), rtol=0.0, atol=close)


def _check_projection(fast, slow, n, case):
    random = np.random.default_rng(case.seed)
    spans = list(itertools.combinations(range(n + 1), 2))
    chosen = [spans[k] for k in random.permutation(len(spans))[: random.integers(0, 7)]]
    mentions: list[Any] = [Mention(start, end, int(random.integers(2))) for start, end in chosen]
    assert fast.contains(mentions, n) == slow.contains(mentions, n)
    kept = fast.project(mentions, n)
    assert slow.contains(kept, n)
    assert len(kept) == len(slow.project(mentions, n))
