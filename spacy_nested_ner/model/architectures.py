"""The architectures that a config can name. spaCy finds them through entry points: spacy-nested-ner.….v1."""

from thinc.api import Model

from ._types import Tok2Vec
from .additive import additive_span_scorer
from .additive import resize as resize_additive
from .biaffine import biaffine_span_scorer
from .biaffine import resize as resize_biaffine
from .score_spans import Encoder, InT, OutT, score_spans
from .words import with_words


def build_span_scorer(
    tok2vec: Tok2Vec,
    hidden_width: int = 128,
    gated: bool = True,
    subword_width: int = 64,
    subword_rows: int = 20000,
    same_words: bool = True,
    nO: int | None = None,
) -> Model[InT, OutT]:
    """The default: score a span from its start, end, content and length, with one hidden layer.

    tok2vec (Model[list[Doc], list[Floats2d]]): Token vectors, from any tok2vec, listener or transformer.
    hidden_width (int): Width of the hidden layer.
    gated (bool): Whether the content of a span is a weighted mean of its tokens, with learned weights.
    subword_width (int): Width of the embedding of character n-grams that is appended to the vectors; 0 for none.
    subword_rows (int): Rows of its table.
    same_words (bool): Whether to append the mean vector of all occurrences of the word in the doc.
    nO (int | None): Number of labels; set by the component.
    RETURNS (Model[InT, OutT]): The model of the component.
    """
    encoder: Encoder = tok2vec
    if subword_width or same_words:
        encoder = with_words(tok2vec, subword_width=subword_width, subword_rows=subword_rows, same_words=same_words)
    return score_spans(encoder, additive_span_scorer(hidden_width, gated=gated, nO=nO), resize_additive)


def build_biaffine_span_scorer(
    tok2vec: Tok2Vec, projection_width: int = 500, dropout: float = 0.1, nO: int | None = None
) -> Model[InT, OutT]:
    """The paper's: score a span with a labeled and an unlabeled biaffine layer on its first and last token.

    tok2vec (Model[list[Doc], list[Floats2d]]): Token vectors, from any tok2vec, listener or transformer.
    projection_width (int): Width of the left and right projections.
    dropout (float): Dropout of the projections during training.
    nO (int | None): Number of labels; set by the component.
    RETURNS (Model[InT, OutT]): The model of the component.
    """
    return score_spans(tok2vec, biaffine_span_scorer(projection_width, dropout, nO=nO), resize_biaffine)


def build_bilstm_encoder(
    tok2vec: Tok2Vec, width: int = 400, depth: int = 3, dropout: float = 0.1, input_width: int | None = None
) -> Tok2Vec:
    """The paper's: bidirectional LSTM layers on top of any token vectors. Needs PyTorch.

    tok2vec (Model[list[Doc], list[Floats2d]]): The vectors to encode.
    width (int): Width of one direction; the output is twice as wide.
    depth (int): Number of layers.
    dropout (float): Dropout of the input, between the layers and of the output during training.
    input_width (int | None): Width of the vectors to encode. Needed if tok2vec does not know it, as with a
        transformer.
    RETURNS (Model[list[Doc], list[Floats2d]]): The encoder.
    """
    from .bilstm import bilstm_encoder

    return bilstm_encoder(tok2vec, width=width, depth=depth, dropout=dropout, input_width=input_width)
