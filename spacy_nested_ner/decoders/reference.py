"""The slow, obviously correct twin of the decoders: every analysis is written down.

Same classes, same methods, for segments of a few tokens. The search spaces are filtered
from all sets of non-crossing spans by their definitions, and everything is computed from
the list that is left; nothing here shares a recurrence with the kernels.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from . import decoder as fast
from ._scores import WEIGHT_LIMIT, as_list, bad_weight, check_array, is_batch, name_of
from ._settings import check_whole
from .analyses import Analyses, ScoredAnalyses
from .mention import Mention, check_mentions, sort_mentions
from .packed import PackedScores
from .space import clusters, rank_labels

# Nested analyses of 7 tokens: 231,168.
MOST_TOKENS = 7

Span = tuple[int, int]  # first and last token
Weights = np.ndarray[Any, np.dtype[Any]]


def crosses(a: Span, b: Span) -> bool:
    return a[0] < b[0] <= a[1] < b[1] or b[0] < a[0] <= b[1] < a[1]


def is_inside(a: Span, b: Span) -> bool:
    return a != b and b[0] <= a[0] and a[1] <= b[1]


def children(spans: list[Span], parent: Span) -> list[Span]:
    """Spans inside `parent`, but not inside another span that is inside it."""
    inside = [s for s in spans if is_inside(s, parent)]
    return [s for s in inside if not any(is_inside(s, other) for other in inside)]


def in_space(spans: list[Span], short_child: int | None, max_span_length: int | None) -> bool:
    """The definition of a search space, word for word."""
    if any(crosses(a, b) for a, b in itertools.combinations(spans, 2)):
        return False
    if max_span_length is not None and any(last - first + 1 > max_span_length for first, last in spans):
        return False
    if short_child is None:
        return True
    if short_child == 0:
        return not any(children(spans, s) for s in spans)
    return all(sum(last - first + 1 > short_child for first, last in children(spans, s)) <= 1 for s in spans)


@lru_cache(maxsize=64)
def analyses(n_tokens: int, short_child: int | None, max_span_length: int | None) -> tuple[list[Span], Weights]:
    """All spans that may be mentions, and a row of zeros and ones over them per analysis; fewest mentions first."""
    if n_tokens > MOST_TOKENS:
        raise ValueError(f"cannot write down all analyses of {n_tokens} tokens; the most is {MOST_TOKENS}")
    longest = max_span_length or n_tokens
    spans = [(i, j) for i in range(n_tokens) for j in range(i, min(n_tokens, i + longest))]
    nested: list[list[Span]] = [[]]
    for span in spans:
        nested += [[*chosen, span] for chosen in nested if not any(crosses(span, other) for other in chosen)]
    kept = [chosen for chosen in nested if in_space(chosen, short_child, max_span_length)]
    kept.sort(key=len)
    rows = np.zeros((len(kept), len(spans)))
    for row, chosen in zip(rows, kept):
        row[[spans.index(span) for span in chosen]] = 1
    return spans, rows


# A choice of labels for a span, and its weight.
Choice = tuple[tuple[int, ...], float]


class _Reference(fast.Decoder):
    """Enumeration under the settings of a decoder."""

    def decode(self, scores: Any) -> Any:
        return self._each(scores, self._decode_one)

    def decode_arrays(self, scores: PackedScores) -> Analyses:
        found = self.decode(scores)
        rows = np.array([m for mentions in found for m in mentions], dtype=np.int64).reshape(-1, 3)
        return Analyses(rows[:, 0], rows[:, 1], rows[:, 2], np.cumsum([0, *map(len, found)], dtype=np.int64))

    def log_partition(self, scores: Any) -> Any:
        return self._each(scores, lambda weights: self._distribution(weights)[0])

    def marginals(self, scores: Any) -> Any:
        results = self._each(scores, self._marginals)
        if isinstance(scores, PackedScores):
            return scores.like(PackedScores.pack(results, scores.layout.max_span_length).values)
        return results

    def log_partition_and_marginals(self, scores: Any, *, out: Any = None) -> Any:
        results = self.marginals(scores)
        if out is not None:
            for array, result in zip(out, results):
                array[np.triu_indices(len(array))] = result[np.triu_indices(len(array))]
            results = list(out)
        return self.log_partition(scores), results

    def sample(self, scores: Any, n_samples: int = 10, seed: int = 0) -> Any:
        fast.check_samples(n_samples, seed)
        random = np.random.default_rng(seed)
        return self._each(scores, lambda weights: self._draw(weights, n_samples, random))

    def entropy(self, scores: Any) -> Any:
        return self._each(scores, self._entropy)

    def k_best(self, scores: Any, k: int = 10) -> Any:
        check_whole("k", k, 1)
        return self._each(scores, lambda weights: self._rank(weights)[:k])

    def covariances(self, scores: Any, values: Any) -> Any:
        """From all pairs of analyses and values: E[mention * V] - E[mention] * E[V]."""
        if isinstance(scores, PackedScores):
            dense = self.covariances(scores.unpack(), values.unpack(fill=0.0))
            return scores.like(PackedScores.pack(dense, scores.layout.max_span_length).values)
        directions = iter(as_list(values))
        return self._each(scores, lambda weights: self._covariances(weights, next(directions)))

    def analyze(
        self, scores: PackedScores, *, threshold: float | None = None, temperature: float = 1.0
    ) -> ScoredAnalyses:
        """Piece by piece, for scores of double precision."""
        scores = scores.at(temperature)
        totals, marginals = self.log_partition_and_marginals(scores)
        found = self.decode_arrays(scores if threshold is None else marginals.like(marginals.values - threshold))
        number = np.repeat(np.arange(len(scores)), np.diff(found.offsets))
        cells = scores.layout.cells(number, found.starts, found.ends)
        weights = np.bincount(number, scores.values[found.labels, cells], minlength=len(scores))
        return ScoredAnalyses(
            found.starts,
            found.ends,
            found.labels,
            found.offsets,
            marginals.values[found.labels, cells],
            np.array(totals),
            np.minimum(0.0, weights - totals),
            np.array(self.entropy(scores)),
        )

    def project(self, mentions: Any, n_tokens: int, *, counts: Mapping[Any, int] | None = None) -> list[Mention]:
        """Clusters are looked at one by one, as ranks are those of the labels of a cluster."""
        result: list[Mention] = []
        for cluster in clusters(check_mentions(mentions, n_tokens)):
            _, ranks = rank_labels([m for m in cluster if self.contains([m], n_tokens)], counts or {})
            for size in range(len(cluster), -1, -1):
                subsets = [s for s in itertools.combinations(cluster, size) if self.contains(s, n_tokens)]
                if subsets:
                    result += max(subsets, key=lambda subset: sum(ranks[m.label] for m in subset))
                    break
        return sort_mentions(result)

    def contains(self, mentions: Any, n_tokens: int) -> bool:
        kept = check_mentions(mentions, n_tokens)
        spans = sorted({(start, end - 1) for start, end, _ in kept})
        if len(spans) < len(kept) and not self.multi_label:
            return False
        return in_space(spans, self.space.max_short_child, self.max_span_length)

    def _each(self, scores: Any, function: Callable[[Weights], Any]) -> Any:
        arrays = scores.unpack() if isinstance(scores, PackedScores) else as_list(scores)
        checked = [check_array(array, name_of(scores, k)) for k, array in enumerate(arrays)]
        for k, array in enumerate(checked):
            for i, j in itertools.combinations_with_replacement(range(len(array)), 2):
                if j - i < (self.max_span_length or len(array)) and not (array[i, j] < WEIGHT_LIMIT).all():
                    raise bad_weight(scores, k, self.max_span_length)
        results = [function(array) for array in checked]
        return results if is_batch(scores) or isinstance(scores, PackedScores) else results[0]

    def _spans(self, weights: Weights) -> tuple[list[Span], Weights]:
        return analyses(len(weights), self.space.max_short_child, self.max_span_length)

    def _choices(self, weights: Weights, span: Span) -> list[Choice]:
        """What a mention may be labeled with, and the weight of that."""
        labels = range(weights.shape[2])
        sizes = range(1, len(labels) + 1) if self.multi_label else [1]
        sets = itertools.chain.from_iterable(itertools.combinations(labels, size) for size in sizes)
        values = weights[span].tolist()
        choices = [(chosen, sum(values[t] for t in chosen)) for chosen in sets]
        return [choice for choice in choices if choice[1] > -np.inf]

    def _decode_one(self, weights: Weights) -> list[Mention]:
        """The rule for ties, word for word: a mention costs 1e-12 of the weight of the best analysis."""
        weights = weights.astype(np.float64)  # singles have no digits for that
        spans, rows = self._spans(weights)
        fee = 1e-12 * self._best(rows, [self._choices(weights, span) for span in spans])[1]
        best, _ = self._best(rows, [self._choices(weights - fee, span) for span in spans])
        return sort_mentions(Mention(first, last + 1, t) for (first, last), chosen in zip(spans, best) for t in chosen)

    def _label_all(self, weights: Weights) -> Iterator[tuple[list[Mention], float]]:
        """Every possible analysis with every choice of labels, and its weight, which is above -inf."""
        spans, rows = self._spans(weights)
        choices = [self._choices(weights, span) for span in spans]
        for row in rows:
            chosen = list(itertools.compress(spans, row))
            for labels in itertools.product(*itertools.compress(choices, row)):
                mentions = [
                    Mention(first, last + 1, t) for (first, last), (some, _) in zip(chosen, labels) for t in some
                ]
                weight = float(sum(weight for _, weight in labels))
                if weight > -np.inf:
                    yield sort_mentions(mentions), weight

    def _rank(self, weights: Weights) -> list[tuple[list[Mention], float]]:
        """Best first after fees; what is still equal has no order."""
        every = list(self._label_all(weights))
        read = (weights[span] for span in self._spans(weights)[0])
        sizes = [abs(w) for of_span in read for w in of_span.tolist() if w and abs(w) < np.inf]
        fee = 1e-12 * (max(weight for _, weight in every) or min(sizes, default=1.0))
        return sorted(every, key=lambda pair: fee * len(pair[0]) - pair[1])

    def _covariances(self, weights: Weights, values: Weights) -> Weights:
        mean, products, marginals = 0.0, np.zeros(weights.shape), np.zeros(weights.shape)
        log_z = self._distribution(weights)[0]
        for mentions, weight in self._label_all(weights):
            probability = np.exp(weight - log_z)
            total = sum(float(values[start, end - 1, label]) for start, end, label in mentions)
            mean += probability * total
            for start, end, label in mentions:
                products[start, end - 1, label] += probability * total
                marginals[start, end - 1, label] += probability
        return (products - marginals * mean).astype(weights.dtype)

    @staticmethod
    def _best(rows: Weights, choices: list[list[Choice]]) -> tuple[list[tuple[int, ...]], float]:
        """The labels of every span in the best analysis, () for none, and its weight."""
        best = [max(some, key=lambda choice: choice[1], default=((), -np.inf)) for some in choices]
        totals = _weigh(rows, np.array([weight for _, weight in best]))
        row = int(np.argmax(totals))  # of equal ones the first, which has fewest spans
        return [labels if is_in else () for (labels, _), is_in in zip(best, rows[row])], float(totals[row])

    def _distribution(self, weights: Weights) -> tuple[float, Weights]:
        """log Z, and the probability of every set of spans. The highest weights and what the others add to them are
        kept apart, so that equal weights remain equal at any size."""
        spans, rows = self._spans(weights)
        choices = [[weight for _, weight in self._choices(weights, span)] for span in spans]
        highest = np.array([max(some, default=-np.inf) for some in choices])
        beyond = np.array([np.log(np.exp(np.array(some) - max(some)).sum()) if some else 0.0 for some in choices])
        totals = _weigh(rows, highest)
        relative = np.exp(totals - totals.max() + rows @ beyond)
        return float(totals.max() + np.log(relative.sum())), relative / relative.sum()

    def _choice_probabilities(self, weights: Weights, span: Span) -> list[Choice]:
        choices = self._choices(weights, span)
        highest = max((weight for _, weight in choices), default=0.0)
        shares = np.exp(np.array([weight - highest for _, weight in choices]))
        return [(labels, float(share / shares.sum())) for (labels, _), share in zip(choices, shares)]

    def _marginals(self, weights: Weights) -> Weights:
        spans, rows = self._spans(weights)
        result = np.zeros(weights.shape)
        for span, probability in zip(spans, self._distribution(weights)[1] @ rows):
            for labels, share in self._choice_probabilities(weights, span):
                result[span][list(labels)] += probability * share
        return result.astype(weights.dtype)

    def _entropy(self, weights: Weights) -> float:
        spans, rows = self._spans(weights)
        probabilities = self._distribution(weights)[1]
        seen = probabilities[probabilities > 0]
        result = -(seen * np.log(seen)).sum()
        for span, probability in zip(spans, probabilities @ rows):
            result -= probability * sum(p * np.log(p) for _, p in self._choice_probabilities(weights, span) if p > 0)
        return float(max(0.0, result))

    def _draw(self, weights: Weights, n_samples: int, random: np.random.Generator) -> list[list[Mention]]:
        spans, rows = self._spans(weights)
        choices = [self._choice_probabilities(weights, span) for span in spans]
        drawn = []
        for row in rows[random.choice(len(rows), size=n_samples, p=self._distribution(weights)[1])]:
            mentions: list[Mention] = []
            for (first, last), some in itertools.compress(zip(spans, choices), row):
                labels = some[random.choice(len(some), p=[p for _, p in some])][0]
                mentions += [Mention(first, last + 1, t) for t in labels]
            drawn.append(sort_mentions(mentions))
        return drawn


def _weigh(rows: Weights, weights: Weights) -> Weights:
    """Weights of all analyses; -inf where a forbidden span is in one."""
    forbidden = weights == -np.inf
    totals: Weights = rows @ np.where(forbidden, 0.0, weights)
    totals[(rows @ forbidden) > 0] = -np.inf
    return totals


class FlatDecoder(_Reference, fast.FlatDecoder):
    """As decoders.FlatDecoder, by enumeration."""


class QuadraticDecoder(_Reference, fast.QuadraticDecoder):
    """As decoders.QuadraticDecoder, by enumeration."""


class CubicDecoder(_Reference, fast.CubicDecoder):
    """As decoders.CubicDecoder, by enumeration."""
