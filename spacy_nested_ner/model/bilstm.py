"""The paper's encoder: bidirectional LSTM layers on top of any token vectors.

This module works without PyTorch, to report that it is missing. The layers are in torch_bilstm.py.
"""

from thinc.api import chain, with_padded
from thinc.util import has_torch

from ._types import Tok2Vec


def bilstm_encoder(tok2vec: Tok2Vec, *, width: int, depth: int, dropout: float, input_width: int | None) -> Tok2Vec:
    """Map docs to token vectors. See `architectures.build_bilstm_encoder` for the arguments."""
    if not has_torch:
        raise ImportError(
            "spacy-nested-ner.BiLSTMEncoder.v1 needs PyTorch: pip install 'spacy-nested-ner[transformers]', or choose "
            "another encoder"
        )
    if input_width is None:
        if tok2vec.has_dim("nO") is not True:
            raise ValueError(
                f"input_width of spacy-nested-ner.BiLSTMEncoder.v1 is null, and the layer {tok2vec.name!r} does not "
                f"know the width of its vectors: set input_width to that width (for a transformer: its hidden size)"
            )
        input_width = tok2vec.get_dim("nO")
    from .torch_bilstm import torch_bilstm

    layers = torch_bilstm(input_width, width=width, depth=depth, dropout=dropout)
    encoder: Tok2Vec = chain(tok2vec, with_padded(layers))
    encoder.set_ref("tok2vec", tok2vec)
    encoder.set_dim("nO", 2 * width)
    return encoder
