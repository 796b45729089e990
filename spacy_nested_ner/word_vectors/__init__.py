"""Word vectors that are put together from the pieces of a transformer."""

from .making import WIDTH, WordVectors, make_word_vectors
from .piece_vectors import PieceVectors

__all__ = ["WIDTH", "PieceVectors", "WordVectors", "make_word_vectors"]
