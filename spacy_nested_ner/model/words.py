"""What is known of a word beyond the one place where it stands: its characters, and the other places in the doc.

    known(w) = [mean(x_t for every token t of the doc that is w), mean(E[g] for every character n-gram g of w)]
    output_t = [x_t, known(word of t)]

A name that the encoder has never seen looks like others of its kind, and what one sentence of a doc says
about it holds in the next.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from spacy.attrs import LOWER
from spacy.strings import StringStore, get_string_id
from spacy.tokens import Doc
from thinc.api import Model, uniform_init
from thinc.types import Floats2d

InT = list[Doc]
OutT = Floats2d

# Characters of an n-gram, with one more before and after the word; the whole word is one, too.
_SIZES = (3, 4, 5)
_LONGEST_WORD = 40


def with_words(
    tok2vec: Model[InT, list[Floats2d]], *, subword_width: int, subword_rows: int, same_words: bool
) -> Model[InT, OutT]:
    """Token vectors of all docs in one array, each followed by what is known of its word. Case does not matter.

    subword_width (int): Width of the embedding of n-grams; 0 for none.
    subword_rows (int): Rows of its table, which n-grams are hashed to.
    same_words (bool): Whether to give the mean vector of the same words of the doc.
    """
    if subword_width < 0 or subword_rows < 1:
        raise ValueError(
            f"subword_width = {subword_width}, subword_rows = {subword_rows}: expected a width of 0 or more and at "
            "least one row; subword_width = 0 leaves characters out"
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
    # Listeners of a transformer know their width only from what they give.
    width = tok2vec.predict(X)[0].shape[1] if X else tok2vec.get_dim("nO")
    model.set_dim("nO", (1 + model.attrs["same_words"]) * width + model.attrs["width"], force=True)


def forward(model: Model[InT, OutT], docs: InT, is_train: bool) -> tuple[OutT, Callable]:
    ops = model.ops
    vectors, backprop_tok2vec = model.layers[0](docs, is_train)
    flat = ops.flatten(vectors)
    numbers, words, vocabs = _words(docs)
    of_places, backprop_places = _of_places(model, flat, numbers)
    of_characters, backprop_characters = _of_characters(model, words, vocabs)
    numbers = ops.asarray1i(numbers)
    known = ops.xp.hstack((of_places, of_characters))
    width, split = flat.shape[1], of_places.shape[1]
    lengths = [len(doc) for doc in docs]

    def backprop(d_output: OutT) -> InT:
        d_known = ops.alloc2f(*known.shape)
        ops.scatter_add(d_known, numbers, ops.as_contig(d_output[:, width:]))
        backprop_characters(ops.as_contig(d_known[:, split:]))
        d_flat = d_output[:, :width] + backprop_places(ops.as_contig(d_known[:, :split]))
        return backprop_tok2vec(ops.unflatten(d_flat, lengths))

    return ops.xp.hstack((flat, known[numbers])), backprop


def _of_places(model: Model[InT, OutT], flat: Floats2d, numbers: np.ndarray) -> tuple[Floats2d, Callable]:
    """The mean vector of every word over the places where it stands."""
    ops = model.ops
    if not model.attrs["same_words"]:
        return ops.alloc2f(numbers.max(initial=-1) + 1, 0), lambda d_means: 0.0
    order, counts = ops.xp.asarray(np.argsort(numbers, kind="stable")), ops.asarray1i(np.bincount(numbers))

    def backprop(d_means: Floats2d) -> Floats2d:
        d_flat = ops.alloc2f(*flat.shape)
        d_flat[order] = ops.backprop_reduce_mean(d_means, counts)
        return d_flat

    return ops.reduce_mean(flat[order], counts), backprop


def _of_characters(
    model: Model[InT, OutT], words: np.ndarray, vocabs: Sequence[StringStore]
) -> tuple[Floats2d, Callable]:
    """The mean of the embeddings of every word's n-grams."""
    ops, E = model.ops, model.get_param("E")
    if not E.size or not len(words):
        return ops.alloc2f(len(words), E.shape[1]), lambda d_means: None
    of_words = [_rows_of_word(strings[word], len(E)) for word, strings in zip(words.tolist(), vocabs)]
    rows, counts = ops.asarray1i(np.concatenate(of_words)), ops.asarray1i([len(rows) for rows in of_words])

    def backprop(d_means: Floats2d) -> None:
        d_E = ops.alloc2f(*E.shape)
        ops.scatter_add(d_E, rows, ops.backprop_reduce_mean(d_means, counts))
        model.inc_grad("E", d_E)

    return ops.reduce_mean(E[rows], counts), backprop


def _words(docs: Sequence[Doc]) -> tuple[np.ndarray, np.ndarray, list[StringStore]]:
    """The number of every token's word, counted over all docs; the words by number, and the strings that know
    them: the same word of two docs is two."""
    numbers, words = [np.zeros(0, dtype=int)], [np.zeros(0, dtype=np.uint64)]
    vocabs: list[StringStore] = []
    n_words = 0
    for doc in docs:
        of_doc, of_tokens = np.unique(doc.to_array(LOWER), return_inverse=True)
        words.append(of_doc)
        numbers.append(of_tokens + n_words)
        vocabs += [doc.vocab.strings] * len(of_doc)
        n_words += len(of_doc)
    return np.concatenate(numbers), np.concatenate(words), vocabs


@lru_cache(maxsize=2**16)
def _rows_of_word(word: str, n_rows: int) -> np.ndarray:
    edged = f"<{word[:_LONGEST_WORD]}>"
    grams = [edged[start : start + size] for size in _SIZES for start in range(len(edged) - size + 1)]
    return np.array([get_string_id(gram) % n_rows for gram in (*grams, edged)], dtype=np.int32)
