"""What holds for scores of any length: results are compared with each other, and no analysis is written down."""

import numpy as np
from helpers import weight_of

from spacy_nested_ner.decoders import PackedScores, SpanLayout
from spacy_nested_ner.decoders.auto import all_spaces

LIMIT = 1e290  # weights from here on are refused
TIE = 1e-12  # the fee of a mention, as a share of the weight of the best analysis


def check(decoder, scores, arrays, values, case):
    """Raise an AssertionError if results contradict each other.

    scores, arrays: In memory as the case says, and dense.
    values: What covariances are taken with, in memory as the scores are.
    """
    directions = values.unpack(fill=0.0) if isinstance(values, PackedScores) else values
    check_neighbors(decoder, scores)
    check_memory(decoder, scores, arrays, values, directions)
    check_samples(decoder, scores, arrays, case)
    check_analyze(decoder, scores, arrays, case)
    for array, direction in zip(arrays, directions, strict=True):
        double = array.astype("float64")
        check_bounds(decoder, double)
        check_ranking(decoder, double, case.k)
        check_forbidding(decoder, double, case.seed)
        check_mirrored(decoder, double, direction, case.k)
        check_wider(decoder, double)


# ---- how exact a result is ----


def read_weights(decoder, array):
    """The weights that a decoder looks at."""
    starts, ends = SpanLayout([len(array)], decoder.max_span_length).starts_and_ends
    return array[starts, ends].astype("float64")


def size_of(weights):
    """The size of the weights that matter: what errors are measured by."""
    return float(np.abs(weights[weights > -1e5]).max(initial=1.0)) * max(1, len(weights)) ** 0.5


def has_digits(size):
    """Whether weights are so small that probabilities are not lost in rounding."""
    return 1e-15 * size < 1e-7


def after_fees(analysis, array, best):
    """The weight that analyses are compared by. Those of equal weight may be different ones."""
    return weight_of(analysis, array) - TIE * best * len(analysis)


def most_fees(best, array):
    """What the mentions of an analysis cost at most: there are fewer than two per token and label."""
    return TIE * best * 2 * len(array) * array.shape[2]


def log_count(decoder, array):
    """The logarithm of how many analyses are possible."""
    return decoder.log_partition(np.where(array > -np.inf, 0.0, array))


# ---- the same scores ----


def check_neighbors(decoder, scores):
    """A segment has the same results in every batch."""
    if isinstance(scores, PackedScores):
        parts = [scores.select([number]) for number in range(len(scores))]
    else:
        parts = [[array] for array in scores]
    for ask in (decoder.decode, decoder.log_partition, decoder.entropy, decoder.k_best):
        assert ask(scores) == [ask(part)[0] for part in parts], f"{ask.__name__} depends on neighbors"


def check_memory(decoder, scores, arrays, values, directions):
    """Neither the type nor the place in memory makes a difference."""
    single = arrays[0].dtype == np.float32
    doubles = [array.astype("float64") for array in arrays]
    sizes = [size_of(read_weights(decoder, array)) for array in arrays]
    for found, array in zip(decoder.decode(scores), doubles, strict=True):
        expected = decoder.decode(array)
        best = weight_of(expected, array)
        found, expected = (after_fees(analysis, array, best) for analysis in (found, expected))
        assert np.isclose(found, expected, rtol=1e-13, atol=0.0), f"not the best: {found}, {expected}"
    totals = zip(decoder.log_partition(scores), decoder.log_partition(doubles), sizes, strict=True)
    for found, expected, size in totals:
        assert np.isclose(found, expected, rtol=1e-6 if single else 1e-12, atol=1e-6 + 1e-14 * size), "log Z"
    entropies = zip(decoder.entropy(scores), decoder.entropy(doubles), strict=True)
    assert all(np.isclose(*pair, rtol=1e-12, atol=1e-12) for pair in entropies), "entropy"
    for found, expected in (
        (decoder.marginals(scores), decoder.marginals(doubles)),
        (decoder.covariances(scores, values), decoder.covariances(doubles, directions)),
    ):
        dense = found.unpack(fill=0.0) if isinstance(found, PackedScores) else found
        for one, other, size in zip(dense, expected, sizes, strict=True):
            assert np.isfinite(one).all()
            if has_digits(size):
                np.testing.assert_allclose(one, other, atol=1e-5 if single else 1e-9 + 1e-14 * size)


# ---- everything about one segment ----


def check_bounds(decoder, array):
    """Sums lie between the best analysis and as many as there are of its weight."""
    size = size_of(read_weights(decoder, array))
    analysis = decoder.decode(array)
    best = weight_of(analysis, array)
    total, marginals = decoder.log_partition_and_marginals(array)
    entropy = decoder.entropy(array)
    most = log_count(decoder, array)
    error = 1e-9 + 1e-13 * size
    assert decoder.contains(analysis, len(array)), "outside the search space"
    assert best - error <= total <= best + most_fees(best, array) + most + error, "log Z"
    assert ((marginals >= 0) & (marginals <= 1 + 1e-9)).all(), "marginals are no probabilities"
    assert 0 <= entropy <= most + 1e-9, "entropy"
    if size < 1e5:
        expected = (marginals * array)[marginals > 0].sum()
        assert np.isclose(entropy, total - expected, atol=1e-8 + 1e-14 * size**2), "entropy"


def check_ranking(decoder, array, k):
    """Analyses are different, possible, and none is better than those before it."""
    ranked = decoder.k_best(array, k)
    weights = [weight for _, weight in ranked]
    exact = [weight_of(mentions, array) for mentions, _ in ranked]
    best = weight_of(decoder.decode(array), array)
    error = 1e-12 * size_of(array[np.isfinite(array)])
    assert np.isclose(after_fees(ranked[0][0], array, best), after_fees(decoder.decode(array), array, best), rtol=1e-13)
    assert len({tuple(mentions) for mentions, _ in ranked}) == len(ranked), "an analysis twice"
    assert all(decoder.contains(mentions, len(array)) for mentions, _ in ranked), "outside the search space"
    assert np.isfinite(weights).all(), "an impossible analysis"
    np.testing.assert_allclose(weights, exact, rtol=1e-12, atol=error)
    assert (np.diff(weights) <= most_fees(best, array) + error).all(), "not in order"


def check_forbidding(decoder, array, seed):
    """Without a mention, log Z is less by its probability, and other marginals change by their covariance with it."""
    size = size_of(read_weights(decoder, array))
    if not array.size or not has_digits(size):
        return
    random = np.random.default_rng(seed)
    total, marginals = decoder.log_partition_and_marginals(array)
    likely = [(start, end - 1, label) for start, end, label in decoder.sample(array, 1, seed=seed)[0]]
    others = [(*sorted(random.integers(len(array), size=2)), random.integers(array.shape[2])) for _ in range(2)]
    for mention in [*likely[:2], *others]:
        probability = marginals[mention]
        without, value = array.copy(), np.zeros_like(array)
        without[mention], value[mention] = -np.inf, 1.0
        less, rest = decoder.log_partition_and_marginals(without)
        close = 1e-9 + 1e-13 * size
        assert np.isclose(-np.expm1(less - total), probability, rtol=0.0, atol=close), "not its probability"
        expected = (1.0 - probability) * (marginals - rest)
        np.testing.assert_allclose(decoder.covariances(array, value), expected, rtol=0.0, atol=close)


def mirrored(array):
    """Read from the right."""
    return array[::-1, ::-1].transpose(1, 0, 2)


def check_mirrored(decoder, array, values, k):
    """The search spaces know no left and right, and the kernels do."""
    other, size = mirrored(array), size_of(read_weights(decoder, array))
    (one, total), (marginals, turned) = zip(*(decoder.log_partition_and_marginals(each) for each in (array, other)))
    assert np.isclose(one, total, rtol=1e-12, atol=1e-9 + 1e-14 * size), "log Z"
    analysis, found = decoder.decode(array), decoder.decode(other)
    best = weight_of(analysis, array)
    assert np.isclose(after_fees(found, other, best), after_fees(analysis, array, best), rtol=1e-13, atol=0.0)
    weights = [[weight for _, weight in decoder.k_best(each, k)] for each in (array, other)]
    np.testing.assert_allclose(*weights, rtol=1e-11, atol=1e-11 * size_of(array[np.isfinite(array)]))
    if size < 1e15:
        assert np.isclose(decoder.entropy(array), decoder.entropy(other), atol=1e-9 + 1e-13 * size), "entropy"
    if has_digits(size):
        close = 1e-9 + 1e-14 * size
        np.testing.assert_allclose(mirrored(turned), marginals, rtol=0.0, atol=close)
        found = decoder.covariances(other, mirrored(values))
        np.testing.assert_allclose(mirrored(found), decoder.covariances(array, values), rtol=0.0, atol=10 * close)


def check_wider(decoder, array):
    """A larger search space has a best analysis of no less weight, and a larger sum."""
    spaces = [space.decoder for space in all_spaces(decoder.max_span_length)]
    best = np.array([weight_of(each.decode(array), array) for each in spaces]).reshape(2, -1)  # one label, several
    total = np.array([each.log_partition(array) for each in spaces]).reshape(2, -1)
    error = 1e-9 + 1e-13 * size_of(read_weights(decoder, array)) + most_fees(best.max(), array)
    for table in (best, total):
        assert (np.diff(table, axis=0) >= -error).all(), "several labels are worse than one"
        assert (np.diff(table, axis=1) >= -error).all(), "a larger space is worse"


# ---- samples and analyses with their numbers ----


def check_samples(decoder, scores, arrays, case):
    drawn = decoder.sample(scores, n_samples=3, seed=case.seed)
    assert drawn == decoder.sample(scores, n_samples=3, seed=case.seed)
    totals = decoder.log_partition(scores)
    for array, analyses, total in zip(arrays, drawn, totals, strict=True):
        for analysis in analyses:
            assert decoder.contains(analysis, len(array))
            weight = weight_of(analysis, array)
            assert weight > -np.inf, "a forbidden mention was drawn"
            # All analyses less probable than this have a probability of 4e-18 together.
            least = -40 - log_count(decoder, array) - 1e-13 * size_of(read_weights(decoder, array))
            assert weight - total > least, "an impossible analysis was drawn"
            one = np.array(decoder.log_prob(array, analysis))
            assert np.isclose(one, min(0.0, weight - total), atol=1e-5 + 1e-6 * abs(total))


def check_analyze(decoder, scores, arrays, case):
    packed = scores if isinstance(scores, PackedScores) else PackedScores.pack(arrays)
    tempered = packed.at(case.temperature)
    if not (tempered.values < LIMIT)[:, _is_read(decoder, packed)].all():
        return
    result = decoder.analyze(packed, threshold=case.threshold, temperature=case.temperature)
    totals, marginals = decoder.log_partition_and_marginals(tempered)
    np.testing.assert_allclose(result.log_partitions, totals, rtol=1e-6, atol=1e-6)
    assert (result.entropies >= 0).all()
    assert (result.log_probabilities <= 0).all()
    if case.threshold is None:
        assert result.mentions() == decoder.decode(tempered)
    gains = marginals.values - marginals.values.dtype.type(case.threshold or 0.0)
    best = decoder.decode(marginals.like(gains))
    for number, (mentions, array) in enumerate(zip(result.mentions(), tempered.unpack(), strict=True)):
        assert decoder.contains(mentions, len(array))
        expected = min(0.0, weight_of(mentions, array) - totals[number])
        assert np.isclose(result.log_probabilities[number], expected, rtol=1e-6, atol=1e-5 + 1e-6 * abs(totals[number]))
        first = result.offsets[number]
        cells = [(m.label, packed.layout.cell(number, m.start, m.end)) for m in mentions]
        probabilities = np.array([marginals.values[cell] for cell in cells])
        np.testing.assert_allclose(result.probabilities[first : first + len(cells)], probabilities, rtol=0, atol=5e-6)
        if case.threshold is not None:
            highest = sum(gains[m.label, packed.layout.cell(number, m.start, m.end)] for m in best[number])
            assert np.isclose(sum(gains[cell] for cell in cells), highest, rtol=0.0, atol=5e-6 * (1 + len(array)))
        if case.threshold:
            assert (probabilities >= case.threshold - 5e-6).all()


def _is_read(decoder, packed):
    starts, ends = packed.layout.starts_and_ends
    return ends - starts < (decoder.max_span_length or len(ends) + 1)
