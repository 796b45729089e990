"""What a config can name: spacy-nested-ner.….v1, found by spaCy through entry points."""

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from .additive import additive_span_scorer
from .additive import resize as resize_additive
from .biaffine import biaffine_span_scorer
from .biaffine import resize as resize_biaffine
from .score_spans import InT, OutT, score_spans
from .words import with_words

Tok2Vec = Model[list[Doc], list[Floats2d]]


def build_span_scorer(
    tok2vec: Tok2Vec,
    hidden_width: int = 128,
    gated: bool = True,
    subword_width: int = 64,
    subword_rows: int = 20000,
    same_words: bool = True,
    nO: int | None = None,
) -> Model[InT, OutT]:
    """The default: start, end, content and length of a span through one hidden layer.

    tok2vec (Model[list[Doc], list[Floats2d]]): Token vectors; any tok2vec, listener or transformer.
    hidden_width (int): Width of the hidden layer.
    gated (bool): Whether tokens have weights of their own in the mean that is the content of a span.
    subword_width (int): Width of the embedding of character n-grams that stands beside the vectors; 0 for none.
    subword_rows (int): Rows of its table.
    same_words (bool): Whether the mean vector of the same words in the doc stands beside the vectors.
    nO (int | None): Number of labels; set by the component.
    """
    if subword_width or same_words:
        tok2vec = with_words(tok2vec, subword_width=subword_width, subword_rows=subword_rows, same_words=same_words)
    return score_spans(tok2vec, additive_span_scorer(hidden_width, gated=gated, nO=nO), resize_additive)


def build_biaffine_span_scorer(
    tok2vec: Tok2Vec, projection_width: int = 500, dropout: float = 0.1, nO: int | None = None
) -> Model[InT, OutT]:
    """The paper's: a labelled and an unlabelled biaffine layer on the borders of a span.

    tok2vec (Model[list[Doc], list[Floats2d]]): Token vectors.
    projection_width (int): Width of the left and right projections.
    dropout (float): On the projections, in training.
    nO (int | None): Number of labels; set by the component.
    """
    return score_spans(tok2vec, biaffine_span_scorer(projection_width, dropout, nO=nO), resize_biaffine)


def build_bilstm_encoder(
    tok2vec: Tok2Vec, width: int = 400, depth: int = 3, dropout: float = 0.1, input_width: int | None = None
) -> Tok2Vec:
    """The paper's: bidirectional LSTM layers over any token vectors. Needs PyTorch.

    tok2vec (Model[list[Doc], list[Floats2d]]): What is encoded.
    width (int): Width of one direction; the output is twice as wide.
    depth (int): Number of layers.
    dropout (float): On the input, between the layers and on the output, in training.
    input_width (int | None): Width of what is encoded; needed where it cannot be asked for, as with
        a transformer.
    """
    from .bilstm import bilstm_encoder

    return bilstm_encoder(tok2vec, width, depth, dropout, input_width)
