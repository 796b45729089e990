"""Score a span from its start, its end, its content and its length, with one hidden layer.

    hidden(i, j) = relu(A x_i + B x_j + content(i, j) + length(j - i + 1) + bias)
    scores(i, j) = W hidden(i, j) + b
    gate(t) = sigmoid(D x_t + d) + 1/16
    content(i, j) = sum(gate(t) * C x_t for t in i … j) / sum(gate(t) for t in i … j)

The content is a weighted mean. Every token has one weight per hidden unit, so the words that say what a mention is can
count more than the others.

The scores are the only array that covers all spans. The hidden layer is computed again in the backward pass, which is
cheaper than keeping it: on a CPU by a compiled kernel, elsewhere by its twin in _spans_by_length.py. Matrix products
are written with `@`: NumPy's are faster than `ops.gemm` (see one_thread.py).
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from thinc.api import Model, glorot_uniform_init
from thinc.types import Floats2d

from ..decoders import SpanLayout
from ._kernels.additive import FusedSpans
from ._lengths import N_ROWS, length_row
from ._resize import copy_params
from ._spans_by_length import SpansByLength
from ._types import Array, TokenVectors, as_token_vectors
from .one_thread import one_thread

InT = tuple[Floats2d | TokenVectors, SpanLayout]
OutT = Floats2d

# The content divides by sums of gates, so no gate ever closes completely.
_LEAST_GATE = 1 / 16


def additive_span_scorer(
    hidden_width: int, *, gated: bool = True, nI: int | None = None, nO: int | None = None, start_bias: float = -5.0
) -> Model[InT, OutT]:
    """Map token vectors and a layout to packed scores.

    hidden_width (int): Width of the hidden layer.
    gated (bool): Whether to train the gates; if not, the content is the plain mean.
    start_bias (float): Score of every mention before training: well below 0, so that an untrained model finds none.
    """
    return Model(
        "additive_span_scorer",
        forward,
        init=init,
        dims={"nI": nI, "nH": hidden_width, "nO": nO},
        params=dict.fromkeys(("tokens_W", "gates_b", "hidden_b", "lengths_E", "W", "b")),
        attrs={"gated": gated, "start_bias": start_bias},
    )


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    if X is not None:
        model.set_dim("nI", as_token_vectors(model.ops, X[0]).width)
    if Y is not None:
        model.set_dim("nO", Y.shape[0])
    nI, nH, nO = (model.get_dim(name) for name in ("nI", "nH", "nO"))
    ops = model.ops
    # A, B, C and D. D starts at 0, so all gates are equal before training.
    weights = [glorot_uniform_init(ops, (nH, nI)) for _ in range(3)]
    model.set_param("tokens_W", ops.xp.concatenate([*weights, ops.alloc2f(nH, nI)]))
    model.set_param("gates_b", ops.alloc1f(nH))
    model.set_param("hidden_b", ops.alloc1f(nH))
    model.set_param("lengths_E", glorot_uniform_init(ops, (N_ROWS, nH)))
    model.set_param("W", ops.alloc2f(nO, nH))
    model.set_param("b", ops.alloc1f(nO) + model.attrs["start_bias"])


def forward(model: Model[InT, OutT], X: InT, is_train: bool) -> tuple[OutT, Callable]:
    vectors, layout = X
    projected, gates, backprop_tokens = _project(model, as_token_vectors(model.ops, vectors))
    lengths_E: Array = model.get_param("lengths_E")
    biases = lengths_E + model.get_param("hidden_b")
    spans = _spans(model, projected, gates, biases, layout)

    def backprop(d_scores: Array) -> InT:
        d_own, d_W, d_biases = spans.gradients(model.ops.as_contig(d_scores))
        model.inc_grad("W", d_W)
        model.inc_grad("b", d_scores.sum(axis=1))
        model.inc_grad("lengths_E", d_biases)
        model.inc_grad("hidden_b", d_biases.sum(axis=0))
        d_vectors = backprop_tokens(d_own)
        return d_vectors if isinstance(vectors, TokenVectors) else d_vectors.own, layout

    return spans.scores(), backprop


def _project(
    model: Model[InT, OutT], vectors: TokenVectors
) -> tuple[TokenVectors, Array, Callable[[Array], TokenVectors]]:
    """What tokens add to the spans that start with them | end with them | contain them, and to their own gates before
    the sigmoid, with rows as those of the vectors; the gates; and the way back."""
    ops, nH = model.ops, model.get_dim("nH")
    W: Array = model.get_param("tokens_W")
    own, shared, numbers = vectors
    # The word part is multiplied once per word.
    W_own, W_shared = W[:, : own.shape[1]], W[:, own.shape[1] :]
    with one_thread:
        projected = TokenVectors(own @ W_own.T, shared @ W_shared.T, numbers)
    gates = projected.shared[numbers, 3 * nH :]
    gates += projected.own[:, 3 * nH :]
    gates += model.get_param("gates_b")
    gates = ops.sigmoid(gates, inplace=True)
    gates += _LEAST_GATE

    def backprop(d_own: Array) -> TokenVectors:
        """Takes the gradient of the projected vectors, but of the gates after the sigmoid. Overwrites it."""
        sigmoid = gates - _LEAST_GATE
        d_own[:, 3 * nH :] *= sigmoid * (1 - sigmoid) if model.attrs["gated"] else 0.0
        d_shared: Array = ops.alloc2f(*projected.shared.shape)
        ops.scatter_add(d_shared, numbers, d_own)
        model.inc_grad("gates_b", d_own[:, 3 * nH :].sum(axis=0))
        with one_thread:
            model.inc_grad("tokens_W", ops.xp.hstack((d_own.T @ own, d_shared.T @ shared)))
            return TokenVectors(d_own @ W_own, d_shared @ W_shared, numbers)

    return projected, gates, backprop


def _spans(
    model: Model[InT, OutT], projected: TokenVectors, gates: Array, biases: Array, layout: SpanLayout
) -> FusedSpans | SpansByLength:
    W: Array = model.get_param("W")
    b: Array = model.get_param("b")
    if model.ops.xp is not np:
        return SpansByLength(projected, gates, biases, W, b, layout, xp=model.ops.xp)
    longest = layout.longest_span
    lengths = np.array(layout.lengths, dtype=np.intp)
    return FusedSpans(*projected, gates, biases, length_rows(longest), W, b, lengths, longest)


@lru_cache(maxsize=64)
def length_rows(longest: int) -> np.ndarray:
    """The row of every length from 1 on."""
    return np.array([length_row(length) for length in range(1, longest + 1)], dtype=np.intp)


def resize(model: Model[InT, OutT], nO: int) -> Model[InT, OutT]:
    """Make a copy with more labels. Those that the model has keep their weights."""
    nI, nH = model.get_dim("nI"), model.get_dim("nH")
    return copy_params(model, additive_span_scorer(nH, nI=nI, nO=nO, **model.attrs))
