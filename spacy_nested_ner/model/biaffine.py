"""The paper's span scorer: a labelled and an unlabelled biaffine layer on the two borders.

    scores(i, j, t) = l_i U_t r_j + v_t l_i + w_t r_j + b_t  +  (the same without t, with its own l and r)

where l and r are projections of token vectors through a ReLU, with dropout in training. Rows are
worked through in blocks, so that with a limit on span length no n × n array is made.
"""

from collections.abc import Callable, Iterator
from functools import partial

from thinc.api import Model, glorot_uniform_init
from thinc.types import Floats2d, Floats3d

from ..decoders import SpanLayout
from .additive import copy_params

InT = tuple[Floats2d, SpanLayout]
OutT = Floats2d

# Rows of a block; columns are these and as many more as a span may reach beyond them.
_BLOCK = 64


def biaffine_span_scorer(
    projection_width: int,
    dropout: float,
    *,
    nI: int | None = None,
    nO: int | None = None,
    start_bias: float = -5.0,
) -> Model[InT, OutT]:
    """Token vectors and layout to packed scores.

    start_bias (float): Score of every mention before training.
    """
    return Model(
        "biaffine_span_scorer",
        forward,
        init=partial(init, start_bias=start_bias),
        dims={"nI": nI, "nP": projection_width, "nO": nO},
        params=dict.fromkeys(("tokens_W", "tokens_b", "U", "W", "b", "unlabelled_U", "unlabelled_W")),
        attrs={"start_bias": start_bias, "projection_dropout": dropout},
    )


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None, *, start_bias: float) -> None:
    if X is not None:
        model.set_dim("nI", X[0].shape[1])
    if Y is not None:
        model.set_dim("nO", Y.shape[0])
    nI, nP, nO = (model.get_dim(name) for name in ("nI", "nP", "nO"))
    ops = model.ops
    # Left and right of the labelled layer, left and right of the unlabelled one.
    model.set_param("tokens_W", ops.xp.concatenate([glorot_uniform_init(ops, (nP, nI)) for _ in range(4)]))
    model.set_param("tokens_b", ops.alloc1f(4 * nP))
    model.set_param("U", ops.alloc3f(nO, nP, nP))
    model.set_param("W", ops.alloc2f(nO, 2 * nP))
    model.set_param("b", ops.alloc1f(nO) + start_bias)
    model.set_param("unlabelled_U", ops.alloc2f(nP, nP))
    model.set_param("unlabelled_W", ops.alloc2f(1, 2 * nP))


def forward(model: Model[InT, OutT], X: InT, is_train: bool) -> tuple[OutT, Callable]:
    vectors, layout = X
    ops = model.ops
    projected = ops.gemm(vectors, model.get_param("tokens_W"), trans2=True) + model.get_param("tokens_b")
    mask = (projected > 0).astype("float32")
    rate = model.attrs["projection_dropout"] if is_train else 0.0
    if rate:
        mask *= ops.get_dropout_mask(projected.shape, rate)
    projected *= mask
    scores = ops.alloc2f(model.get_dim("nO"), layout.n_spans, zeros=False)
    for rows, columns, inside, cells in _blocks(layout, ops.xp):
        scores[:, cells] = _score_block(model, projected, rows, columns)[:, inside[0], inside[1]]

    def backprop(d_scores: OutT) -> InT:
        d_projected = ops.alloc2f(*projected.shape)
        for rows, columns, inside, cells in _blocks(layout, ops.xp):
            d_block = ops.alloc3f(len(d_scores), rows.stop - rows.start, columns.stop - columns.start)
            d_block[:, inside[0], inside[1]] = d_scores[:, cells]
            _backprop_block(model, projected, d_projected, rows, columns, d_block)
        model.inc_grad("b", d_scores.sum(axis=1))
        d_projected *= mask
        model.inc_grad("tokens_W", ops.gemm(d_projected, vectors, trans1=True))
        model.inc_grad("tokens_b", d_projected.sum(axis=0))
        return ops.gemm(d_projected, model.get_param("tokens_W")), layout

    return scores, backprop


def _blocks(layout: SpanLayout, xp) -> Iterator[tuple[slice, slice, tuple, slice]]:
    """Rows and columns (tokens of the batch) of a block, the places in it that are spans, and their cells."""
    offset = cell = 0
    for n in layout.lengths:
        width = n if layout.max_span_length is None else min(n, layout.max_span_length)
        for begin in range(0, n, _BLOCK):
            end = min(begin + _BLOCK, n)
            reach = min(end - 1 + width, n)
            i, j = xp.arange(begin, end)[:, None], xp.arange(begin, reach)[None]
            inside = xp.nonzero((j >= i) & (j - i < width))
            count = len(inside[0])
            rows, columns = slice(offset + begin, offset + end), slice(offset + begin, offset + reach)
            yield rows, columns, inside, slice(cell, cell + count)
            cell += count
        offset += n


def _parts(model: Model[InT, OutT], projected: Floats2d, rows: slice, columns: slice) -> list[Floats2d]:
    """Left and right of the labelled layer, left and right of the unlabelled one, for a block."""
    nP = model.get_dim("nP")
    sides = (rows, columns, rows, columns)
    return [projected[side, k * nP : (k + 1) * nP] for k, side in enumerate(sides)]


def _score_block(model: Model[InT, OutT], projected: Floats2d, rows: slice, columns: slice) -> Floats3d:
    xp, nP = model.ops.xp, model.get_dim("nP")
    left, right, plain_left, plain_right = _parts(model, projected, rows, columns)
    W, plain_W = model.get_param("W"), model.get_param("unlabelled_W")
    scores = xp.matmul(xp.matmul(left, model.get_param("U")), right.T)
    scores += (W[:, :nP] @ left.T)[:, :, None] + (W[:, nP:] @ right.T)[:, None, :]
    plain = plain_left @ model.get_param("unlabelled_U") @ plain_right.T
    plain += (plain_W[:, :nP] @ plain_left.T).T + plain_W[:, nP:] @ plain_right.T
    return scores + plain[None] + model.get_param("b")[:, None, None]


def _backprop_block(
    model: Model[InT, OutT], projected: Floats2d, d_projected: Floats2d, rows: slice, columns: slice, d_block: Floats3d
) -> None:
    xp, nP = model.ops.xp, model.get_dim("nP")
    left, right, plain_left, plain_right = _parts(model, projected, rows, columns)
    d_left, d_right, d_plain_left, d_plain_right = _parts(model, d_projected, rows, columns)
    U, W = model.get_param("U"), model.get_param("W")
    plain_U, plain_W = model.get_param("unlabelled_U"), model.get_param("unlabelled_W")
    by_row, by_column = d_block.sum(axis=2), d_block.sum(axis=1)
    d_through = xp.matmul(d_block, right)
    model.inc_grad("U", xp.matmul(left.T, d_through))
    model.inc_grad("W", xp.concatenate([by_row @ left, by_column @ right], axis=1))
    d_left += xp.matmul(d_through, U.transpose(0, 2, 1)).sum(axis=0) + by_row.T @ W[:, :nP]
    d_right += xp.matmul(d_block.transpose(0, 2, 1), xp.matmul(left, U)).sum(axis=0) + by_column.T @ W[:, nP:]
    d_plain = d_block.sum(axis=0)
    row, column = d_plain.sum(axis=1)[None], d_plain.sum(axis=0)[None]
    model.inc_grad("unlabelled_U", plain_left.T @ d_plain @ plain_right)
    model.inc_grad("unlabelled_W", xp.concatenate([row @ plain_left, column @ plain_right], axis=1))
    d_plain_left += d_plain @ plain_right @ plain_U.T + row.T @ plain_W[:, :nP]
    d_plain_right += d_plain.T @ plain_left @ plain_U + column.T @ plain_W[:, nP:]


def resize(model: Model[InT, OutT], nO: int) -> Model[InT, OutT]:
    """The same with more labels; those there are keep their weights."""
    nI, nP = model.get_dim("nI"), model.get_dim("nP")
    dropout, start_bias = model.attrs["projection_dropout"], model.attrs["start_bias"]
    return copy_params(model, biaffine_span_scorer(nP, dropout, nI=nI, nO=nO, start_bias=start_bias))
