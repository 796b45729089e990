"""Score a span with the paper's two biaffine layers, one labeled and one unlabeled, on its first and last token.

    scores(i, j, t) = l_i U_t r_j + v_t l_i + w_t r_j + b_t  +  (the same without t, with its own l and r)

where l and r are projections of the token vectors through a ReLU, with dropout during training. Rows are processed in
blocks, so a limit on span length avoids n × n arrays.
"""

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import NamedTuple

from thinc.api import Model, glorot_uniform_init
from thinc.types import Floats2d

from ..decoders import SpanLayout
from ._resize import copy_params
from ._types import Array
from .one_thread import one_thread

InT = tuple[Floats2d, SpanLayout]
OutT = Floats2d

# First tokens per block. Its last tokens are these, and those that spans reach beyond them.
_BLOCK = 64


def biaffine_span_scorer(
    projection_width: int,
    dropout: float,
    *,
    nI: int | None = None,
    nO: int | None = None,
    start_bias: float = -5.0,
) -> Model[InT, OutT]:
    """Map token vectors and a layout to packed scores.

    projection_width (int): Width of each of the four projections.
    dropout (float): Dropout of the projections during training.
    start_bias (float): Score of every mention before training: well below 0, so that an untrained model finds none.
    """
    return Model(
        "biaffine_span_scorer",
        forward,
        init=init,
        dims={"nI": nI, "nP": projection_width, "nO": nO},
        # Saved models contain these names, hence the spelling.
        params=dict.fromkeys(("tokens_W", "tokens_b", "U", "W", "b", "unlabelled_U", "unlabelled_W")),
        attrs={"start_bias": start_bias, "projection_dropout": dropout},
    )


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    if X is not None:
        model.set_dim("nI", X[0].shape[1])
    if Y is not None:
        model.set_dim("nO", Y.shape[0])
    nI, nP, nO = (model.get_dim(name) for name in ("nI", "nP", "nO"))
    ops = model.ops
    # Left and right of the labeled layer, left and right of the unlabeled one.
    model.set_param("tokens_W", ops.xp.concatenate([glorot_uniform_init(ops, (nP, nI)) for _ in range(4)]))
    model.set_param("tokens_b", ops.alloc1f(4 * nP))
    model.set_param("U", ops.alloc3f(nO, nP, nP))
    model.set_param("W", ops.alloc2f(nO, 2 * nP))
    model.set_param("b", ops.alloc1f(nO) + model.attrs["start_bias"])
    model.set_param("unlabelled_U", ops.alloc2f(nP, nP))
    model.set_param("unlabelled_W", ops.alloc2f(1, 2 * nP))


def forward(model: Model[InT, OutT], X: InT, is_train: bool) -> tuple[OutT, Callable]:
    vectors, layout = X
    ops = model.ops
    W: Array = model.get_param("tokens_W")
    with one_thread:
        projected: Array = vectors @ W.T + model.get_param("tokens_b")
    mask = (projected > 0).astype("float32")
    rate = model.attrs["projection_dropout"] if is_train else 0.0
    if rate:
        mask *= ops.get_dropout_mask(projected.shape, rate)
    projected *= mask
    scores: Array = ops.alloc2f(model.get_dim("nO"), layout.n_spans, zeros=False)
    with one_thread:
        for block in _blocks(layout, ops.xp):
            scores[:, block.cells] = _score(model, projected, block)[:, block.inside[0], block.inside[1]]

    def backprop(d_scores: Array) -> InT:
        d_projected: Array = ops.alloc2f(*projected.shape)
        with one_thread:
            for block in _blocks(layout, ops.xp):
                d_block: Array = ops.alloc3f(len(d_scores), *block.shape)
                d_block[:, block.inside[0], block.inside[1]] = d_scores[:, block.cells]
                _add_gradients(model, projected, d_projected, block, d_block)
            model.inc_grad("b", d_scores.sum(axis=1))
            d_projected *= mask
            model.inc_grad("tokens_W", d_projected.T @ vectors)
            model.inc_grad("tokens_b", d_projected.sum(axis=0))
            return d_projected @ W, layout

    return scores, backprop


class Block(NamedTuple):
    """A rectangle of first and last tokens, counted over the whole batch."""

    rows: slice  # the first tokens
    columns: slice  # the last tokens
    inside: tuple[Array, Array]  # the rows and columns of the block that are spans
    cells: slice  # the columns of these spans in the scores

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows.stop - self.rows.start, self.columns.stop - self.columns.start


def _blocks(layout: SpanLayout, xp: ModuleType) -> Iterator[Block]:
    for offset, n in zip(layout.token_offsets.tolist(), layout.lengths):
        width = n if layout.max_span_length is None else min(n, layout.max_span_length)
        for begin in range(offset, offset + n, _BLOCK):
            end = min(begin + _BLOCK, offset + n)
            reach = min(end - 1 + width, offset + n)
            i, j = xp.arange(begin, end)[:, None], xp.arange(begin, reach)[None]
            inside = xp.nonzero((j >= i) & (j - i < width))
            cell = int(layout.row_offsets[begin])
            yield Block(slice(begin, end), slice(begin, reach), inside, slice(cell, cell + len(inside[0])))


def _parts(model: Model[InT, OutT], projected: Array, block: Block) -> list[Array]:
    """Left and right of the labeled layer, left and right of the unlabeled one: views."""
    nP = model.get_dim("nP")
    sides = (block.rows, block.columns, block.rows, block.columns)
    return [projected[side, k * nP : (k + 1) * nP] for k, side in enumerate(sides)]


def _params(model: Model[InT, OutT]) -> list[Array]:
    return [model.get_param(name) for name in ("U", "W", "unlabelled_U", "unlabelled_W")]


def _score(model: Model[InT, OutT], projected: Array, block: Block) -> Array:
    """The scores of a block, including places that are no spans."""
    xp, nP = model.ops.xp, model.get_dim("nP")
    U, W, plain_U, plain_W = _params(model)
    b: Array = model.get_param("b")
    left, right, plain_left, plain_right = _parts(model, projected, block)
    scores = xp.matmul(xp.matmul(left, U), right.T)
    scores += (W[:, :nP] @ left.T)[:, :, None] + (W[:, nP:] @ right.T)[:, None, :]
    plain = plain_left @ plain_U @ plain_right.T
    plain += (plain_W[:, :nP] @ plain_left.T).T + plain_W[:, nP:] @ plain_right.T
    return scores + plain[None] + b[:, None, None]


def _add_gradients(model: Model[InT, OutT], projected: Array, d_projected: Array, block: Block, d_block: Array) -> None:
    """Add the gradients of a block to those of the parameters and projections."""
    xp, nP = model.ops.xp, model.get_dim("nP")
    U, W, plain_U, plain_W = _params(model)
    left, right, plain_left, plain_right = _parts(model, projected, block)
    d_left, d_right, d_plain_left, d_plain_right = _parts(model, d_projected, block)
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
    """Make a copy with more labels. Those that the model has keep their weights."""
    nI, nP = model.get_dim("nI"), model.get_dim("nP")
    dropout, start_bias = model.attrs["projection_dropout"], model.attrs["start_bias"]
    return copy_params(model, biaffine_span_scorer(nP, dropout, nI=nI, nO=nO, start_bias=start_bias))
