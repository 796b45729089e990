"""The CRF over nested mentions for PyTorch models: scores of spans in; losses, marginals and analyses out.

Needs PyTorch: pip install 'spacy-nested-ner[torch]'. Nothing else in the package imports this.
"""

try:
    import torch as _torch
except ImportError as error:
    raise ImportError(f"{__name__} needs PyTorch ({error}): pip install 'spacy-nested-ner[torch]'") from error

from .crf import NestedCRF
from .functions import decode, entropy, expected_score, k_best, log_partition, log_prob, loss, marginals, sample

__all__ = [
    "NestedCRF",
    "decode",
    "entropy",
    "expected_score",
    "k_best",
    "log_partition",
    "log_prob",
    "loss",
    "marginals",
    "sample",
]
