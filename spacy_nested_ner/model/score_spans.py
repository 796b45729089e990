"""The whole network of the component: docs and a layout of their spans to packed scores."""

from collections.abc import Callable
from functools import partial

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ..decoders import SpanLayout

InT = tuple[list[Doc], SpanLayout]
OutT = Floats2d
# Token vectors of every doc, or of all docs in one array.
Encoder = Model[list[Doc], list[Floats2d]] | Model[list[Doc], Floats2d]

_SPANS_OF_BARE_DOCS = 10


def score_spans(
    encoder: Encoder,
    scorer: Model[tuple[Floats2d, SpanLayout], Floats2d],
    resize: Callable[[Model, int], Model],
) -> Model[InT, OutT]:
    """Token vectors of all docs, then the scores of all spans."""
    # Where spaCy looks for a listener.
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


def forward(model: Model[InT, OutT], X: InT, is_train: bool) -> tuple[OutT, Callable]:
    # Docs alone are taken as they come: `spacy debug model` knows nothing of layouts.
    docs, layout = X if isinstance(X, tuple) else (X, SpanLayout([len(doc) for doc in X], _SPANS_OF_BARE_DOCS))
    encoder, scorer = model.get_ref("encoder"), model.get_ref("scorer")
    vectors, backprop_encoder = encoder(docs, is_train)
    # Only an encoder that knows more than vectors per doc gives one array: see with_words.
    by_doc = isinstance(vectors, list)
    scores, backprop_scorer = scorer((model.ops.flatten(vectors) if by_doc else vectors, layout), is_train)

    def backprop(d_scores: OutT) -> InT:
        d_vectors, _ = backprop_scorer(d_scores)
        if by_doc:
            d_vectors = model.ops.unflatten(d_vectors, [len(doc) for doc in vectors])
        return backprop_encoder(d_vectors), layout

    return scores, backprop


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    encoder, scorer = model.get_ref("encoder"), model.get_ref("scorer")
    if X is None:
        encoder.initialize()
        width = encoder.get_dim("nO")
    else:
        encoder.initialize(X=X[0])
        # Listeners of a transformer know their width only from what they give.
        vectors = encoder.predict(X[0])
        width = (vectors[0] if isinstance(vectors, list) else vectors).shape[1]
    if Y is not None:
        scorer.set_dim("nO", Y.shape[0], force=True)
    scorer.set_dim("nI", width, force=True)
    scorer.initialize()
    model.set_dim("nO", scorer.get_dim("nO"), force=True)


def resize_model(model: Model[InT, OutT], nO: int, *, resize: Callable[[Model, int], Model]) -> Model[InT, OutT]:
    """What spaCy calls to make room for more labels."""
    scorer = model.get_ref("scorer")
    if scorer.has_param("W"):
        larger = resize(scorer, nO)
        model.layers[model.layers.index(scorer)] = larger
        model.set_ref("scorer", larger)
    else:
        scorer.set_dim("nO", nO, force=True)
    model.set_dim("nO", nO, force=True)
    return model
