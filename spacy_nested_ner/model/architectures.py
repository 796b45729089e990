"""The architectures that a config can name. spaCy finds them through entry points: spacy-nested-ner.….v1."""

from collections.abc import Sequence

from spacy.ml.featureextractor import FeatureExtractor
from spacy.ml.staticvectors import StaticVectors
from thinc.api import HashEmbed, Maxout, Model, chain, concatenate, list2ragged, ragged2list, with_array

from ._types import Tok2Vec
from .additive import additive_span_scorer
from .additive import resize as resize_additive
from .biaffine import biaffine_span_scorer
from .biaffine import resize as resize_biaffine
from .known_words import known_words
from .neighbors import neighbor_span_scorer
from .neighbors import resize as resize_neighbors
from .score_spans import Encoder, InT, OutT, score_spans
from .words import with_words


def build_span_scorer(
    tok2vec: Tok2Vec,
    hidden_width: int = 128,
    gated: bool = True,
    subword_width: int = 64,
    subword_rows: int = 20000,
    same_words: bool = True,
    neighbor_width: int = 0,
    neighbor_depth: int = 2,
    nO: int | None = None,
) -> Model[InT, OutT]:
    """The default: score a span from its start, end, content and length, with one hidden layer.

    tok2vec (Model[list[Doc], list[Floats2d]]): Token vectors, from any tok2vec, listener or transformer.
    hidden_width (int): Width of the hidden layer.
    gated (bool): Whether the content of a span is a weighted mean of its tokens, with learned weights.
    subword_width (int): Width of the embedding of character n-grams that is appended to the vectors; 0 for none.
    subword_rows (int): Rows of its table.
    same_words (bool): Whether to append the mean vector of all occurrences of the word in the doc.
    neighbor_width (int): How many features a span sees of those that start or end one token earlier or later; 0 for
        none.
    neighbor_depth (int): How often they look.
    nO (int | None): Number of labels; set by the component.
    RETURNS (Model[InT, OutT]): The model of the component.
    """
    encoder: Encoder = tok2vec
    if subword_width or same_words:
        encoder = with_words(tok2vec, subword_width=subword_width, subword_rows=subword_rows, same_words=same_words)
    if neighbor_width:
        scorer = neighbor_span_scorer(hidden_width, neighbor_width, neighbor_depth, gated=gated, nO=nO)
        return score_spans(encoder, scorer, resize_neighbors)
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


def build_known_words_embed(
    width: int,
    attrs: Sequence[str],
    rows: Sequence[int],
    include_static_vectors: bool = False,
    unknown_rate: float = 0.2,
) -> Tok2Vec:
    """The embedding of the default config: like spaCy's MultiHashEmbed, but words that training has not seen have no
    vector of their own instead of a random one.

    width (int): Width of the tables and of the output.
    attrs (Sequence[str]): What is embedded: first the word, as "NORM", "LOWER" or "ORTH"; then attributes that are
        hashed, such as "PREFIX", "SUFFIX" and "SHAPE".
    rows (Sequence[int]): Rows of the tables. The first number is how many words can be known.
    include_static_vectors (bool): Whether to add the word vectors of the vocab.
    unknown_rate (float): The share of the words of a batch that count as unknown in training, so that the network
        learns what to do about them.
    RETURNS (Model[list[Doc], list[Floats2d]]): The embedding, for `spacy.Tok2Vec.v2`.
    """
    if not attrs or len(attrs) != len(rows):
        raise ValueError(
            f"attrs has {len(attrs)} names and rows has {len(rows)} numbers; expected as many, and at least one"
        )
    if not 0 <= unknown_rate < 1:
        raise ValueError(f"unknown_rate is {unknown_rate}; expected a share from 0 to below 1, such as 0.2")
    tables: list[Model] = [known_words(width, rows[0], column=0, unknown_rate=unknown_rate)]
    # Seeds as in MultiHashEmbed, so that attributes are hashed to the same rows.
    tables += [HashEmbed(width, rows[n], column=n, seed=8 + n, dropout=0.0) for n in range(1, len(attrs))]
    tokens: Model = chain(FeatureExtractor(list(attrs)), list2ragged(), with_array(concatenate(*tables)))
    if include_static_vectors:
        tokens = concatenate(tokens, StaticVectors(width, dropout=0.0))
    n_parts = len(tables) + include_static_vectors
    mix: Model = with_array(Maxout(width, width * n_parts, nP=3, dropout=0.0, normalize=True))
    return chain(tokens, mix, ragged2list())


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
