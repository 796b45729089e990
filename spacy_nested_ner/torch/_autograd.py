"""What gradients flow through: functions of the scores of a batch with exact derivatives.

LogProb         its gradient is the mentions of the analysis less the marginals
Marginals       the gradient of the log-partition; its own derivatives are covariances (Decoder.covariances)
Entropy         its gradient is minus the covariance of every mention with the weight of the analysis
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd import Function

from ..decoders import Decoder
from ._batch import Array, ScoreBatch
from ._transfer import to_device, to_host


class LogProb(Function):
    """Of an analysis per sentence, given by its mentions. For the empty analysis this is minus the log-partition.

    If gradients may be asked for, the marginals are found on the way, less the mentions of the analysis: with a factor
    per sentence, that is the gradient. The first backward pass makes it so in place; it is as large as the scores. A
    second one, of a graph that was kept, finds it again.
    """

    @staticmethod
    def forward(ctx: Any, values: Tensor, batch: ScoreBatch, decoder: Decoder, places: Array, owners: Array) -> Tensor:
        """places, owners: where the weight of every mention is in the values, and the number of its sentence."""
        ctx.batch, ctx.decoder, ctx.places, ctx.owners = batch, decoder, places, owners
        ctx.save_for_backward(values)
        scores = to_host(values)
        weights = np.bincount(owners, scores.reshape(-1)[places], minlength=len(batch.tokens))
        if ctx.needs_input_grad[0]:
            totals, ctx.surplus = _marginals(scores, batch, decoder, less=places)
        else:
            totals = decoder.log_partition(batch.arrays(scores))
        return _of_sentences(weights - np.array(totals), values)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None, None]:
        (values,) = ctx.saved_tensors
        surplus, ctx.surplus = ctx.surplus, None
        if torch.is_grad_enabled():  # second derivatives are wanted
            marginals = Marginals.apply(values, ctx.batch, ctx.decoder)
            result = marginals * ctx.batch.factors(-gradient, values)
            places, owners = (to_device(numbers, values.device) for numbers in (ctx.places, ctx.owners))
            result.view(-1).index_add_(0, places, gradient.index_select(0, owners).to(result.dtype))
        else:
            if surplus is None:
                surplus = _marginals(to_host(values), ctx.batch, ctx.decoder, less=ctx.places)[1]
            result = surplus.mul_(ctx.batch.factors(-gradient, values))
        return result, None, None, None, None


class Marginals(Function):
    """Of every mention."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, batch: ScoreBatch, decoder: Decoder) -> Tensor:
        ctx.batch, ctx.decoder = batch, decoder
        ctx.save_for_backward(values)
        return _marginals(to_host(values), batch, decoder)[1]

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (values,) = ctx.saved_tensors
        return Covariances.apply(values, gradient, ctx.batch, ctx.decoder), None, None


class Entropy(Function):
    """Of every sentence."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, batch: ScoreBatch, decoder: Decoder) -> Tensor:
        ctx.batch, ctx.decoder = batch, decoder
        ctx.save_for_backward(values)
        return _of_sentences(decoder.entropy(batch.arrays(to_host(values))), values)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (values,) = ctx.saved_tensors
        # A forbidden mention adds nothing to the weight of any analysis.
        weights = torch.where(values == -torch.inf, 0.0, values)
        found = Covariances.apply(values, weights, ctx.batch, ctx.decoder)
        return found * ctx.batch.factors(-gradient, values), None, None


class Covariances(Function):
    """Of every mention with a sum over the mentions of an analysis."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, directions: Tensor, batch: ScoreBatch, decoder: Decoder) -> Tensor:
        scores = to_host(values)
        result = np.zeros(scores.shape, scores.dtype)
        found = decoder.covariances(batch.arrays(scores), batch.arrays(to_host(directions.contiguous())))
        for part, covariances in zip(batch.arrays(result), found):
            part[:] = covariances
        return to_device(result, values.device)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        raise RuntimeError(
            "log_partition, log_prob and loss can be differentiated twice; marginals, expected_score and entropy once"
        )


def _of_sentences(numbers: Any, values: Tensor) -> Tensor:
    """A number per sentence, rounded to the precision of the values."""
    kind = np.float32 if values.dtype == torch.float32 else np.float64
    return to_device(np.array(numbers, dtype=kind), values.device)


def _marginals(
    scores: Array, batch: ScoreBatch, decoder: Decoder, less: Array | None = None
) -> tuple[list[float], Tensor]:
    """less: places of mentions whose marginals are lowered by 1."""
    marginals = np.zeros(scores.shape, scores.dtype)
    totals, _ = decoder.log_partition_and_marginals(batch.arrays(scores), out=batch.arrays(marginals))
    if less is not None:
        np.subtract.at(marginals.reshape(-1), less, 1)
    return totals, to_device(marginals, batch.values.device)
