"""Decoders against enumeration: any shape, memory, type, weights and settings that a program can come up with."""

import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest

from spacy_nested_ner.decoders import Mention, PackedScores, SpanLayout, reference
from spacy_nested_ner.decoders.decoder import decoder_from_settings

LIMIT = 1e290  # weights from here on are refused
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
    for _ in range(random.integers(1, 4)):
        n = int(random.choice([0, 1, 2, 3, 3, 4, 4, 5, 6] if labels < 3 else [0, 1, 2, 3, 4]))
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
    settings["max_span_length"] = [None, None, 1, 2, 3, 5, 10**30][random.integers(7)]
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
        scores, arrays = _stored(arrays, case.storage)
        read = [_read_weights(fast, array) for array in arrays]
        if not all((weights < LIMIT).all() for weights in read):
            return _check_refused(fast, scores)
        _check_sums(fast, slow, scores, arrays, read)
        _check_best(fast, slow, scores, arrays, case)
        _check_samples(fast, scores, arrays, case)
        _check_analyze(fast, scores, arrays, read, case)
        _check_projection(fast, slow, len(arrays[0]), case)


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


def _read_weights(decoder, array):
    """The weights that a decoder looks at."""
    starts, ends = SpanLayout([len(array)], decoder.max_span_length).starts_and_ends
    return array[starts, ends].astype("float64")


def _check_refused(decoder, scores):
    for ask in (decoder.decode, decoder.log_partition, decoder.marginals, decoder.entropy, decoder.k_best):
        with pytest.raises(ValueError, match="weights must be"):
            ask(scores)


def _weight(analysis, array):
    return float(sum(float(array[start, end - 1, label]) for start, end, label in analysis))


def _size(weights):
    """The size of the weights that matter: what errors are measured by."""
    return float(np.abs(weights[weights > -1e5]).max(initial=1.0)) * max(1, len(weights)) ** 0.5


def _check_sums(fast, slow, scores, arrays, read):
    totals, marginals = fast.log_partition_and_marginals(scores)
    if isinstance(scores, PackedScores):
        marginals = marginals.unpack(fill=0.0)
    assert fast.log_partition(scores) == totals
    entropies = fast.entropy(scores)
    single = arrays[0].dtype == np.float32
    for array, weights, total, probabilities, entropy in zip(arrays, read, totals, marginals, entropies, strict=True):
        size = _size(weights)
        assert np.isclose(total, slow.log_partition(array), rtol=1e-6 if single else 1e-12, atol=1e-6 + 1e-14 * size)
        known = np.nan_to_num(probabilities[np.triu_indices(len(array))], nan=7.0)
        assert ((known >= 0) & (known <= 1 + 1e-6)).all(), "marginals are no probabilities"
        if 1e-15 * size < 1e-7:
            close = 2e-6 if single else 1e-9 + 1e-14 * size
            where = np.triu_indices(len(array))
            np.testing.assert_allclose(probabilities[where], slow.marginals(array)[where], atol=close)
        if size < 1e15:
            assert np.isclose(entropy, slow.entropy(array), atol=1e-5 + 1e-13 * size), "entropy"


def _check_best(fast, slow, scores, arrays, case):
    found, lists = fast.decode(scores), fast.k_best(scores, case.k)
    for array, analysis, ranked in zip(arrays, found, lists, strict=True):
        expected = slow.decode(array)
        best = _weight(expected, array)
        assert slow.contains(analysis, len(array)), "outside the search space"
        # Both after fees, which is what is compared: the rest is rounding.
        fee = 1e-12 * best
        values = [_weight(mentions, array) - fee * len(mentions) for mentions in (analysis, expected)]
        assert np.isclose(*values, rtol=1e-13, atol=0.0), f"not the best: {values}"
        first = ranked[0][0]
        assert np.isclose(_weight(first, array) - fee * len(first), values[0], rtol=1e-13, atol=0.0), "k_best"
        weights = [weight for _, weight in ranked]
        assert len({tuple(mentions) for mentions, _ in ranked}) == len(ranked), "an analysis twice"
        assert all(slow.contains(mentions, len(array)) for mentions, _ in ranked)
        exact = [_weight(mentions, array) for mentions, _ in ranked]
        np.testing.assert_allclose(weights, exact, rtol=1e-12, atol=1e-12 * _size(array[np.isfinite(array)]))
        if len(array) <= 3 and array.shape[2] <= 2:
            order = [weight for _, weight in slow.k_best(array, case.k)]
            assert len(order) == len(weights)
            np.testing.assert_allclose(weights, order, rtol=1e-11, atol=1e-11 * _size(array[np.isfinite(array)]))


def _check_samples(fast, scores, arrays, case):
    drawn = fast.sample(scores, n_samples=3, seed=case.seed)
    assert drawn == fast.sample(scores, n_samples=3, seed=case.seed)
    totals = fast.log_partition(scores)
    for array, analyses, total in zip(arrays, drawn, totals, strict=True):
        for analysis in analyses:
            assert fast.contains(analysis, len(array))
            weight = _weight(analysis, array)
            assert weight > -np.inf, "a forbidden mention was drawn"
            one = np.array(fast.log_prob(array, analysis))
            tolerance = 1e-5 + 1e-6 * abs(total)
            assert np.isclose(one, min(0.0, weight - total), atol=tolerance)


def _check_analyze(fast, scores, arrays, read, case):
    packed = scores if isinstance(scores, PackedScores) else PackedScores.pack(arrays)
    if not (packed.at(case.temperature).values < LIMIT)[:, _is_read(fast, packed)].all():
        return
    result = fast.analyze(packed, threshold=case.threshold, temperature=case.temperature)
    tempered = packed.at(case.temperature)
    totals, marginals = fast.log_partition_and_marginals(tempered)
    np.testing.assert_allclose(result.log_partitions, totals, rtol=1e-6, atol=1e-6)
    assert (result.entropies >= 0).all()
    assert (result.log_probabilities <= 0).all()
    for number, (mentions, array) in enumerate(zip(result.mentions(), arrays, strict=True)):
        assert fast.contains(mentions, len(array))
        first = result.offsets[number]
        for place, (start, end, label) in enumerate(mentions):
            probability = float(marginals.values[label, packed.layout.cell(number, start, end)])
            assert np.isclose(result.probabilities[first + place], probability, atol=5e-6)
            if case.threshold:
                assert probability >= case.threshold - 5e-6


def _is_read(decoder, packed):
    starts, ends = packed.layout.starts_and_ends
    return ends - starts < (decoder.max_span_length or len(ends) + 1)


def _check_projection(fast, slow, n, case):
    random = np.random.default_rng(case.seed)
    spans = list(itertools.combinations(range(n + 1), 2))
    chosen = [spans[k] for k in random.permutation(len(spans))[: random.integers(0, 7)]]
    mentions: list[Any] = [Mention(start, end, int(random.integers(2))) for start, end in chosen]
    assert fast.contains(mentions, n) == slow.contains(mentions, n)
    kept = fast.project(mentions, n)
    assert slow.contains(kept, n)
    assert len(kept) == len(slow.project(mentions, n))
