"""Let every span see its neighbors: those that start or end one token earlier or later.

    z_0(i, j)     = the first `width` scores of the inner scorer
    z_{k+1}(i, j) = z_k(i, j) + layer_k(z_k of the nine spans (i - 1 … i + 1, j - 1 … j + 1))
    scores(i, j)  = the other scores of the inner scorer + W z_depth(i, j)

A neighbor that does not exist is a row of zeros. It is what spaCy's MaxoutWindowEncoder is for tokens, in two
dimensions: a convolution over the grid of spans, as in CNN-NER (Yan et al. 2023).
"""

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
from thinc.api import Model, Ops, Relu, glorot_uniform_init

from ..decoders import SpanLayout
from ._types import Array, TokenVectors, as_token_vectors
from .additive import InT, OutT, additive_span_scorer
from .additive import resize as resize_additive
from .one_thread import one_thread

# The nine neighbors of a span, itself among them, by what is added to its first and to its last token. The opposite of
# neighbor k is neighbor 8 - k.
_STEPS = tuple(product((-1, 0, 1), repeat=2))
# How many spans are scored at once in prediction: their neighbors need 9 * width numbers each.
SPANS_AT_ONCE = 2**16


def neighbor_span_scorer(
    hidden_width: int, width: int, depth: int, *, gated: bool = True, nO: int | None = None
) -> Model[InT, OutT]:
    """Map token vectors and a layout to packed scores.

    hidden_width, gated: Of the inner scorer, an additive one.
    width (int): How many features neighbors see of each other.
    depth (int): The number of layers: a span sees others that start or end as many tokens away.
    """
    if width < 1 or depth < 1:
        raise ValueError(
            f"neighbor_width = {width} and neighbor_depth = {depth}; expected whole numbers from 1 on; set "
            f"neighbor_width = 0 to leave neighbors out"
        )
    layers = [Relu(width, 9 * width, normalize=True) for _ in range(depth)]
    return _build([additive_span_scorer(hidden_width, gated=gated), *layers], width, nO)


def _build(layers: list[Model], width: int, nO: int | None) -> Model[InT, OutT]:
    return Model(
        "neighbor_span_scorer",
        forward,
        init=init,
        layers=layers,
        dims={"nI": None, "nO": nO},
        params={"W": None},
        attrs={"width": width},
    )


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    if X is not None:
        model.set_dim("nI", as_token_vectors(model.ops, X[0]).width)
    if Y is not None:
        model.set_dim("nO", Y.shape[0])
    inner, *blocks = model.layers
    width, nO = model.attrs["width"], model.get_dim("nO")
    inner.set_dim("nI", model.get_dim("nI"), force=True)
    inner.set_dim("nO", width + nO, force=True)
    for layer in (inner, *blocks):
        layer.initialize()
    # Labels start with a low score and without weights; features must differ.
    W: Array = inner.get_param("W")
    b: Array = inner.get_param("b")
    W[:width] = glorot_uniform_init(model.ops, (width, W.shape[1]))
    b[:width] = 0
    model.set_param("W", model.ops.alloc2f(nO, width))


def forward(model: Model[InT, OutT], X: InT, is_train: bool) -> tuple[OutT, Callable]:
    ops, width = model.ops, model.attrs["width"]
    vectors, layout = X
    if not is_train:
        scores = [_predict(model, part) for part in _parts(ops, as_token_vectors(ops, vectors), layout)]
        return ops.xp.concatenate(scores, axis=1), _no_backprop
    W: Array = model.get_param("W")
    inner, *blocks = model.layers
    packed, backprop_inner = inner(X, is_train)
    features = ops.as_contig(packed[:width].T)
    neighbors: Array = ops.xp.asarray(neighbors_of(layout))
    backprops = []
    for block in blocks:
        change, backprop_block = block(_expand(ops, features, neighbors), is_train)
        features = features + change
        backprops.append(backprop_block)

    def backprop(d_scores: Array) -> InT:
        with one_thread:
            model.inc_grad("W", d_scores @ features)
            d_features = ops.as_contig(d_scores.T) @ W
        for backprop_block in reversed(backprops):
            d_features = d_features + _collapse(ops, backprop_block(d_features), neighbors)
        d_vectors: InT = backprop_inner(ops.xp.concatenate([d_features.T, d_scores]))
        return d_vectors

    with one_thread:
        return packed[width:] + W @ features.T, backprop


def _predict(model: Model[InT, OutT], X: InT) -> Array:
    """The scores alone. What a layer sees, nine times as much as the features, is there for some spans at a time."""
    ops, width = model.ops, model.attrs["width"]
    inner, *blocks = model.layers
    packed: Array = inner.predict(X)
    features = ops.as_contig(packed[:width].T)
    neighbors: Array = ops.xp.asarray(neighbors_of(X[1]))
    for block in blocks:
        parts = [neighbors[i : i + SPANS_AT_ONCE] for i in range(0, max(1, len(neighbors)), SPANS_AT_ONCE)]
        features = features + ops.xp.concatenate([block.predict(_expand(ops, features, part)) for part in parts])
    W: Array = model.get_param("W")
    with one_thread:
        return packed[width:] + W @ features.T


def neighbors_of(layout: SpanLayout) -> np.ndarray:
    """The cells of the nine neighbors of every span. What does not exist has the cell after the last one."""
    starts, ends = layout.starts_and_ends
    segments = np.repeat(np.arange(len(layout)), np.diff(layout.offsets))
    first, last = layout.token_offsets[segments], layout.token_offsets[segments + 1] - 1
    cells = np.full((layout.n_spans, len(_STEPS)), layout.n_spans)
    for k, (to_start, to_end) in enumerate(_STEPS):
        start, end = starts + to_start, ends + to_end
        exists = (first <= start) & (start <= end) & (end <= last) & (end - start < layout.longest_span)
        cells[exists, k] = layout.row_offsets[start[exists]] + (end - start)[exists]
    return cells


def _expand(ops: Ops, features: Array, neighbors: Array) -> Array:
    """The features of the neighbors of every span, in one row."""
    padded: Array = ops.xp.concatenate([features, ops.alloc2f(1, features.shape[1])])
    return padded[neighbors].reshape(len(neighbors), neighbors.shape[1] * features.shape[1])


def _collapse(ops: Ops, d_expanded: Array, neighbors: Array) -> Array:
    """The gradient of what `_expand` takes. A span is neighbor k of the one that is its neighbor 8 - k, so the
    gradients of a span can be looked up."""
    n, size = neighbors.shape
    width = d_expanded.shape[1] // size
    padded: Array = ops.xp.concatenate([d_expanded.reshape(n, size, width), ops.alloc3f(1, size, width)])
    d_features: Array = ops.alloc2f(n, width)
    for k in range(size):
        d_features += padded[neighbors[:, size - 1 - k], k]
    return d_features


def _parts(ops: Ops, vectors: TokenVectors, layout: SpanLayout) -> Iterator[InT]:
    """Groups of segments with about `SPANS_AT_ONCE` spans. Neighbors are in the same segment."""
    if layout.n_spans <= SPANS_AT_ONCE:
        yield vectors, layout
        return
    groups = layout.offsets[:-1] // SPANS_AT_ONCE
    for segments in np.split(np.arange(len(layout)), np.flatnonzero(np.diff(groups)) + 1):
        tokens = slice(layout.token_offsets[segments[0]], layout.token_offsets[segments[-1] + 1])
        used, numbers = ops.xp.unique(vectors.numbers[tokens], return_inverse=True)
        part = TokenVectors(vectors.own[tokens], vectors.shared[used], ops.asarray1i(numbers))
        yield part, layout.select(segments.tolist())


def _no_backprop(d_scores: Array) -> InT:
    raise ValueError("only scores of training have gradients; call the model with is_train=True")


def resize(model: Model[InT, OutT], nO: int) -> Model[InT, OutT]:
    """Make a copy with more labels. Those that the model has keep their weights."""
    inner, *blocks = model.layers
    width = model.attrs["width"]
    larger = _build([resize_additive(inner, width + nO), *(block.copy() for block in blocks)], width, nO)
    larger.set_dim("nI", model.get_dim("nI"))
    old: Array = model.get_param("W")
    new: Array = model.ops.alloc2f(nO, width)
    new[: len(old)] = old
    larger.set_param("W", new)
    return larger
