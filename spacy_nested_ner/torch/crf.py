"""The functions of this package as a layer."""

from typing import Any

from torch import Tensor, nn

from ..decoders import Decoder
from . import functions
from ._batch import Lengths, Scores
from .functions import Mentions


class NestedCRF(nn.Module):
    """A distribution over the nested mentions of a sentence, given a score for every span and label.

    It has no parameters. `crf(scores, mentions, lengths)` is the loss. All methods take scores as a padded batch of
    shape (sentences, n, n, labels) with lengths or a mask, as a list of tensors, or as one tensor (n, n, labels), on
    any device: `spacy_nested_ner.torch.functions` has the details. The dynamic programs run on the CPU.

    decoder (Decoder): The search space: QuadraticDecoder() or another one.
    """

    def __init__(self, decoder: Decoder):
        super().__init__()
        if not isinstance(decoder, Decoder):
            raise TypeError(f"decoder is a {type(decoder).__name__}; expected a decoder such as QuadraticDecoder()")
        self.decoder = decoder

    def extra_repr(self) -> str:
        return repr(self.decoder)

    def forward(self, scores: Scores, mentions: Mentions, lengths: Lengths = None, **settings: Any) -> Tensor:
        """The same as `loss`."""
        return self.loss(scores, mentions, lengths, **settings)

    def loss(self, scores: Scores, mentions: Mentions, lengths: Lengths = None, *, reduction: str = "mean") -> Tensor:
        """The negative log-likelihood of gold mentions: see `spacy_nested_ner.torch.loss`."""
        return functions.loss(self.decoder, scores, mentions, lengths, reduction=reduction)

    def log_prob(self, scores: Scores, mentions: Mentions, lengths: Lengths = None) -> Tensor:
        """The logarithm of the probability of an analysis per sentence."""
        return functions.log_prob(self.decoder, scores, mentions, lengths)

    def log_partition(self, scores: Scores, lengths: Lengths = None) -> Tensor:
        """The logarithm of the sum over all analyses of exp(weight), per sentence."""
        return functions.log_partition(self.decoder, scores, lengths)

    def marginals(self, scores: Scores, lengths: Lengths = None) -> Any:
        """The probability of every mention, in the form of the scores."""
        return functions.marginals(self.decoder, scores, lengths)

    def expected_score(self, scores: Scores, lengths: Lengths = None, *, values: Scores | None = None) -> Tensor:
        """The expected sum of scores, or of other values, over the mentions of an analysis, per sentence."""
        return functions.expected_score(self.decoder, scores, lengths, values=values)

    def entropy(self, scores: Scores, lengths: Lengths = None) -> Tensor:
        """The entropy of the distribution over analyses in nats, per sentence."""
        return functions.entropy(self.decoder, scores, lengths)

    def decode(self, scores: Scores, lengths: Lengths = None) -> Any:
        """The analysis with the highest weight: a list of mentions per sentence."""
        return functions.decode(self.decoder, scores, lengths)

    def sample(self, scores: Scores, lengths: Lengths = None, *, n_samples: int = 10, seed: int | None = None) -> Any:
        """Independent analyses, each drawn with exactly its probability."""
        return functions.sample(self.decoder, scores, lengths, n_samples=n_samples, seed=seed)

    def k_best(self, scores: Scores, k: int = 10, lengths: Lengths = None) -> Any:
        """The k analyses of highest weight per sentence, best first, as pairs of mentions and weight."""
        return functions.k_best(self.decoder, scores, k, lengths)
