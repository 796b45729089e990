"""Append to each token vector what is known about its word: its characters, and its other occurrences in the doc.

    known(w) = [mean(x_t for every token t of the doc that is w), mean(E[g] for every character n-gram g of w)]
    output_t = [x_t, known(word of t)]

A name that the encoder has never seen resembles others of its kind, and what one sentence of a doc says about it
helps in the next.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from spacy.strings import StringStore, get_string_id
from spacy.tokens import Doc
from thinc.api import Model, uniform_init
from thinc.types import Floats2d

from ._types import Array, Tok2Vec

InT = list[Doc]
OutT = Floats2d

# Characters per n-gram. A word is marked at both ends, and with these marks is itself one of its n-grams.
_SIZES = (3, 4, 5)
_LONGEST_WORD = 40


def with_words(tok2vec: Tok2Vec, *, subword_width: int, subword_rows: int, same_words: bool) -> Model[InT, OutT]:
    """Map docs to one array of token vectors, each followed by what is known about its word. Case is ignored.

    tok2vec (Model[list[Doc], list[Floats2d]]): Token vectors.
    subword_width (int): Width of the embedding of n-grams; 0 for none.
    subword_rows (int): Rows of its table, which n-grams are hashed into.
    same_words (bool): Whether to append the mean vector of all occurrences of the word in the doc.
    """
    if subword_width < 0 or subword_rows < 1:
        raise ValueError(
            f"subword_width = {subword_width}, subword_rows = {subword_rows}: expected a width of 0 or more and at "
            "least one row; set subword_width = 0 to leave out characters"
        )
    return Model(
        "with_words",
        forward,
        init=init,
        layers=[tok2vec],
        refs={"tok2vec": tok2vec},
        params={"E": None},
        dims={"nO": None},
        attrs={"width": subword_width, "rows": subword_rows, "same_words": same_words},
    )


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    (tok2vec,) = model.layers
    tok2vec.initialize(X=X)
    model.set_param("E", uniform_init(model.ops, (model.attrs["rows"], model.attrs["width"])))
    # A listener of a transformer does not know its width before it has run.
    width = tok2vec.predict(X)[0].shape[1] if X else tok2vec.get_dim("nO")
    model.set_dim("nO", (1 + model.attrs["same_words"]) * width + model.attrs["width"], force=True)


def forward(model: Model[InT, OutT], docs: InT, is_train: bool) -> tuple[OutT, Callable]:
    ops = model.ops
    vectors, backprop_tok2vec = model.layers[0](docs, is_train)
    flat: Array = ops.flatten(vectors)
    words = _words_of(docs)
    of_places, backprop_places = _mean_of_places(model, flat, words)
    of_characters, backprop_characters = _mean_of_characters(model, words)
    numbers = ops.asarray1i(words.numbers)
    known = ops.xp.hstack((of_places, of_characters))
    width, split = flat.shape[1], of_places.shape[1]

    def backprop(d_output: Array) -> InT:
        d_known: Array = ops.alloc2f(*known.shape)
        ops.scatter_add(d_known, numbers, ops.as_contig(d_output[:, width:]))
        backprop_characters(ops.as_contig(d_known[:, split:]))
        d_flat = d_output[:, :width] + backprop_places(ops.as_contig(d_known[:, :split]))
        return backprop_tok2vec(ops.unflatten(d_flat, ops.asarray1i([len(doc) for doc in docs])))

    return ops.xp.hstack((flat, known[numbers])), backprop


class Words(NamedTuple):
    """The different words of some docs. A word that occurs in two docs counts as two.

    numbers (Array): The number of every token's word.
    keys (list[int]): The hash of every word, by number.
    strings (list[StringStore]): Where to look it up.
    """

    numbers: Array
    keys: list[int]
    strings: list[StringStore]


def _words_of(docs: Sequence[Doc]) -> Words:
    numbers = [np.zeros(0, dtype=int)]
    keys: list[int] = []
    strings: list[StringStore] = []
    for doc in docs:
        of_doc, of_tokens = np.unique(doc.to_array("LOWER"), return_inverse=True)
        numbers.append(of_tokens + len(keys))
        keys += of_doc.tolist()
        strings += [doc.vocab.strings] * len(of_doc)
    return Words(np.concatenate(numbers), keys, strings)


def _mean_of_places(model: Model[InT, OutT], flat: Array, words: Words) -> tuple[Array, Callable]:
    """The mean vector of every word over its occurrences."""
    ops = model.ops
    if not model.attrs["same_words"]:
        return ops.alloc2f(len(words.keys), 0), lambda d_means: 0.0
    order = ops.xp.asarray(np.argsort(words.numbers, kind="stable"))
    counts = ops.asarray1i(np.bincount(words.numbers).tolist())

    def backprop(d_means: Floats2d) -> Floats2d:
        d_flat: Array = ops.alloc2f(*flat.shape)
        d_flat[order] = ops.backprop_reduce_mean(d_means, counts)
        return d_flat

    return ops.reduce_mean(flat[order], counts), backprop


def _mean_of_characters(model: Model[InT, OutT], words: Words) -> tuple[Array, Callable]:
    """The mean embedding of every word's n-grams."""
    ops = model.ops
    E: Array = model.get_param("E")
    if not E.size or not words.keys:
        return ops.alloc2f(len(words.keys), E.shape[1]), lambda d_means: None
    by_word = [rows_of_word(strings[key], len(E)) for key, strings in zip(words.keys, words.strings)]
    all_rows: Array = np.concatenate(by_word)
    rows, counts = ops.asarray1i(all_rows), ops.asarray1i([len(rows) for rows in by_word])

    def backprop(d_means: Floats2d) -> None:
        d_E = ops.alloc2f(*E.shape)
        ops.scatter_add(d_E, rows, ops.backprop_reduce_mean(d_means, counts))
        model.inc_grad("E", d_E)

    return ops.reduce_mean(E[rows], counts), backprop


@lru_cache(maxsize=2**16)
def rows_of_word(word: str, n_rows: int) -> np.ndarray:
    """The rows of a word's n-grams in a table of `n_rows` rows."""
    edged = f"<{word[:_LONGEST_WORD]}>"
    grams = [edged[start : start + size] for size in _SIZES for start in range(len(edged) - size + 1)]
    return np.array([get_string_id(gram) % n_rows for gram in (*grams, edged)], dtype=np.int32)
