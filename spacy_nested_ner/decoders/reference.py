"""The slow, obviously correct twin of the decoders: every analysis is written down.

Same classes, same methods, for segments of a few tokens. The search spaces are filtered
from all sets of non-crossing spans by their definitions, and everything is computed from
the list that is left; nothing here shares a recurrence with the kernels.
"""

import itertools
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from . import decoder as fast
from ._scores import Scores, as_list, bad_weight, check_array, name_of
from .mention import Mention, sort_mentions
from .packed import PackedScores
from .spaces import check_mentions

# Nested analyses of 7 tokens: 231,168.
MOST_TOKENS = 7

Span = tuple[int, int]  # first and last token


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
def analyses(n_tokens: int, short_child: int | None, max_span_length: int | None) -> tuple[list[Span], np.ndarray]:
    """All spans, and a row of zeros and ones over them for every analysis; fewest mentions first."""
    if n_tokens > MOST_TOKENS:
        raise ValueError(f"cannot write down all analyses of {n_tokens} tokens; the most is {MOST_TOKENS}")
    spans = [(i, j) for i in range(n_tokens) for j in range(i, n_tokens)]
    nested: list[list[Span]] = [[]]
    for span in spans:
        nested += [[*chosen, span] for chosen in nested if not any(crosses(span, other) for other in chosen)]
    kept = [chosen for chosen in nested if in_space(chosen, short_child, max_span_length)]
    kept.sort(key=len)
    rows = np.zeros((len(kept), len(spans)))
    for row, chosen in zip(rows, kept):
        row[[spans.index(span) for span in chosen]] = 1
    return spans, rows


def _log_sum_exp(values: np.ndarray) -> float:
    high = values.max(initial=-np.inf)
    return high if high == -np.inf else float(high + np.log(np.exp(values - high).sum()))


class _Reference(fast.Decoder):
    """Enumeration under the settings of a decoder."""

    def decode(self, scores: Scores) -> Any:
        return self._each(scores, self._decode)

    def log_partition(self, scores: Scores) -> Any:
        return self._each(scores, lambda weights: self._distribution(weights)[0])

    def marginals(self, scores: Scores) -> Any:
        results = self._each(scores, self._marginals)
        if isinstance(scores, PackedScores):
            return scores.like(PackedScores.pack(results, scores.layout.max_span_length).values)
        return results

    def log_partition_and_marginals(self, scores: Scores) -> tuple[Any, Any]:
        return self.log_partition(scores), self.marginals(scores)

    def sample(self, scores: Scores, n_samples: int = 10, seed: int = 0) -> Any:
        random = np.random.default_rng(seed)
        return self._each(scores, lambda weights: [self._draw(weights, random) for _ in range(n_samples)])

    def entropy(self, scores: Scores) -> Any:
        return self._each(scores, self._entropy)

    def project(self, mentions: Any, n_tokens: int) -> list[Mention]:
        kept = check_mentions(mentions, n_tokens)
        for size in range(len(kept), -1, -1):
            for subset in itertools.combinations(kept, size):
                if self.contains(subset, n_tokens):
                    return sort_mentions(subset)
        raise AssertionError("no mentions at all are in every search space")

    def contains(self, mentions: Any, n_tokens: int) -> bool:
        kept = check_mentions(mentions, n_tokens)
        spans = sorted({(start, end - 1) for start, end, _ in kept})
        if len(spans) < len(kept) and not self.multi_label:
            return False
        return in_space(spans, self._short_child, self.max_span_length)

    def _each(self, scores: Scores, function: Callable[[np.ndarray], Any]) -> Any:
        arrays = scores.unpack() if isinstance(scores, PackedScores) else as_list(scores)
        checked = [check_array(array, name_of(scores, k)) for k, array in enumerate(arrays)]
        for k, array in enumerate(checked):
            for i, j in itertools.combinations_with_replacement(range(len(array)), 2):
                if j - i < (self.max_span_length or len(array)) and not (array[i, j] < np.inf).all():
                    raise bad_weight(scores, k, self.max_span_length)
        return self._unwrap(scores, [function(array) for array in checked])

    def _spans(self, weights: np.ndarray) -> tuple[list[Span], np.ndarray]:
        return analyses(len(weights), self._short_child, self.max_span_length)

    def _choices(self, weights: np.ndarray, span: Span) -> list[tuple[tuple[int, ...], float]]:
        """What a mention may be labelled with, and the weight of that."""
        labels = range(weights.shape[2])
        sizes = range(1, len(labels) + 1) if self.multi_label else [1]
        sets = itertools.chain.from_iterable(itertools.combinations(labels, size) for size in sizes)
        return [(chosen, float(sum(weights[span][t] for t in chosen))) for chosen in sets]

    def _decode(self, weights: np.ndarray) -> list[Mention]:
        weights = weights.astype(np.float64)
        spans, rows = self._spans(weights)
        best = [max(self._choices(weights, s), key=lambda c: (c[1], -len(c[0])), default=((), -np.inf)) for s in spans]
        totals = _weigh(rows, np.array([weight for _, weight in best]))
        counts = rows @ np.array([len(labels) for labels, _ in best], dtype=float)
        tied = np.flatnonzero(totals >= totals.max() * (1 - 1e-14))  # it is never below 0
        chosen = rows[tied[np.argmin(counts[tied])]]
        return sort_mentions(
            Mention(s[0], s[1] + 1, t) for s, b, is_in in zip(spans, best, chosen) if is_in for t in b[0]
        )

    def _distribution(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """log Z, and the probability of every set of spans."""
        weights = weights.astype(np.float64)
        spans, rows = self._spans(weights)
        summed = [_log_sum_exp(np.array([weight for _, weight in self._choices(weights, s)])) for s in spans]
        totals = _weigh(rows, np.array(summed))
        log_z = _log_sum_exp(totals)
        return log_z, np.exp(totals - log_z)

    def _choice_probabilities(self, weights: np.ndarray, span: Span) -> list[tuple[tuple[int, ...], float]]:
        choices = self._choices(weights.astype(np.float64), span)
        total = _log_sum_exp(np.array([weight for _, weight in choices]))
        return [(labels, float(np.exp(weight - total))) for labels, weight in choices if weight > -np.inf]

    def _marginals(self, weights: np.ndarray) -> np.ndarray:
        spans, rows = self._spans(weights)
        result = np.zeros(weights.shape)
        for span, probability in zip(spans, self._distribution(weights)[1] @ rows):
            for labels, share in self._choice_probabilities(weights, span):
                result[span][list(labels)] += probability * share
        return result.astype(weights.dtype)

    def _entropy(self, weights: np.ndarray) -> float:
        spans, rows = self._spans(weights)
        probabilities = self._distribution(weights)[1]
        seen = probabilities[probabilities > 0]
        result = -(seen * np.log(seen)).sum()
        for span, probability in zip(spans, probabilities @ rows):
            result -= probability * sum(p * np.log(p) for _, p in self._choice_probabilities(weights, span) if p > 0)
        return float(max(0.0, result))

    def _draw(self, weights: np.ndarray, random: np.random.Generator) -> list[Mention]:
        spans, rows = self._spans(weights)
        probabilities = self._distribution(weights)[1]
        row = rows[random.choice(len(rows), p=probabilities / probabilities.sum())]
        found = []
        for span, is_in in zip(spans, row):
            if is_in:
                choices = self._choice_probabilities(weights, span)
                shares = np.array([p for _, p in choices])
                labels = choices[random.choice(len(choices), p=shares / shares.sum())][0]
                found += [Mention(span[0], span[1] + 1, t) for t in labels]
        return sort_mentions(found)


def _weigh(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weights of all analyses; -inf where a forbidden span is in one."""
    forbidden = weights == -np.inf
    totals = rows @ np.where(forbidden, 0.0, weights)
    totals[(rows @ forbidden) > 0] = -np.inf
    return totals


class FlatDecoder(_Reference, fast.FlatDecoder):
    """As decoders.FlatDecoder, by enumeration."""


class QuadraticDecoder(_Reference, fast.QuadraticDecoder):
    """As decoders.QuadraticDecoder, by enumeration."""


class CubicDecoder(_Reference, fast.CubicDecoder):
    """As decoders.CubicDecoder, by enumeration."""
