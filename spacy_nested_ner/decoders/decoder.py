"""The three decoders: what a search space is, and everything that can be asked of it."""

from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from ._kernels import engine
from ._kernels.batch import Batch
from ._scores import Scores, as_list, bad_weight, is_batch
from ._settings import check_limit, check_whole
from .derivation import Derivation, derive_flat, derive_nested
from .layout import SpanLayout
from .mention import Mention, sort_mentions
from .packed import PackedScores
from .spaces import check_mentions, clusters, forest, violation


class Analyses(NamedTuple):
    starts: Any
    ends: Any
    labels: Any
    offsets: Any


class Decoder:
    """Exact inference in one search space. Use a subclass.

    Scores are a float32 or float64 array of shape (n, n, labels): `scores[i, j, t]` is
    the weight of a mention with label t from token i to token j, both included. Cells
    below the diagonal are never read, and -inf forbids a mention. One array gives one
    result; a list of arrays, whose lengths may differ, gives a list of results, and so do
    PackedScores. Scores are never written to. Decoders hold nothing but their settings,
    and may be used from many threads at once: the GIL is released while they work.

    multi_label (bool): Allow any set of labels on a span, not just one label.
    max_span_length (int | None): Forbid mentions of more tokens than this; time and memory
        grow with n * max_span_length then, not with n².
    """

    # None: any children; 0: no children; c: at most one child of more than c tokens.
    _short_child: int | None = None

    def __init__(self, *, multi_label: bool = False, max_span_length: int | None = None):
        if not isinstance(multi_label, bool):
            raise TypeError(f"multi_label is {multi_label!r}; expected True or False")
        self.multi_label = multi_label
        self.max_span_length = check_limit(max_span_length)

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({settings})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def decode(self, scores: Scores) -> Any:
        """The analysis of highest weight.

        Among analyses of equal weight it is the one with fewest mentions: a mention of
        weight 0 is left out.

        RETURNS (list[Mention]): Sorted by start, then longest first, then label.
        """
        return self._unwrap(scores, self._run(scores, self._batch(scores), engine.decode))

    def log_partition(self, scores: Scores) -> Any:
        """The logarithm of the sum over all analyses of exp(weight).

        RETURNS (float)
        """
        return self._unwrap(scores, self._run(scores, self._batch(scores), engine.log_partition, False))

    def marginals(self, scores: Scores) -> Any:
        """The probability of every mention, the gradient of the log-partition.

        RETURNS (numpy.ndarray): Shape and type of the scores; 0 where no mention can be.
            For PackedScores, the same as PackedScores.
        """
        return self.log_partition_and_marginals(scores)[1]

    def log_partition_and_marginals(self, scores: Scores) -> tuple[Any, Any]:
        """Both in one pass, as training needs them.

        RETURNS (tuple): What `log_partition` and `marginals` return.
        """
        if isinstance(scores, PackedScores):
            out = np.zeros_like(scores.values)
            totals = self._run(scores, self._batch(scores, out), engine.log_partition, True)
            return totals, scores.like(out)
        outs: list[np.ndarray] = []
        totals = self._run(scores, self._batch(scores, outs), engine.log_partition, True)
        return self._unwrap(scores, totals), self._unwrap(scores, outs)

    def sample(self, scores: Scores, n_samples: int = 10, seed: int = 0) -> Any:
        """Independent analyses, each drawn with exactly its probability.

        n_samples (int): How many.
        seed (int): The same seed gives the same samples. On another machine, float32 scores may be summed in
            another order, so that very rarely a sample differs.
        RETURNS (list[list[Mention]]): The analyses, in the order they were drawn.
        """
        if isinstance(n_samples, bool) or not isinstance(n_samples, (int, np.integer)):
            raise TypeError(f"n_samples is {n_samples!r}; expected a whole number")
        if n_samples < 0:
            raise ValueError(f"n_samples is {n_samples}; expected 0 or more")
        if n_samples >= 2**48:
            raise MemoryError(f"out of memory for {n_samples} samples")
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
            raise TypeError(f"seed is {seed!r}; expected a whole number")
        if not 0 <= seed < 2**64:
            raise ValueError(f"seed is {seed}; expected 0 or more, below 2**64")
        return self._unwrap(scores, self._run(scores, self._batch(scores), engine.sample, n_samples, seed))

    def entropy(self, scores: Scores) -> Any:
        """How undecided the distribution over analyses is, in nats: 0 if one is certain.

        RETURNS (float)
        """
        doubles = _as_doubles(scores)
        totals, marginals = self.log_partition_and_marginals(doubles)
        if isinstance(doubles, PackedScores):
            pairs = [(doubles.of_segment(k), marginals.of_segment(k)) for k in range(len(doubles))]
        else:
            pairs = list(zip(as_list(doubles), as_list(marginals)))
            totals = as_list(totals)
        # log Z minus the expected weight; weights that were never read may be anything.
        expected = [np.multiply(w, m, out=np.zeros_like(m), where=m > 0).sum() for w, m in pairs]
        return self._unwrap(scores, [max(0.0, float(z - x)) for z, x in zip(totals, expected)])

    @property
    def space(self) -> Any:
        return SimpleNamespace(max_short_child=self._short_child)

    def settings(self):
        return {"decoder": type(self).__name__, **vars(self)}

    def decode_arrays(self, scores):
        found = self.decode(scores)
        flat = np.array([m for each in found for m in each], dtype=np.int64).reshape(-1, 3)
        return Analyses(flat[:, 0], flat[:, 1], flat[:, 2], np.cumsum([0, *map(len, found)]))

    def entropy_from(self, scores, totals, marginals):
        products = np.multiply(
            scores.values, marginals.values, out=np.zeros_like(scores.values), where=marginals.values > 0
        ).sum(axis=0, dtype="float64")
        running = np.concatenate([[0.0], np.cumsum(products)])
        expected = np.diff(running[scores.layout.offsets]).tolist()
        return [max(0.0, z - x) for z, x in zip(totals, expected)]

    def project(self, mentions: Iterable[Mention], n_tokens: int, *, counts=None) -> list[Mention]:
        """The largest subset of mentions that is inside the search space.

        Training on gold mentions outside it has no lowest loss; this is what it is given.

        mentions (Iterable[Mention]): In any order. Labels may be of any type that sorts.
        n_tokens (int): Length of the segment.
        RETURNS (list[Mention]): Sorted, without duplicates.
        """
        kept = check_mentions(mentions, n_tokens)
        if self.max_span_length is not None:
            kept = [m for m in kept if m.end - m.start <= self.max_span_length]
        result: list[Mention] = []
        for cluster in clusters(kept):
            result += cluster if self._violation(cluster) is None else self._largest_subset(cluster)
        return result

    def contains(self, mentions: Iterable[Mention], n_tokens: int) -> bool:
        """Whether an analysis is inside the search space.

        RETURNS (bool)
        """
        return self._violation(check_mentions(mentions, n_tokens)) is None

    def derivation(self, mentions: Iterable[Mention], n_tokens: int) -> Derivation:
        """The one derivation of an analysis under the rules of the paper.

        RETURNS (Derivation): A list of steps that prints as a table.
        """
        kept = check_mentions(mentions, n_tokens)
        reason = self._violation(kept)
        if reason is not None:
            raise ValueError(f"the analysis is outside the search space of {self!r}: {reason}; `project` it first")
        roots = forest(kept)
        if self._short_child == 0:
            return derive_flat(roots, n_tokens)
        return derive_nested(roots, n_tokens, self._short_child)

    def _violation(self, mentions: list[Mention]) -> str | None:
        return violation(
            mentions,
            short_child=self._short_child,
            multi_label=self.multi_label,
            max_span_length=self.max_span_length,
        )

    def _largest_subset(self, mentions: list[Mention]) -> list[Mention]:
        """The best analysis when mentions weigh 1 and everything else is forbidden."""
        first, last = mentions[0].start, max(m.end for m in mentions)
        width = max(m.end - m.start for m in mentions)
        labels = sorted({m.label for m in mentions})
        numbers = {label: number for number, label in enumerate(labels)}
        layout = SpanLayout([last - first], width)
        packed = PackedScores(np.full((len(labels), layout.n_spans), -np.inf), layout)
        for start, end, label in mentions:
            packed.values[numbers[label], layout.cell(0, start - first, end - first)] = 1.0
        found = self.decode(packed)[0]
        return sort_mentions(Mention(m.start + first, m.end + first, labels[m.label]) for m in found)

    def _space(self) -> engine.Space:
        return engine.Space(-1 if self._short_child is None else self._short_child, self.multi_label)

    def _batch(self, scores: Scores, out: Any = None) -> Batch:
        limit = self.max_span_length or 0
        if isinstance(scores, PackedScores):
            layout = scores.layout
            return Batch.of_packed(
                scores.values, list(layout.lengths), layout.offsets.tolist(), out, layout.max_span_length or 0, limit
            )
        return Batch.of_arrays(as_list(scores), is_batch(scores), out, limit)

    def _run(self, scores: Scores, batch: Batch, function: Callable, *arguments: Any) -> list:
        try:
            return function(batch, self._space(), *arguments)
        except engine.BadWeightError as error:
            raise bad_weight(scores, error.number, self.max_span_length) from None

    @staticmethod
    def _unwrap(scores: Scores, results: list) -> Any:
        return results if is_batch(scores) or isinstance(scores, PackedScores) else results[0]


class FlatDecoder(Decoder):
    """No mention inside another: the semi-Markov algorithm, O(n²)."""

    _short_child = 0


class CubicDecoder(Decoder):
    """Any mentions that do not cross: the CYK-like algorithm, O(n³)."""


class QuadraticDecoder(Decoder):
    """Mentions that do not cross, with at most one long child each: O(n²).

    max_short_child (int): Children of up to this many tokens are short, and a mention may
        have any number of them; it may have one longer child. 1 is the algorithm of the
        paper; larger values cost time in proportion, O(max_short_child * n²).
    """

    def __init__(self, *, max_short_child: int = 1, multi_label: bool = False, max_span_length: int | None = None):
        self.max_short_child = check_whole("max_short_child", max_short_child, 1)
        super().__init__(multi_label=multi_label, max_span_length=max_span_length)

    @property
    def _short_child(self) -> int:
        return self.max_short_child


def _as_doubles(scores: Scores) -> Scores:
    """Differences of large sums need all the digits there are."""
    if isinstance(scores, PackedScores):
        return scores.like(scores.values.astype(np.float64))
    if is_batch(scores):
        return [_as_doubles(array) for array in scores]
    return np.asarray(scores, dtype=np.float64) if getattr(scores, "dtype", None) == np.float32 else scores
