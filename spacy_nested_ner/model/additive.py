"""A span scored from its start, its end, its content and its length, in one hidden layer.

    hidden(i, j) = relu(A x_i + B x_j + content(i, j) + length(j - i + 1) + bias)
    scores(i, j) = W hidden(i, j) + b
    gate(t) = sigmoid(D x_t + d) + 1/16
    content(i, j) = sum(gate(t) * C x_t for t in i … j) / sum(gate(t) for t in i … j)

The content is a mean in which every token has weights of its own, one a unit of the hidden layer, so that the words
that tell what a mention is can count more than the rest.

Spans are worked through by length, shortest first: sums of contents grow by one token from one
length to the next, and no array of all spans is ever made but the scores themselves. The hidden
layer is computed again for the gradient, which is cheaper than keeping it. Matrix products are those of
the array library: NumPy's are faster than the ones Thinc brings.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from thinc.api import Model, glorot_uniform_init
from thinc.types import Floats2d, Ints1d

from ..decoders import SpanLayout

InT = tuple[Floats2d, SpanLayout]
OutT = Floats2d

# No gate is ever closed: sums of them are divided by.
_LEAST_GATE = 1 / 16
# Lengths up to this have an embedding of their own, longer ones two for every doubling.
_OWN_LENGTHS = 16
_N_LENGTHS = 28


def additive_span_scorer(
    hidden_width: int, *, gated: bool = True, nI: int | None = None, nO: int | None = None, start_bias: float = -5.0
) -> Model[InT, OutT]:
    """Token vectors and layout to packed scores.

    gated (bool): Whether there are gates; without, the content is the plain mean.
    start_bias (float): Score of every mention before training: well below 0, so that an
        untrained model finds none.
    """
    return Model(
        "additive_span_scorer",
        forward,
        init=partial(init, start_bias=start_bias),
        dims={"nI": nI, "nH": hidden_width, "nO": nO},
        params=dict.fromkeys(("tokens_W", "gates_b", "hidden_b", "lengths_E", "W", "b")),
        attrs={"gated": gated, "start_bias": start_bias},
    )


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None, *, start_bias: float) -> None:
    if X is not None:
        model.set_dim("nI", X[0].shape[1])
    if Y is not None:
        model.set_dim("nO", Y.shape[0])
    nI, nH, nO = (model.get_dim(name) for name in ("nI", "nH", "nO"))
    ops = model.ops
    weights = [glorot_uniform_init(ops, (nH, nI)) for _ in range(3)]
    # All gates are the same before training.
    model.set_param("tokens_W", ops.xp.concatenate([*weights, ops.alloc2f(nH, nI)]))
    model.set_param("gates_b", ops.alloc1f(nH))
    model.set_param("hidden_b", ops.alloc1f(nH))
    model.set_param("lengths_E", glorot_uniform_init(ops, (_N_LENGTHS, nH)))
    model.set_param("W", ops.alloc2f(nO, nH))
    model.set_param("b", ops.alloc1f(nO) + start_bias)


def _length_row(length: int) -> int:
    """Which embedding a length has: 17–23, 24–31, 32–47, 48–63, 64–95, … share one."""
    if length <= _OWN_LENGTHS:
        return length - 1
    doublings = length.bit_length() - _OWN_LENGTHS.bit_length()
    upper_half = (length >> (length.bit_length() - 2)) & 1
    return min(_OWN_LENGTHS + 2 * doublings + upper_half, _N_LENGTHS - 1)


def forward(model: Model[InT, OutT], X: InT, is_train: bool) -> tuple[OutT, Callable]:
    vectors, layout = X
    ops = model.ops
    W, b = model.get_param("W"), model.get_param("b")
    tokens = _project(model, vectors)
    scores = ops.alloc2f(W.shape[0], layout.n_spans, zeros=False)
    for spans in _by_length(model, tokens, layout):
        scores[:, spans.cells] = W @ spans.hidden.T + b[:, None]

    def backprop(d_scores: OutT) -> InT:
        return _backprop(model, vectors, tokens, layout, d_scores), layout

    return scores, backprop


class Tokens(NamedTuple):
    """What tokens give to the hidden layer of spans: as their start, as their end, and as part of their content."""

    starts: Floats2d
    ends: Floats2d
    content: Floats2d
    gates: Floats2d


class Spans(NamedTuple):
    """All spans of one length: their first tokens, their cells in the scores, their content, the sums of their
    gates, and their hidden layer."""

    length: int
    starts: Ints1d
    cells: Ints1d
    content: Floats2d
    gates: Floats2d
    hidden: Floats2d


def _project(model: Model[InT, OutT], vectors: Floats2d) -> Tokens:
    projected = vectors @ model.get_param("tokens_W").T
    starts, ends, content, gates = model.ops.xp.split(projected, 4, axis=1)
    return Tokens(starts, ends, content, model.ops.sigmoid(gates + model.get_param("gates_b")) + _LEAST_GATE)


def _by_length(model: Model[InT, OutT], tokens: Tokens, layout: SpanLayout) -> Iterator[Spans]:
    xp = model.ops.xp
    lengths_E, bias = model.get_param("lengths_E"), model.get_param("hidden_b")
    weighted = tokens.content * tokens.gates
    shorter = sums = gates = None
    for length, starts, cells in layout.by_length:
        starts, cells = xp.asarray(starts), xp.asarray(cells)
        last = starts + (length - 1)
        if shorter is None:
            sums, gates = weighted[starts], tokens.gates[starts]
        else:
            # Spans of this length begin where some of the shorter ones did.
            kept = xp.searchsorted(shorter, starts)
            sums, gates = sums[kept], gates[kept]
            sums += weighted[last]
            gates += tokens.gates[last]
        shorter = starts
        content = sums / gates
        hidden = tokens.starts[starts]
        hidden += tokens.ends[last]
        hidden += content
        hidden += lengths_E[_length_row(length)] + bias
        yield Spans(length, starts, cells, content, gates, xp.maximum(hidden, 0.0, out=hidden))


def _backprop(
    model: Model[InT, OutT], vectors: Floats2d, tokens: Tokens, layout: SpanLayout, d_scores: OutT
) -> Floats2d:
    ops, nH = model.ops, model.get_dim("nH")
    xp = ops.xp
    W, n_tokens = model.get_param("W"), len(vectors)
    d_W = ops.alloc2f(*W.shape)
    d_lengths = ops.alloc2f(_N_LENGTHS, nH)
    d_projected = ops.alloc2f(n_tokens, 4 * nH)
    d_starts, d_ends, d_content, d_gates = xp.split(d_projected, 4, axis=1)
    # Sums over the tokens of a span: what it adds to all of them is added at its first and taken off after its last.
    d_sums, d_gate_sums = ops.alloc2f(n_tokens + 1, nH), ops.alloc2f(n_tokens + 1, nH)
    for spans in _by_length(model, tokens, layout):
        starts, after = spans.starts, spans.starts + spans.length
        d_out = d_scores[:, spans.cells]
        d_W += d_out @ spans.hidden
        d_hidden = d_out.T @ W
        d_hidden *= spans.hidden > 0
        d_lengths[_length_row(spans.length)] += d_hidden.sum(axis=0)
        # Every token is at most once a first and once a last token of this length.
        d_starts[starts] += d_hidden
        d_ends[after - 1] += d_hidden
        d_hidden /= spans.gates
        d_sums[starts] += d_hidden
        d_sums[after] -= d_hidden
        d_hidden *= spans.content
        d_gate_sums[starts] -= d_hidden
        d_gate_sums[after] += d_hidden
    d_weighted = xp.cumsum(d_sums, axis=0)[:-1]
    d_content += d_weighted * tokens.gates
    if model.attrs["gated"]:
        opened = tokens.gates - _LEAST_GATE
        d_gates += (d_weighted * tokens.content + xp.cumsum(d_gate_sums, axis=0)[:-1]) * opened * (1 - opened)
    model.inc_grad("W", d_W)
    model.inc_grad("b", d_scores.sum(axis=1))
    model.inc_grad("lengths_E", d_lengths)
    model.inc_grad("hidden_b", d_lengths.sum(axis=0))
    model.inc_grad("tokens_W", d_projected.T @ vectors)
    model.inc_grad("gates_b", d_gates.sum(axis=0))
    return d_projected @ model.get_param("tokens_W")


def resize(model: Model[InT, OutT], nO: int) -> Model[InT, OutT]:
    """The same with more labels; those there are keep their weights."""
    nI, nH = model.get_dim("nI"), model.get_dim("nH")
    larger = additive_span_scorer(nH, nI=nI, nO=nO, **model.attrs)
    return copy_params(model, larger)


def copy_params(model: Model, larger: Model) -> Model:
    """Initialize a model with more labels; the labels there are keep their weights."""
    larger.initialize()
    for name in model.param_names:
        old, new = model.get_param(name), larger.get_param(name)
        new[: len(old)] = old
    return larger
