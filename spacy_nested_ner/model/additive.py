"""Score a span from its start, its end, its content and its length, with one hidden layer.

    hidden(i, j) = relu(A x_i + B x_j + content(i, j) + length(j - i + 1) + bias)
    scores(i, j) = W hidden(i, j) + b
    gate(t) = sigmoid(D x_t + d) + 1/16
    content(i, j) = sum(gate(t) * C x_t for t in i … j) / sum(gate(t) for t in i … j)

The content is a weighted mean. Every token has one weight per hidden unit, so the words that say what a mention is can
count more than the others.

Spans are processed by length, shortest first: the two sums of the content grow by one token from one length to the
next, and the scores are the only array that covers all spans. The hidden layer is computed again in the backward pass,
which is cheaper than keeping it. Matrix products are written with `@`: NumPy's are faster than `ops.gemm`.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from thinc.api import Model, glorot_uniform_init
from thinc.types import Floats2d

from ..decoders import SpanLayout
from ._lengths import N_ROWS, length_row
from ._resize import copy_params
from ._types import Array

InT = tuple[Floats2d, SpanLayout]
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
        model.set_dim("nI", X[0].shape[1])
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
    ops = model.ops
    W: Array = model.get_param("W")
    b: Array = model.get_param("b")
    tokens, backprop_tokens = _project(model, vectors)
    scores: Array = ops.alloc2f(W.shape[0], layout.n_spans, zeros=False)
    for spans in _by_length(model, tokens, layout):
        scores[:, spans.cells] = W @ spans.hidden.T + b[:, None]

    def backprop(d_scores: Array) -> InT:
        nH = model.get_dim("nH")
        d_W: Array = ops.alloc2f(*W.shape)
        d_lengths: Array = ops.alloc2f(N_ROWS, nH)
        # The last row collects what _add_gradients subtracts after the last token.
        d_tokens = Tokens(*(ops.alloc2f(len(vectors) + 1, nH) for _ in Tokens._fields))
        for spans in _by_length(model, tokens, layout):
            d_out = d_scores[:, spans.cells]
            d_W += d_out @ spans.hidden
            d_hidden = d_out.T @ W
            d_hidden *= spans.hidden > 0
            d_lengths[spans.length_row] += d_hidden.sum(axis=0)
            _add_gradients(d_tokens, spans, d_hidden)
        model.inc_grad("W", d_W)
        model.inc_grad("b", d_scores.sum(axis=1))
        model.inc_grad("lengths_E", d_lengths)
        model.inc_grad("hidden_b", d_lengths.sum(axis=0))
        return backprop_tokens(d_tokens), layout

    return scores, backprop


class Tokens(NamedTuple):
    """What each token adds to the spans that start with it, end with it or contain it; or the gradients of that."""

    starts: Array  # A x_t
    ends: Array  # B x_t
    weighted: Array  # gate(t) * C x_t
    gates: Array  # gate(t)


class Spans(NamedTuple):
    """All spans of one length."""

    length_row: int  # the row of that length in the embeddings
    first: Array  # the first token of each span, counted over the whole batch
    last: Array  # the last token of each span
    cells: Array  # their columns in the scores
    content: Array
    gates: Array  # the sum of the gates of each span
    hidden: Array


def _project(model: Model[InT, OutT], vectors: Array) -> tuple[Tokens, Callable[[Tokens], Floats2d]]:
    xp = model.ops.xp
    W: Array = model.get_param("tokens_W")
    starts, ends, content, before_gates = xp.split(vectors @ W.T, 4, axis=1)
    gates = model.ops.sigmoid(before_gates + model.get_param("gates_b")) + _LEAST_GATE

    def backprop(d_tokens: Tokens) -> Floats2d:
        """Takes the gradients that _add_gradients has made."""
        d_starts, d_ends = d_tokens.starts[:-1], d_tokens.ends[:-1]
        d_weighted, d_gates = (xp.cumsum(changes, axis=0)[:-1] for changes in (d_tokens.weighted, d_tokens.gates))
        d_gates += d_weighted * content
        sigmoid = gates - _LEAST_GATE
        d_before_gates = d_gates * sigmoid * (1 - sigmoid) if model.attrs["gated"] else xp.zeros_like(d_gates)
        d_projected = xp.hstack([d_starts, d_ends, d_weighted * gates, d_before_gates])
        model.inc_grad("tokens_W", d_projected.T @ vectors)
        model.inc_grad("gates_b", d_before_gates.sum(axis=0))
        return d_projected @ W

    return Tokens(starts, ends, content * gates, gates), backprop


def _by_length(model: Model[InT, OutT], tokens: Tokens, layout: SpanLayout) -> Iterator[Spans]:
    xp = model.ops.xp
    lengths_E: Array = model.get_param("lengths_E")
    bias: Array = model.get_param("hidden_b")
    # Start with the empty spans, one per token.
    shorter = xp.arange(len(tokens.gates))
    sums, gates = xp.zeros_like(tokens.weighted), xp.zeros_like(tokens.gates)
    for length, starts, cells in layout.by_length:
        first, cells_of_length = xp.asarray(starts), xp.asarray(cells)
        last = first + (length - 1)
        # Every span of this length extends one of the shorter ones, and most of those have such an extension.
        extended = xp.searchsorted(shorter, first)
        sums, gates = sums[extended], gates[extended]
        sums += tokens.weighted[last]
        gates += tokens.gates[last]
        shorter = first
        row, content = length_row(length), sums / gates
        hidden = tokens.starts[first]
        hidden += tokens.ends[last]
        hidden += content
        hidden += lengths_E[row] + bias
        yield Spans(row, first, last, cells_of_length, content, gates, xp.maximum(hidden, 0.0, out=hidden))


def _add_gradients(d_tokens: Tokens, spans: Spans, d_hidden: Array) -> None:
    """Add the gradients of the tokens of some spans. Overwrites `d_hidden`.

    A span changes `weighted` and `gates` of all its tokens by the same amount. Only the change is written: added at the
    first token and subtracted after the last. Running sums over the tokens then give the gradients.
    """
    after = spans.last + 1
    # Spans of one length share neither a first nor a last token, so no index occurs twice.
    d_tokens.starts[spans.first] += d_hidden
    d_tokens.ends[spans.last] += d_hidden
    # content = sum of weighted / sum of gates
    d_hidden /= spans.gates
    d_tokens.weighted[spans.first] += d_hidden
    d_tokens.weighted[after] -= d_hidden
    d_hidden *= spans.content
    d_tokens.gates[spans.first] -= d_hidden
    d_tokens.gates[after] += d_hidden


def resize(model: Model[InT, OutT], nO: int) -> Model[InT, OutT]:
    """Make a copy with more labels. Those that the model has keep their weights."""
    nI, nH = model.get_dim("nI"), model.get_dim("nH")
    return copy_params(model, additive_span_scorer(nH, nI=nI, nO=nO, **model.attrs))
