"""A span scored from its start, its end, its content and its length, in one hidden layer.

    hidden(i, j) = relu(A x_i + B x_j + C mean(x_i … x_j) + length(j - i + 1) + bias)
    scores(i, j) = W hidden(i, j) + b

Spans are worked through by length, shortest first: sums of contents grow by one token from one
length to the next, and no array of all spans is ever made but the scores themselves. The hidden
layer is computed again for the gradient, which is cheaper than keeping it. Matrix products are those of
the array library: NumPy's are faster than the ones Thinc brings.
"""

from collections.abc import Callable, Iterator
from functools import partial

from thinc.api import Model, glorot_uniform_init
from thinc.types import Floats2d

from .segments import Segments

InT = tuple[Floats2d, Segments]
OutT = Floats2d

# Lengths up to this have an embedding of their own, longer ones two for every doubling.
_OWN_LENGTHS = 16
_N_LENGTHS = 28


def additive_span_scorer(
    hidden_width: int, *, nI: int | None = None, nO: int | None = None, start_bias: float = -5.0
) -> Model[InT, OutT]:
    """Token vectors and segments to packed scores.

    start_bias (float): Score of every mention before training: well below 0, so that an
        untrained model finds none.
    """
    return Model(
        "additive_span_scorer",
        forward,
        init=partial(init, start_bias=start_bias),
        dims={"nI": nI, "nH": hidden_width, "nO": nO},
        params=dict.fromkeys(("tokens_W", "hidden_b", "lengths_E", "W", "b")),
        attrs={"start_bias": start_bias},
    )


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None, *, start_bias: float) -> None:
    if X is not None:
        model.set_dim("nI", X[0].shape[1])
    if Y is not None:
        model.set_dim("nO", Y.shape[0])
    nI, nH, nO = (model.get_dim(name) for name in ("nI", "nH", "nO"))
    ops = model.ops
    weights = [glorot_uniform_init(ops, (nH, nI)) for _ in range(3)]
    model.set_param("tokens_W", ops.xp.concatenate(weights))
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
    vectors, segments = X
    ops = model.ops
    W, b = model.get_param("W"), model.get_param("b")
    projected = vectors @ model.get_param("tokens_W").T
    scores = ops.alloc2f(W.shape[0], segments.n_spans, zeros=False)
    for _, _, cells, hidden in _hidden_by_length(model, projected, segments):
        scores[:, cells] = W @ hidden.T + b[:, None]

    def backprop(d_scores: OutT) -> InT:
        return _backprop(model, vectors, projected, segments, d_scores), segments

    return scores, backprop


def _hidden_by_length(
    model: Model[InT, OutT], projected: Floats2d, segments: Segments
) -> Iterator[tuple[int, Floats2d, Floats2d, Floats2d]]:
    """For every length: it, the first tokens and the cells of its spans, and their hidden layer."""
    xp, nH = model.ops.xp, model.get_dim("nH")
    lengths_E, bias = model.get_param("lengths_E"), model.get_param("hidden_b")
    starts_part, ends_part, content = projected[:, :nH], projected[:, nH : 2 * nH], projected[:, 2 * nH :]
    shorter = sums = None
    for length, starts, cells in segments.by_length():
        starts, cells = xp.asarray(starts), xp.asarray(cells)
        last = starts + (length - 1)
        if shorter is None:
            sums = content[starts]
        else:
            # Spans of this length begin where some of the shorter ones did.
            sums = sums[xp.searchsorted(shorter, starts)]
            sums += content[last]
        shorter = starts
        hidden = starts_part[starts]
        hidden += ends_part[last]
        hidden += sums * xp.float32(1.0 / length)
        hidden += lengths_E[_length_row(length)] + bias
        yield length, starts, cells, xp.maximum(hidden, 0.0, out=hidden)


def _backprop(
    model: Model[InT, OutT], vectors: Floats2d, projected: Floats2d, segments: Segments, d_scores: OutT
) -> Floats2d:
    ops, nH = model.ops, model.get_dim("nH")
    xp = ops.xp
    W = model.get_param("W")
    d_W = ops.alloc2f(*W.shape)
    d_lengths = ops.alloc2f(_N_LENGTHS, nH)
    d_projected = ops.alloc2f(*projected.shape)
    d_starts, d_ends = d_projected[:, :nH], d_projected[:, nH : 2 * nH]
    # Content: what a span adds to all its tokens is added at its first and taken off after its last.
    d_content = ops.alloc2f(projected.shape[0] + 1, nH)
    for length, starts, cells, hidden in _hidden_by_length(model, projected, segments):
        d_out = d_scores[:, cells]
        d_W += d_out @ hidden
        d_hidden = d_out.T @ W
        d_hidden *= hidden > 0
        d_lengths[_length_row(length)] += d_hidden.sum(axis=0)
        # Every token is at most once a first and once a last token of this length.
        d_starts[starts] += d_hidden
        d_ends[starts + (length - 1)] += d_hidden
        d_hidden *= xp.float32(1.0 / length)
        d_content[starts] += d_hidden
        d_content[starts + length] -= d_hidden
    d_projected[:, 2 * nH :] = xp.cumsum(d_content, axis=0)[:-1]
    model.inc_grad("W", d_W)
    model.inc_grad("b", d_scores.sum(axis=1))
    model.inc_grad("lengths_E", d_lengths)
    model.inc_grad("hidden_b", d_lengths.sum(axis=0))
    model.inc_grad("tokens_W", d_projected.T @ vectors)
    return d_projected @ model.get_param("tokens_W")


def resize(model: Model[InT, OutT], nO: int) -> Model[InT, OutT]:
    """The same with more labels; those there are keep their weights."""
    nI, nH = model.get_dim("nI"), model.get_dim("nH")
    larger = additive_span_scorer(nH, nI=nI, nO=nO, start_bias=model.attrs["start_bias"])
    return copy_params(model, larger)


def copy_params(model: Model, larger: Model) -> Model:
    """Initialize a model with more labels; the labels there are keep their weights."""
    larger.initialize()
    for name in model.param_names:
        old, new = model.get_param(name), larger.get_param(name)
        new[: len(old)] = old
    return larger
