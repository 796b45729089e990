"""Append to each token vector what is known about its word: its characters, and its other occurrences in the doc.

    known(w) = [mean(x_t for every token t of the doc that is w), mean(E[g] for every character n-gram g of w)]
    output_t = [x_t, known(word of t)]

A name that the encoder has never seen resembles others of its kind, and what one sentence of a doc says about it
helps in the next.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple, cast

import numpy as np
from spacy.strings import StringStore, get_string_id
from spacy.tokens import Doc
from thinc.api import Model, uniform_init
from thinc.types import Floats2d

from ._types import Array, Tok2Vec, TokenVectors
from .row_gradients import RowGradients

InT = list[Doc]
OutT = TokenVectors

# Characters per n-gram. A word is marked at both ends, and with these marks is itself one of its n-grams.
_SIZES = (3, 4, 5)
_LONGEST_WORD = 40


def with_words(tok2vec: Tok2Vec, *, subword_width: int, subword_rows: int, same_words: bool) -> Model[InT, OutT]:
    """Map docs to the vectors of all tokens, each followed by what is known about its word. Case is ignored.

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
        shims=[RowGradients()],
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
    split = of_places.shape[1]

    def backprop(d_output: OutT) -> InT:
        d_known = d_output.shared
        backprop_characters(ops.as_contig(d_known[:, split:]))
        d_flat = d_output.own + backprop_places(ops.as_contig(d_known[:, :split]))
        return backprop_tok2vec(ops.unflatten(d_flat, ops.asarray1i([len(doc) for doc in docs])))

    known = ops.xp.hstack((of_places, of_characters))
    return TokenVectors(flat, known, ops.asarray1i(words.numbers)), backprop


class Words(NamedTuple):
    """The different words of some docs. A word that occurs in two docs counts as two.

    numbers (Array): The number of every token's word.
    keys (Array): The hash of every word, by number.
    strings (StringStore | None): Where to look up a hash; None without docs.
    """

    numbers: Array
    keys: Array
    strings: StringStore | None


def _words_of(docs: Sequence[Doc]) -> Words:
    numbers, keys = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.uint64)]
    n_words = 0
    for doc in docs:
        of_doc, of_tokens = np.unique(doc.to_array("LOWER"), return_inverse=True)
        numbers.append(of_tokens + n_words)
        keys.append(of_doc)
        n_words += len(of_doc)
    return Words(np.concatenate(numbers), np.concatenate(keys), _strings_of(docs))


def _strings_of(docs: Sequence[Doc]) -> StringStore | None:
    """The strings of all docs, which usually have the same vocab."""
    stores = list({id(doc.vocab): doc.vocab.strings for doc in docs}.values())
    if len(stores) < 2:
        return stores[0] if stores else None
    return StringStore({token.lower_ for doc in docs for token in doc})


def _mean_of_places(model: Model[InT, OutT], flat: Array, words: Words) -> tuple[Array, Callable]:
    """The mean vector of every word over its occurrences."""
    ops = model.ops
    if not model.attrs["same_words"]:
        return ops.alloc2f(len(words.keys), 0), lambda d_means: 0.0
    order = ops.xp.asarray(np.argsort(words.numbers, kind="stable"))
    counts = ops.asarray1i(cast(Array, np.bincount(words.numbers)))

    def backprop(d_means: Floats2d) -> Floats2d:
        d_flat: Array = ops.alloc2f(*flat.shape)
        d_flat[order] = ops.backprop_reduce_mean(d_means, counts)
        return d_flat

    return ops.reduce_mean(flat[order], counts), backprop


def _mean_of_characters(model: Model[InT, OutT], words: Words) -> tuple[Array, Callable]:
    """The mean embedding of every word's n-grams."""
    ops = model.ops
    E: Array = model.get_param("E")
    if not E.size or words.strings is None or not len(words.keys):
        return ops.alloc2f(len(words.keys), E.shape[1]), lambda d_means: None
    # Looked up once per word of the batch, however many docs it occurs in.
    keys, of_words = np.unique(words.keys, return_inverse=True)
    by_word = [rows_of_word(words.strings[key], len(E)) for key in keys.tolist()]
    all_rows: Array = np.concatenate(by_word)
    rows, counts = ops.asarray1i(all_rows), ops.asarray1i([len(rows) for rows in by_word])
    numbers = ops.asarray1i(cast(Array, of_words))

    def backprop(d_means: Floats2d) -> None:
        d_words = ops.alloc2f(len(counts), E.shape[1])
        ops.scatter_add(d_words, numbers, d_means)
        (gradients,) = model.shims
        cast(RowGradients, gradients).add(model, "E", rows, ops.backprop_reduce_mean(d_words, counts))

    means: Array = ops.reduce_mean(E[rows], counts)
    return means[numbers], backprop


@lru_cache(maxsize=2**16)
def rows_of_word(word: str, n_rows: int) -> np.ndarray:
    """The rows of a word's n-grams in a table of `n_rows` rows."""
    edged = f"<{word[:_LONGEST_WORD]}>"
    grams = [edged[start : start + size] for size in _SIZES for start in range(len(edged) - size + 1)]
    return np.array([get_string_id(gram) % n_rows for gram in (*grams, edged)], dtype=np.int32)
