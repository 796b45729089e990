"""The three decoders: a search space each, and everything that can be asked of scores in it."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from numbers import Real
from typing import Any, ClassVar, TypeVar, cast, overload

import numpy as np

from . import _memory
from ._kernels import engine
from ._kernels.batch import Batch
from ._scores import Array, Arrays, Scores, as_list, as_packed, bad_weight, is_batch, weights_of
from ._settings import check_whole
from .analyses import Analyses, ScoredAnalyses
from .derivation import Derivation
from .mention import AnyMention, Mention
from .packed import PackedScores
from .space import SearchSpace

Result = TypeVar("Result")
# The mentions of an analysis, and their weight.
Weighted = tuple[list[Mention], float]


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
        _check_packed(scores)
        return self._decode(scores)

    def analyze(
        self, scores: PackedScores, *, threshold: float | None = None, temperature: float = 1.0
    ) -> ScoredAnalyses:
        """An analysis per segment with its probability, that of every mention, log Z and the entropy.

        Everything comes out of one pass per segment: faster than `decode_arrays`, `marginals` and `entropy` together,
        and without the marginals of the whole batch.

        scores (PackedScores): Of all segments.
        threshold (float | None): None for the analysis of `decode`. With a number, the analysis for which the sum of
            (probability - threshold) over its mentions is highest; it is inside the search space, too.
        temperature (float): What scores are divided by.
        RETURNS (ScoredAnalyses): One analysis per segment.
        """
        _check_packed(scores)
        check_threshold(threshold)
        check_temperature(temperature)
        batch = self._batch(scores)
        return ScoredAnalyses(*self._run(scores, batch, engine.analyze, threshold, temperature, divided_by=temperature))

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
    def log_partition_and_marginals(self, scores: Array, *, out: None = None) -> tuple[float, Array]: ...
    @overload
    def log_partition_and_marginals(
        self, scores: Arrays, *, out: Arrays | None = None
    ) -> tuple[list[float], list[Array]]: ...
    @overload
    def log_partition_and_marginals(
        self, scores: PackedScores, *, out: None = None
    ) -> tuple[list[float], PackedScores]: ...
    def log_partition_and_marginals(self, scores: Scores, *, out: Arrays | None = None) -> Any:
        """Both in one pass, as training needs them.

        Probabilities have an error of about 1e-16 times the largest weight: for weights above 1e15, analyses of
        equal weight no longer share it between them.

        out (Sequence[numpy.ndarray] | None): For a list of arrays, where to write the marginals instead of to new
            arrays, for example to parts of a larger one. Cells where no mention can be are not written to.
        RETURNS (tuple): What `log_partition` and `marginals` return.
        """
        if out is not None and not is_batch(scores):
            raise TypeError("out is given, but scores are no list of arrays; leave it out")
        batch = self._batch(scores, marginals=True, out=out)
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

        It holds for weights of any size, as long as those of one segment that matter differ by less than 1e15: a
        double has no more digits. Weights in the thousands take longer.

        RETURNS (float)
        """
        results: list[float] = []
        for part in as_packed(scores, self.max_span_length):
            doubles = part.like(part.values.astype(np.float64))
            found = self._run(scores, self._batch(doubles), engine.analyze, None, 1.0, first=len(results))
            results += ScoredAnalyses(*found).entropies.tolist()
        return _unwrap(scores, results)

    @overload
    def log_prob(self, scores: Array, mentions: Iterable[AnyMention]) -> float: ...
    @overload
    def log_prob(self, scores: Arrays | PackedScores, mentions: Sequence[Iterable[AnyMention]]) -> list[float]: ...
    def log_prob(self, scores: Scores, mentions: Any) -> Any:
        """The logarithm of the probability of an analysis: its weight less the log-partition.

        mentions (Iterable[Mention]): The analysis, with label numbers; for several segments, a list with one analysis
            for each of them.
        RETURNS (float): -inf if the analysis is outside the search space.
        """
        totals = self.log_partition(scores)
        if not isinstance(totals, list):
            totals, mentions = [totals], [mentions]
        weights = weights_of(scores, mentions, self.contains)
        return _unwrap(scores, [min(0.0, weight - total) for weight, total in zip(weights, totals)])

    @overload
    def k_best(self, scores: Array, k: int = 10) -> list[Weighted]: ...
    @overload
    def k_best(self, scores: Arrays | PackedScores, k: int = 10) -> list[list[Weighted]]: ...
    def k_best(self, scores: Scores, k: int = 10) -> Any:
        """The k analyses of highest weight, best first.

        The first one is that of `decode`, and the rule for ties is the same: every mention costs a fee of 1e-12 times
        the weight of the best analysis, or, if that is the empty one, of the smallest weight that is not 0. The order
        of analyses that are still equal is fixed, and the same for every k.

        Analyses of weight -inf are impossible and never listed: those with a forbidden mention, and those whose weights
        add up to less than a double can hold, such as two of -1e308.

        k (int): How many. There are fewer results if there are fewer analyses.
        RETURNS (list[tuple[list[Mention], float]]): The mentions of each analysis, sorted as those of `decode`, and
            their weight.
        """
        k = min(check_whole("k", k, 1), sys.maxsize)
        *columns, weights, counts = self._run(scores, self._batch(scores), engine.k_best, k, _memory.physical_memory())
        pairs = zip(Analyses(*columns).mentions(), weights.tolist())
        return _unwrap(scores, [list(islice(pairs, count)) for count in counts])

    @overload
    def covariances(self, scores: Array, values: Array) -> Array: ...
    @overload
    def covariances(self, scores: Arrays, values: Arrays) -> list[Array]: ...
    @overload
    def covariances(self, scores: PackedScores, values: PackedScores) -> PackedScores: ...
    def covariances(self, scores: Scores, values: Scores) -> Any:
        """The covariance of every mention with a sum over the mentions of an analysis.

        This is the derivative of the marginals when the scores move along `values`: the Hessian of the log-partition
        times `values`, exactly. With the scores as values, it is minus the gradient of the entropy.

        values (numpy.ndarray): What every mention adds to the sum, in the shape of the scores. Those of mentions that
            have no probability do not count, as long as they are finite.
        RETURNS (numpy.ndarray): Shape and type of the scores. For PackedScores, the same as PackedScores.
        """
        results: list[Any] = []
        directions = as_packed(values, self.max_span_length)
        for number, part in enumerate(as_packed(scores, self.max_span_length)):
            if number >= len(directions) or directions[number].layout != part.layout:
                raise ValueError("values have other segments or spans than the scores; expected the same")
            batch = self._batch(part, marginals=True)
            self._run(scores, batch, engine.covariances, self._batch(directions[number]), first=number)
            results.append(part.like((batch.outputs or [])[0]))
        if isinstance(scores, PackedScores):
            return results[0]
        return _unwrap(scores, [part.unpack(fill=0.0)[0] for part in results])

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

    def _batch(self, scores: Scores, marginals: bool = False, out: Arrays | None = None) -> Batch:
        longest = self.space.for_kernels()[2]
        if isinstance(scores, PackedScores):
            stored = min(scores.layout.max_span_length or 0, sys.maxsize)
            return Batch.of_packed(scores.values, scores.layout.lengths, stored, marginals, longest)
        return Batch.of_arrays(as_list(scores), is_batch(scores), marginals, longest, out)

    def _run(
        self,
        scores: Scores,
        batch: Batch,
        function: Callable[..., Result],
        *arguments: Any,
        first: int = 0,
        divided_by: float = 1.0,
    ) -> Result:
        """Call the kernels. The batch begins with segment number `first` of the scores; they may divide the weights."""
        short, multi_label, _ = self.space.for_kernels()
        try:
            return function(batch, short, multi_label, *arguments)
        except engine.BadWeightError as error:
            if isinstance(scores, PackedScores):
                scores = scores.at(divided_by)
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


def is_number(value: Any) -> bool:
    """Whether a value is a real number, and no truth value."""
    return isinstance(value, Real) and not isinstance(value, bool)


def check_threshold(threshold: float | None) -> None:
    """Raise an error if a threshold is out of range."""
    if threshold is not None and not (is_number(threshold) and 0 <= threshold <= 1):
        raise ValueError(f"threshold is {threshold}; expected a number between 0 and 1, or null for the best analysis")


def check_temperature(temperature: float) -> None:
    """Raise an error if a temperature is out of range."""
    if not (is_number(temperature) and 0 < temperature < float("inf")):
        raise ValueError(f"temperature is {temperature}; expected a number above 0; 1 leaves probabilities as is")


def _check_packed(scores: Any) -> None:
    if not isinstance(scores, PackedScores):
        raise TypeError(f"scores is a {type(scores).__name__}; expected PackedScores")


def _unwrap(scores: Scores, results: list[Any]) -> Any:
    return results if is_batch(scores) or isinstance(scores, PackedScores) else results[0]
