"""The paper's encoder: bidirectional LSTM layers over any token vectors."""

from spacy.tokens import Doc
from thinc.api import Model, chain, with_padded
from thinc.types import Floats2d
from thinc.util import has_torch

Tok2Vec = Model[list[Doc], list[Floats2d]]


def bilstm_encoder(tok2vec: Tok2Vec, width: int, depth: int, dropout: float, input_width: int | None) -> Tok2Vec:
    if not has_torch:
        raise ImportError(
            "spacy-nested-ner.BiLSTMEncoder.v1 needs PyTorch: pip install 'spacy-nested-ner[transformers]', or take "
            "another encoder"
        )
    if input_width is None:
        if tok2vec.has_dim("nO") is not True:
            raise ValueError(
                "spacy-nested-ner.BiLSTMEncoder.v1 cannot ask its tok2vec for its width: set input_width (of a "
                "transformer: its hidden size)"
            )
        input_width = tok2vec.get_dim("nO")
    from .lstm import bilstm  # imports torch

    encoder: Tok2Vec = chain(tok2vec, with_padded(bilstm(input_width, width, depth, dropout)))
    encoder.set_ref("tok2vec", tok2vec)
    encoder.set_dim("nO", 2 * width)
    return encoder
