"""The three decoders: a search space each, and everything that can be asked of scores in it."""

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, TypeVar, cast, overload

import numpy as np

from ._kernels import engine
from ._kernels.batch import Batch
from ._scores import Array, Arrays, Scores, as_list, as_packed, bad_weight, is_batch
from ._settings import check_whole
from .analyses import Analyses
from .derivation import Derivation
from .layout import SpanLayout
from .mention import AnyMention, Mention
from .packed import PackedScores
from .space import SearchSpace

Result = TypeVar("Result")

# Above this, log Z less the expected weight has too few digits left (see `entropy_from`).
_LARGEST_EXPECTED_SQUARE = 1e6


class Decoder:
    """Exact inference in one search space. Use a subclass.

    Scores are a float32 or float64 array of shape (n, n, labels): `scores[i, j, t]` is the weight of a mention with
    label t from token i to token j, both included. Cells below the diagonal are never read. Weights are finite and
    below 1e290; -inf forbids a mention. One array gives one result; a list of arrays, whose lengths may differ, gives
    a list of results, and so do PackedScores. Scores are never written to.

    Decoders are immutable: they hold nothing but their search space, and may be used from many threads at once. The
    GIL is released while they work.

    name (str): Of the kind of decoder, in settings and configs.
    space (SearchSpace): The analyses that are considered.
    """

    name: ClassVar[str]
    space: SearchSpace

    def __init__(self, space: SearchSpace):
        object.__setattr__(self, "space", space)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name} of {self!r} cannot be set: decoders are immutable; make a new one")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{name} of {self!r} cannot be deleted: decoders are immutable")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, Decoder) and self.space == other.space

    def __hash__(self) -> int:
        return hash((type(self), self.space))

    @property
    def multi_label(self) -> bool:
        return self.space.multi_label

    @property
    def max_span_length(self) -> int | None:
        return self.space.max_span_length

    def settings(self) -> dict[str, Any]:
        """The decoder as it goes into a JSON file; `decoder_from_settings` makes it again."""
        return {"decoder": self.name, "multi_label": self.multi_label, "max_span_length": self.max_span_length}

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value!r}" for name, value in self.settings().items() if name != "decoder")
        return f"{self.name}({settings})"

    @overload
    def decode(self, scores: Array) -> list[Mention]: ...
    @overload
    def decode(self, scores: Arrays | PackedScores) -> list[list[Mention]]: ...
    def decode(self, scores: Scores) -> Any:
        """The analysis with the highest weight, after a fee per mention of 1e-12 times that weight.

        The fee breaks ties in the same way in all decoders. Among analyses whose weights differ by no more than that,
        the one with the fewest mentions is found; a mention, at any level, or a further label of a span, that weighs
        no more than that is left out.

        RETURNS (list[Mention]): Sorted by start, then longest first, then label.
        """
        return _unwrap(scores, self._decode(scores).mentions())

    def decode_arrays(self, scores: PackedScores) -> Analyses:
        """What `decode` finds, as arrays.

        RETURNS (Analyses): One analysis per segment.
        """
        if not isinstance(scores, PackedScores):
            raise TypeError(f"scores is a {type(scores).__name__}; expected PackedScores")
        return self._decode(scores)

    @overload
    def log_partition(self, scores: Array) -> float: ...
    @overload
    def log_partition(self, scores: Arrays | PackedScores) -> list[float]: ...
    def log_partition(self, scores: Scores) -> Any:
        """The logarithm of the sum over all analyses of exp(weight).

        RETURNS (float)
        """
        return _unwrap(scores, self._run(scores, self._batch(scores), engine.log_partition))

    @overload
    def marginals(self, scores: Array) -> Array: ...
    @overload
    def marginals(self, scores: Arrays) -> list[Array]: ...
    @overload
    def marginals(self, scores: PackedScores) -> PackedScores: ...
    def marginals(self, scores: Scores) -> Any:
        """The probability of every mention, the gradient of the log-partition.

        RETURNS (numpy.ndarray): Shape and type of the scores; 0 where no mention can be. For PackedScores, the same
            as PackedScores.
        """
        return self.log_partition_and_marginals(scores)[1]

    @overload
    def log_partition_and_marginals(self, scores: Array) -> tuple[float, Array]: ...
    @overload
    def log_partition_and_marginals(self, scores: Arrays) -> tuple[list[float], list[Array]]: ...
    @overload
    def log_partition_and_marginals(self, scores: PackedScores) -> tuple[list[float], PackedScores]: ...
    def log_partition_and_marginals(self, scores: Scores) -> Any:
        """Both in one pass, as training needs them.

        Probabilities have an error of about 1e-16 times the largest weight: for weights above 1e15, analyses of
        equal weight no longer share it between them.

        RETURNS (tuple): What `log_partition` and `marginals` return.
        """
        batch = self._batch(scores, marginals=True)
        totals = self._run(scores, batch, engine.log_partition)
        outputs = batch.outputs or []
        if isinstance(scores, PackedScores):
            return totals, scores.like(outputs[0])
        return _unwrap(scores, totals), _unwrap(scores, outputs)

    @overload
    def sample(self, scores: Array, n_samples: int = 10, seed: int = 0) -> list[list[Mention]]: ...
    @overload
    def sample(
        self, scores: Arrays | PackedScores, n_samples: int = 10, seed: int = 0
    ) -> list[list[list[Mention]]]: ...
    def sample(self, scores: Scores, n_samples: int = 10, seed: int = 0) -> Any:
        """Independent analyses, each drawn with exactly its probability.

        n_samples (int): How many.
        seed (int): The same seed gives the same samples. On another machine, float32 scores may be summed in
            another order, so that very rarely a sample differs.
        RETURNS (list[list[Mention]]): The analyses, in the order they were drawn.
        """
        check_samples(n_samples, seed)
        batch = self._batch(scores)
        drawn = Analyses(*self._run(scores, batch, engine.sample, n_samples, seed)).mentions()
        n_segments = len(scores) if is_batch(scores) or isinstance(scores, PackedScores) else 1
        return _unwrap(scores, [drawn[k * n_samples : (k + 1) * n_samples] for k in range(n_segments)])

    @overload
    def entropy(self, scores: Array) -> float: ...
    @overload
    def entropy(self, scores: Arrays | PackedScores) -> list[float]: ...
    def entropy(self, scores: Scores) -> Any:
        """How undecided the distribution over analyses is, in nats: 0 if one is certain.

        RETURNS (float)
        """
        results: list[float] = []
        for part in as_packed(scores, self.max_span_length):
            doubles = part.like(part.values.astype(np.float64))
            batch = self._batch(doubles, marginals=True)
            totals = self._run(scores, batch, engine.log_partition, first=len(results))
            results += self.entropy_from(doubles, totals, doubles.like((batch.outputs or [])[0]))
        return _unwrap(scores, results)

    def entropy_from(self, scores: PackedScores, totals: list[float], marginals: PackedScores) -> list[float]:
        """The same for scores whose log-partitions and marginals are known already.

        It is log Z less the expected weight. Both grow with the weights, and their difference does not: it has an
        error of about 1e-16 times the expected sum of the squared weights of an analysis (1e-7 times the root of that,
        for float32 marginals). Where that sum is above 1e6, as with weights in the thousands, the entropy is
        computed in another way, which is slower. It holds for weights of any size, as long as those of one segment
        that matter differ by less than 1e15: a double has no more digits.

        RETURNS (list[float]): One number per segment.
        """
        seen = marginals.values > 0
        products, squares = np.zeros_like(scores.values), np.zeros_like(scores.values)
        with np.errstate(over="ignore"):
            np.multiply(scores.values, marginals.values, out=products, where=seen)
            np.multiply(scores.values, products, out=squares, where=seen)
            expected = _sum_segments(products, scores.layout)
            extreme = np.flatnonzero(~(_sum_segments(squares, scores.layout) <= _LARGEST_EXPECTED_SQUARE))
        result: list[float] = np.maximum(0.0, np.asarray(totals, dtype=np.float64) - expected).tolist()
        if len(extreme):
            some = scores.select(extreme.tolist())
            for k, exact in zip(extreme.tolist(), self._run(some, self._batch(some), engine.entropy)):
                result[k] = exact
        return result

    def project(
        self, mentions: Iterable[AnyMention], n_tokens: int, *, counts: Mapping[Any, int] | None = None
    ) -> list[Mention]:
        """The largest subset of mentions that is inside the search space: see SearchSpace.project."""
        return self.space.project(mentions, n_tokens, counts=counts)

    def contains(self, mentions: Iterable[AnyMention], n_tokens: int) -> bool:
        """Whether an analysis is inside the search space: see SearchSpace.contains."""
        return self.space.contains(mentions, n_tokens)

    def derivation(self, mentions: Iterable[AnyMention], n_tokens: int) -> Derivation:
        """The one derivation of an analysis under the rules of the paper: see SearchSpace.derivation."""
        return self.space.derivation(mentions, n_tokens)

    def _decode(self, scores: Scores) -> Analyses:
        return Analyses(*self._run(scores, self._batch(scores), engine.decode))

    def _batch(self, scores: Scores, marginals: bool = False) -> Batch:
        longest = self.space.for_kernels()[2]
        if isinstance(scores, PackedScores):
            stored = min(scores.layout.max_span_length or 0, sys.maxsize)
            return Batch.of_packed(scores.values, scores.layout.lengths, stored, marginals, longest)
        return Batch.of_arrays(as_list(scores), is_batch(scores), marginals, longest)

    def _run(
        self, scores: Scores, batch: Batch, function: Callable[..., Result], *arguments: Any, first: int = 0
    ) -> Result:
        """Call the kernels. The batch begins with segment number `first` of the scores."""
        short, multi_label, _ = self.space.for_kernels()
        try:
            return function(batch, short, multi_label, *arguments)
        except engine.BadWeightError as error:
            raise bad_weight(scores, first + error.number, self.max_span_length) from None


class FlatDecoder(Decoder):
    """No mention inside another: the semi-Markov algorithm, O(n²).

    multi_label (bool): Allow any set of labels on a span, not just one label.
    max_span_length (int | None): Forbid mentions of more tokens than this; time and memory grow with
        n * max_span_length then, not with n².
    """

    name = "FlatDecoder"

    def __init__(self, *, multi_label: bool = False, max_span_length: int | None = None):
        super().__init__(SearchSpace(0, multi_label, max_span_length))


class CubicDecoder(Decoder):
    """Any mentions that do not cross: the CYK-like algorithm, O(n³).

    multi_label (bool): Allow any set of labels on a span, not just one label.
    max_span_length (int | None): Forbid mentions of more tokens than this; time and memory grow with
        n * max_span_length then, and time with n * max_span_length².
    """

    name = "CubicDecoder"

    def __init__(self, *, multi_label: bool = False, max_span_length: int | None = None):
        super().__init__(SearchSpace(None, multi_label, max_span_length))


class QuadraticDecoder(Decoder):
    """Mentions that do not cross, with at most one long child each: O(n²).

    max_short_child (int): Children of up to this many tokens are short, and a mention may have any number of them; it
        may have one longer child. 1 is the algorithm of the paper; larger values cost time in proportion,
        O(max_short_child * n²).
    multi_label (bool): Allow any set of labels on a span, not just one label.
    max_span_length (int | None): Forbid mentions of more tokens than this; time and memory grow with
        n * max_span_length then, not with n².
    """

    name = "QuadraticDecoder"

    def __init__(self, *, max_short_child: int = 1, multi_label: bool = False, max_span_length: int | None = None):
        short = check_whole("max_short_child", max_short_child, 1)
        super().__init__(SearchSpace(short, multi_label, max_span_length))

    @property
    def max_short_child(self) -> int:
        return cast(int, self.space.max_short_child)

    def settings(self) -> dict[str, Any]:
        name, *others = super().settings().items()
        return dict([name, ("max_short_child", self.max_short_child), *others])


def decoder_from_settings(settings: Mapping[str, Any]) -> Decoder:
    """The decoder that has these settings.

    settings (Mapping[str, Any]): What `Decoder.settings()` gives.
    RETURNS (Decoder): The decoder.
    """
    kinds: dict[str, Callable[..., Decoder]] = {
        kind.name: kind for kind in (FlatDecoder, QuadraticDecoder, CubicDecoder)
    }
    others = {name: value for name, value in settings.items() if name != "decoder"}
    if settings.get("decoder") not in kinds:
        raise ValueError(f"decoder is {settings.get('decoder')!r}; expected one of {', '.join(kinds)}")
    return kinds[settings["decoder"]](**others)


def check_samples(n_samples: Any, seed: Any) -> None:
    """Raise an error for an invalid number of samples or seed."""
    check_whole("n_samples", n_samples, 0)
    if n_samples >= 2**48:
        raise MemoryError(f"out of memory for {n_samples} samples")
    check_whole("seed", seed, 0, ", below 2**64")
    if seed >= 2**64:
        raise ValueError(f"seed is {seed}; expected 0 or more, below 2**64")


def _unwrap(scores: Scores, results: list[Any]) -> Any:
    return results if is_batch(scores) or isinstance(scores, PackedScores) else results[0]


def _sum_segments(values: Array, layout: SpanLayout) -> Array:
    """The sum of packed values over every segment."""
    result = np.zeros(len(layout))
    filled = np.flatnonzero(np.diff(layout.offsets))
    if len(filled):
        result[filled] = np.add.reduceat(values.sum(axis=0, dtype=np.float64), layout.offsets[filled])
    return result
