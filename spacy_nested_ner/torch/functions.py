"""Losses and expectations that gradients flow through, and analyses, of scores that a PyTorch model gives.

All functions take a decoder, scores and, for a padded batch, lengths:

decoder (Decoder): The search space: QuadraticDecoder() and its relatives.
scores (Tensor | Sequence[Tensor]): float32, float64, bfloat16 or float16 (computed in float32), on any device.
    `scores[b, i, j, t]` is the weight of a mention with label t from token i to token j of sentence b, both included;
    -inf forbids it. A padded batch of shape (sentences, n, n, labels), a list of tensors (n, n, labels), or one such
    tensor. Padding and cells below the diagonal are never read, and get a gradient of 0.
lengths (Tensor | Sequence[int] | None): For a padded batch, the tokens of every sentence, or a mask of shape
    (sentences, n). None: all sentences fill it.

A padded batch or a list gives a tensor or list with one result per sentence; a single tensor gives a single result.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from torch import Tensor

from ..decoders import Decoder, SearchSpace
from ..decoders.mention import AnyMention
from ._autograd import Entropy, LogProb, Marginals
from ._batch import Array, Lengths, ScoreBatch, Scores, collect
from ._transfer import to_device, to_host, widest

# The analyses of a batch, or the one of a single tensor.
Mentions: TypeAlias = Tensor | Sequence[Iterable[AnyMention]] | Iterable[AnyMention]


def log_partition(decoder: Decoder, scores: Scores, lengths: Lengths = None) -> Tensor:
    """The logarithm of the sum over all analyses of exp(weight). It can be differentiated twice.

    RETURNS (Tensor): One number per sentence, in the type of the scores.
    """
    batch = _collect(decoder, scores, lengths)
    nothing = np.zeros(0, np.int64)
    return batch.per_sentence(-LogProb.apply(batch.values, batch, decoder, nothing, nothing))


def marginals(decoder: Decoder, scores: Scores, lengths: Lengths = None) -> Any:
    """The probability of every mention, the gradient of the log-partition. It can be differentiated once.

    RETURNS (Tensor | list[Tensor]): Like the scores; 0 where no mention can be.
    """
    batch = _collect(decoder, scores, lengths)
    return batch.given(Marginals.apply(batch.values, batch, decoder))


def expected_score(
    decoder: Decoder, scores: Scores, lengths: Lengths = None, *, values: Scores | None = None
) -> Tensor:
    """The expected sum of some values over the mentions of an analysis. It can be differentiated once.

    values (Tensor | Sequence[Tensor] | None): What every mention adds to the sum, given as the scores are. None: its
        score. Gradients flow to the values, too.
    RETURNS (Tensor): One number per sentence.
    """
    batch = _collect(decoder, scores, lengths)
    added = batch if values is None else collect(values, lengths, "values")
    if added.values.shape != batch.values.shape or added.tokens != batch.tokens:
        raise ValueError("values have another shape than the scores; expected the same")
    probabilities = Marginals.apply(batch.values, batch, decoder)
    # Where there is no mention, values may be anything, even NaN.
    read = torch.where(probabilities.detach() > 0, added.values.to(batch.values.dtype), 0.0)
    wide = widest(batch.values.device)
    sums = batch.sums(probabilities.to(wide) * read.to(wide))
    return batch.per_sentence(sums.to(batch.values.dtype))


def entropy(decoder: Decoder, scores: Scores, lengths: Lengths = None) -> Tensor:
    """How undecided the distribution over analyses is, in nats. It can be differentiated once.

    RETURNS (Tensor): One number per sentence.
    """
    batch = _collect(decoder, scores, lengths)
    return batch.per_sentence(Entropy.apply(batch.values, batch, decoder))


def log_prob(decoder: Decoder, scores: Scores, mentions: Mentions, lengths: Lengths = None) -> Tensor:
    """The logarithm of the probability of an analysis. It can be differentiated twice.

    mentions (Sequence[Iterable[Mention]] | Tensor): An analysis per sentence: mentions, or tuples of start, end (the
        token after the last one) and label number. Or a tensor that is not 0 where a mention is, in the shape of the
        scores. For a single tensor of scores, one analysis.
    RETURNS (Tensor): One number per sentence; -inf, without a gradient, if the analysis is outside the search space.
    """
    batch = _collect(decoder, scores, lengths)
    return batch.per_sentence(_log_prob(decoder, batch, _analyses(batch, mentions), strict=False))


def loss(
    decoder: Decoder, scores: Scores, mentions: Mentions, lengths: Lengths = None, *, reduction: str = "mean"
) -> Tensor:
    """The negative log-likelihood of gold mentions: what to train with. It can be differentiated twice.

    Mentions must be inside the search space, or the loss would have no minimum: use `decoder.project` on them first.

    mentions (Sequence[Iterable[Mention]] | Tensor): As for `log_prob`.
    reduction (str): "mean" or "sum" over the sentences, or "none" for one number per sentence.
    RETURNS (Tensor): The loss.
    """
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"reduction is {reduction!r}; expected 'mean', 'sum' or 'none'")
    batch = _collect(decoder, scores, lengths)
    losses = -_log_prob(decoder, batch, _analyses(batch, mentions), strict=True)
    if reduction == "none":
        return batch.per_sentence(losses)
    return losses.mean() if reduction == "mean" and len(losses) else losses.sum()


def decode(decoder: Decoder, scores: Scores, lengths: Lengths = None) -> Any:
    """The analysis with the highest weight: see Decoder.decode.

    RETURNS (list[list[Mention]]): One list of mentions per sentence.
    """
    batch = _collect(decoder, scores, lengths)
    return batch.per_sentence(decoder.decode(_arrays(batch)))


def sample(
    decoder: Decoder, scores: Scores, lengths: Lengths = None, *, n_samples: int = 10, seed: int | None = None
) -> Any:
    """Independent analyses, each drawn with exactly its probability: see Decoder.sample.

    seed (int | None): None: drawn by PyTorch, so that torch.manual_seed decides.
    RETURNS (list[list[list[Mention]]]): The analyses of every sentence.
    """
    batch = _collect(decoder, scores, lengths)
    if seed is None:
        seed = int(torch.randint(2**62, ()))
    return batch.per_sentence(decoder.sample(_arrays(batch), n_samples, seed))


def k_best(decoder: Decoder, scores: Scores, k: int = 10, lengths: Lengths = None) -> Any:
    """The k analyses of highest weight, best first: see Decoder.k_best.

    RETURNS (list[list[tuple[list[Mention], float]]]): Mentions and weight of the analyses of every sentence.
    """
    batch = _collect(decoder, scores, lengths)
    return batch.per_sentence(decoder.k_best(_arrays(batch), k))


def _collect(decoder: Any, scores: Scores, lengths: Lengths) -> ScoreBatch:
    if not isinstance(decoder, Decoder):
        raise TypeError(f"decoder is a {type(decoder).__name__}; expected a decoder such as QuadraticDecoder()")
    return collect(scores, lengths)


def _arrays(batch: ScoreBatch) -> list[Array]:
    return batch.arrays(to_host(batch.values))


def _log_prob(decoder: Decoder, batch: ScoreBatch, analyses: list[Any], strict: bool) -> Tensor:
    """`strict`: analyses must be inside the search space."""
    read = _reader(decoder.space, batch.labels)
    gold = [read(mentions, n, row) for mentions, n, row in zip(analyses, batch.tokens, batch.rows)]
    outside: list[int] = []
    for number, (_, wrong_label, reason) in enumerate(gold):
        if wrong_label is not None:
            raise ValueError(
                f"a mention of sentence {number} has the label {wrong_label}; expected 0 to {batch.labels - 1}"
            )
        if reason is not None and strict:
            raise ValueError(
                f"the mentions of sentence {number} are outside the search space of {decoder!r}: {reason}; use "
                f"`decoder.project(mentions, {batch.tokens[number]})` first"
            )
        if reason is not None:
            outside.append(number)
    places = [found for found, _, _ in gold]
    owners = np.repeat(np.arange(len(places)), [len(found) for found in places])
    offsets = np.array(batch.offsets, dtype=np.int64)
    all_places = np.concatenate(places) if places else np.zeros(0, np.int64)
    result = LogProb.apply(batch.values, batch, decoder, all_places + offsets[owners], owners)
    if outside:
        result = result.index_fill(0, to_device(np.array(outside), result.device), -torch.inf)
    return result


class _Gold(NamedTuple):
    """The mentions of a sentence.

    places (ndarray): Where their scores are, from the first score of the sentence on.
    wrong_label (int | None): A label that there is not.
    outside (str | None): Why they are outside the search space.
    """

    places: Array
    wrong_label: int | None
    outside: str | None


@lru_cache(maxsize=16)
def _reader(space: SearchSpace, n_labels: int) -> Callable[[Iterable[AnyMention], int, int], _Gold]:
    """Reads the mentions of a sentence, and remembers what it has read: gold comes again in every epoch."""

    def read(mentions: tuple[AnyMention, ...], n_tokens: int, row: int) -> _Gold:
        checked, outside = space.check(mentions, n_tokens)
        for mention in checked:
            if isinstance(mention.label, bool) or not isinstance(mention.label, (int, np.integer)):
                raise TypeError(f"{mention} has the label {mention.label!r}; expected the number of a label")
        wrong = next((int(mention.label) for mention in checked if not 0 <= mention.label < n_labels), None)
        places = [(start * row + end - 1) * n_labels + label for start, end, label in checked if wrong is None]
        return _Gold(np.array(places, dtype=np.int64), wrong, outside)

    remembered = lru_cache(maxsize=2**14)(read)

    def read_or_remember(mentions: Iterable[AnyMention], n_tokens: int, row: int) -> _Gold:
        mentions = tuple(mentions)
        try:
            return remembered(mentions, n_tokens, row)
        except TypeError:  # mentions that are lists, or errors
            return read(mentions, n_tokens, row)

    return read_or_remember


def _analyses(batch: ScoreBatch, mentions: Any) -> list[Any]:
    """The analyses of all sentences."""
    if isinstance(mentions, Tensor):
        analyses: list[Any] = _from_tensor(batch, mentions)
    elif batch.is_single:
        analyses = [mentions]
    elif isinstance(mentions, (list, tuple)):
        analyses = list(mentions)
    else:
        raise TypeError(f"mentions is a {type(mentions).__name__}; expected a list with one analysis per sentence")
    if len(analyses) != len(batch.tokens):
        raise ValueError(f"there are {len(analyses)} analyses for {len(batch.tokens)} sentences; expected as many")
    return analyses


def _from_tensor(batch: ScoreBatch, mentions: Tensor) -> list[list[AnyMention]]:
    """From zeros and ones to mentions. Below the diagonal and in the padding, there must be none."""
    expected = tuple(batch.values.shape)[int(batch.is_single) :]
    if not batch.is_padded or tuple(mentions.shape) != expected:
        wanted = f"that of the scores, {expected}" if batch.is_padded else "a list, as scores are"
        raise ValueError(f"mentions are a tensor of shape {tuple(mentions.shape)}; expected {wanted}")
    analyses: list[list[AnyMention]] = [[] for _ in batch.tokens]
    found = mentions.reshape(batch.values.shape).nonzero()
    for number, first, last, label in found.tolist():
        analyses[number].append((first, last + 1, label))
    return analyses
