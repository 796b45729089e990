"""The whole network of the component: from docs and the layout of their spans to packed scores."""

from collections.abc import Callable
from functools import partial
from typing import Any

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ..decoders import SpanLayout
from ._types import Array, Tok2Vec, TokenVectors

InT = tuple[list[Doc], SpanLayout]
OutT = Floats2d
# Gives one array per doc, or the vectors of all of them (see with_words).
Encoder = Tok2Vec | Model[list[Doc], TokenVectors]
# From vectors as the encoder gives them, those of all docs in one array, and a layout.
Scorer = Model[Any, Floats2d]

# The longest span when the model is called with docs alone.
_MAX_SPAN_LENGTH_OF_BARE_DOCS = 10


def score_spans(encoder: Encoder, scorer: Scorer, resize: Callable[[Scorer, int], Scorer]) -> Model[InT, OutT]:
    """Encode the tokens of all docs, then score all their spans.

    encoder (Encoder): From docs to token vectors.
    scorer (Scorer): From token vectors and a layout to packed scores.
    resize (Callable[[Scorer, int], Scorer]): Makes a copy of the scorer with more labels.
    """
    # spaCy looks for listeners here.
    tok2vec = encoder.maybe_get_ref("tok2vec") or encoder
    model: Model[InT, OutT] = Model(
        "score_spans",
        forward,
        init=init,
        layers=[encoder, scorer],
        refs={"encoder": encoder, "tok2vec": tok2vec, "scorer": scorer},
        dims={"nO": None},
    )
    model.attrs["resize_output"] = partial(resize_model, resize=resize)
    return model


def forward(model: Model[InT, OutT], X: InT | list[Doc], is_train: bool) -> tuple[OutT, Callable]:
    # `spacy debug model` passes docs without a layout.
    docs, layout = X if isinstance(X, tuple) else (X, _layout_of_bare_docs(X))
    encoder, scorer = model.get_ref("encoder"), model.get_ref("scorer")
    vectors, backprop_encoder = encoder(docs, is_train)
    by_doc = isinstance(vectors, list)
    scores, backprop_scorer = scorer((model.ops.flatten(vectors) if by_doc else vectors, layout), is_train)

    def backprop(d_scores: OutT) -> InT:
        d_vectors: Array = backprop_scorer(d_scores)[0]
        if by_doc:
            d_vectors = model.ops.unflatten(d_vectors, model.ops.asarray1i([len(of_doc) for of_doc in vectors]))
        return backprop_encoder(d_vectors), layout

    return scores, backprop


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    encoder, scorer = model.get_ref("encoder"), model.get_ref("scorer")
    if X is None:
        encoder.initialize()
        width = encoder.get_dim("nO")
    else:
        encoder.initialize(X=X[0])
        # A listener of a transformer does not know its width before it has run.
        vectors = encoder.predict(X[0])
        width = vectors[0].shape[1] if isinstance(vectors, list) else vectors.width
    if Y is not None:
        scorer.set_dim("nO", Y.shape[0], force=True)
    scorer.set_dim("nI", width, force=True)
    scorer.initialize()
    model.set_dim("nO", scorer.get_dim("nO"), force=True)


def resize_model(model: Model[InT, OutT], nO: int, *, resize: Callable[[Scorer, int], Scorer]) -> Model[InT, OutT]:
    """Make room for more labels. spaCy finds this as `attrs["resize_output"]`."""
    scorer = model.get_ref("scorer")
    if scorer.has_param("W"):
        larger = resize(scorer, nO)
        model.layers[model.layers.index(scorer)] = larger
        model.set_ref("scorer", larger)
    else:
        scorer.set_dim("nO", nO, force=True)
    model.set_dim("nO", nO, force=True)
    return model


def _layout_of_bare_docs(docs: list[Doc]) -> SpanLayout:
    return SpanLayout([len(doc) for doc in docs], _MAX_SPAN_LENGTH_OF_BARE_DOCS)
