"""The hidden layer of all spans without a compiled kernel: for other devices than the CPU, and as its twin in tests.

Spans are processed by length, shortest first: the two sums of the content grow by one token from one length to the
next, and the scores are the only array that covers all spans.
"""

from collections.abc import Iterator
from types import ModuleType
from typing import NamedTuple

from ..decoders import SpanLayout
from ._lengths import length_row
from ._types import Array, TokenVectors


class Tokens(NamedTuple):
    """What each token adds to the spans that start with it, end with it or contain it; or the gradients of that."""

    starts: Array  # A x_t
    ends: Array  # B x_t
    weighted: Array  # gate(t) * C x_t
    gates: Array  # gate(t)


class Spans(NamedTuple):
    """All spans of one length."""

    length_row: int  # the row of that length in the biases
    first: Array  # the first token of each span, counted over the whole batch
    last: Array  # the last token of each span
    cells: Array  # their columns in the scores
    content: Array
    gates: Array  # the sum of the gates of each span
    hidden: Array


class SpansByLength:
    """The hidden layer of all spans of a batch, as `_kernels.additive.FusedSpans` has it.

    projected (TokenVectors): What tokens add to starts | ends | contents | gates before the sigmoid.
    gates (Array): Of every token.
    biases (Array): Of spans, by row of their length.
    W, b (Array): The output layer.
    layout (SpanLayout): Which spans there are.
    xp (ModuleType): NumPy or CuPy.
    """

    def __init__(
        self,
        projected: TokenVectors,
        gates: Array,
        biases: Array,
        W: Array,
        b: Array,
        layout: SpanLayout,
        *,
        xp: ModuleType,
    ) -> None:
        tokens = projected.own + projected.shared[projected.numbers]
        starts, ends, self._content, _ = xp.split(tokens, 4, axis=1)
        self._tokens = Tokens(starts, ends, self._content * gates, gates)
        self._biases, self._W, self._b, self._layout, self._xp = biases, W, b, layout, xp

    def scores(self) -> Array:
        """One row per label, one column per span in the order of the layout."""
        W: Array = self._W
        scores = self._xp.empty((len(W), self._layout.n_spans), dtype=W.dtype)
        for spans in self._by_length():
            scores[:, spans.cells] = W @ spans.hidden.T + self._b[:, None]
        return scores

    def gradients(self, d_scores: Array) -> tuple[Array, Array, Array]:
        """Of the projected vectors (the gates after the sigmoid), W and the biases, from those of the scores."""
        xp, W = self._xp, self._W
        d_W, d_biases = xp.zeros_like(W), xp.zeros_like(self._biases)
        n_tokens, nH = self._tokens.gates.shape
        # The last row collects what _add_gradients subtracts after the last token.
        d_tokens = Tokens(*(xp.zeros((n_tokens + 1, nH), dtype=W.dtype) for _ in Tokens._fields))
        for spans in self._by_length():
            d_out = d_scores[:, spans.cells]
            d_W += d_out @ spans.hidden
            d_hidden = d_out.T @ W
            d_hidden *= spans.hidden > 0
            d_biases[spans.length_row] += d_hidden.sum(axis=0)
            _add_gradients(d_tokens, spans, d_hidden)
        d_weighted, d_gates = (xp.cumsum(changes, axis=0)[:-1] for changes in (d_tokens.weighted, d_tokens.gates))
        d_gates += d_weighted * self._content
        d_projected = xp.hstack([d_tokens.starts[:-1], d_tokens.ends[:-1], d_weighted * self._tokens.gates, d_gates])
        return d_projected, d_W, d_biases

    def _by_length(self) -> Iterator[Spans]:
        xp, tokens = self._xp, self._tokens
        # Start with the empty spans, one per token.
        shorter = xp.arange(len(tokens.gates))
        sums, gates = xp.zeros_like(tokens.weighted), xp.zeros_like(tokens.gates)
        for length, starts, cells in self._layout.by_length:
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
            hidden += self._biases[row]
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
