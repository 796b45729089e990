"""Types that several layers share."""

from typing import Any, NamedTuple

from spacy.tokens import Doc
from thinc.api import Model, Ops
from thinc.types import Floats2d

# For arrays that are indexed with arrays or several slices: Thinc's array types know neither.
Array = Any
Tok2Vec = Model[list[Doc], list[Floats2d]]


class TokenVectors(NamedTuple):
    """The vectors of all tokens of a batch, or their gradients. What tokens share is there once, so that it is
    multiplied once: the vector of token t is `own[t]` followed by `shared[numbers[t]]`.

    own (Array): One row per token.
    shared (Array): One row per word.
    numbers (Array): The word of every token.
    """

    own: Array
    shared: Array
    numbers: Array

    @property
    def width(self) -> int:
        return int(self.own.shape[1] + self.shared.shape[1])


def as_token_vectors(ops: Ops, vectors: Floats2d | TokenVectors) -> TokenVectors:
    """Vectors of which tokens share nothing have one word without numbers."""
    if isinstance(vectors, TokenVectors):
        return vectors
    return TokenVectors(vectors, ops.alloc2f(1, 0), ops.alloc1i(len(vectors)))
