"""Scores as models give them: padded, in a list or alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Scores: TypeAlias = Tensor | Sequence[Tensor]
# Tokens of every sentence, or a mask (sentences, tokens).
Lengths: TypeAlias = Tensor | Sequence[int] | None

# What is computed in a wider type.
_HALF = (torch.bfloat16, torch.float16)


@dataclass(frozen=True)
class ScoreBatch:
    """The scores of a batch in one tensor, and where every sentence is in it.

    values (Tensor): float32 or float64, in C order: (sentences, n, n, labels), or the scores of a list one after the
        other.
    tokens (list[int]): Of every sentence.
    labels (int): How many there are.
    is_single (bool): Whether there is one sentence that is not in a list.
    """

    values: Tensor
    tokens: list[int]
    labels: int
    is_single: bool

    @property
    def is_padded(self) -> bool:
        return self.values.ndim == 4

    @cached_property
    def rows(self) -> list[int]:
        """Tokens from a start to the next one in memory, for every sentence."""
        return [self.values.shape[1]] * len(self.tokens) if self.is_padded else self.tokens

    @cached_property
    def offsets(self) -> list[int]:
        """Where every sentence begins in the values, and how many of these there are."""
        return list(accumulate((n * n * self.labels for n in self.rows), initial=0))

    def arrays(self, values: Array) -> list[Array]:
        """The part of every sentence, for an array in the shape of the values: views of shape (n, n, labels)."""
        if self.is_padded:
            return [part[:n, :n] for part, n in zip(values, self.tokens)]
        parts = (values[first:last] for first, last in zip(self.offsets, self.offsets[1:]))
        return [part.reshape(n, n, self.labels) for part, n in zip(parts, self.tokens)]

    def given(self, values: Tensor) -> Any:
        """A tensor in the shape of the values, in the form in which the scores were given."""
        if self.is_padded:
            return values[0] if self.is_single else values
        parts = values.split(np.diff(self.offsets).tolist())
        return [part.reshape(n, n, self.labels) for part, n in zip(parts, self.tokens)]

    def per_sentence(self, results: Any) -> Any:
        """Results of all sentences, or the one that there is."""
        return results[0] if self.is_single else results

    def factors(self, of_sentences: Tensor, values: Tensor) -> Tensor:
        """A factor per sentence, to be multiplied with values."""
        factors = of_sentences.to(values.dtype)
        if self.is_padded:
            return factors.reshape(-1, 1, 1, 1)
        sizes = torch.from_numpy(np.diff(self.offsets)).to(values.device)
        return factors.repeat_interleave(sizes, output_size=len(values))

    def sums(self, values: Tensor) -> Tensor:
        """The sum of the values of every sentence."""
        if self.is_padded:
            return values.sum((1, 2, 3))
        parts = [part.sum() for part in values.split(np.diff(self.offsets).tolist())]
        return torch.stack(parts) if parts else values.new_zeros(0)


def collect(scores: Scores, lengths: Lengths = None, name: str = "scores") -> ScoreBatch:
    """A batch from scores in any of their forms, checked."""
    tensors = _checked(scores, name)
    labels = tensors[0].shape[-1] if tensors else 0
    if isinstance(scores, Tensor) and scores.ndim == 4:
        return ScoreBatch(_wide(scores), _token_counts(lengths, *scores.shape[:2]), labels, False)
    if lengths is not None:
        raise ValueError(f"lengths are given, but {name} is not padded; leave them out")
    tokens = [len(tensor) for tensor in tensors]
    if isinstance(scores, Tensor):
        return ScoreBatch(_wide(scores[None]), tokens, labels, True)
    flat = torch.cat([tensor.reshape(-1) for tensor in tensors]) if tensors else torch.zeros(0)
    return ScoreBatch(_wide(flat), tokens, labels, False)


def _wide(tensor: Tensor) -> Tensor:
    return (tensor.float() if tensor.dtype in _HALF else tensor).contiguous()


def _checked(scores: Any, name: str) -> list[Tensor]:
    """The tensors of a batch, or the only one."""
    many = isinstance(scores, (list, tuple))
    tensors = list(scores) if many else [scores]
    for number, tensor in enumerate(tensors):
        own = f"{name}[{number}]" if many else name
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{own} is a {type(tensor).__name__}; expected a tensor (decoders themselves take arrays)")
        if tensor.dtype not in (torch.float32, torch.float64, *_HALF):
            raise TypeError(f"{own} has dtype {tensor.dtype}; expected float32, float64, bfloat16 or float16")
        shape = tuple(tensor.shape)
        if len(shape) not in ((3,) if many else (3, 4)) or shape[-3] != shape[-2]:
            padded = "" if many else ", or (sentences, n, n, labels) for a padded batch"
            raise ValueError(f"{own} has shape {shape}; expected (n, n, labels){padded}")
        first = tensors[0]
        if (tensor.dtype, tensor.device, shape[-1]) != (first.dtype, first.device, first.shape[-1]):
            raise ValueError(
                f"{own} has {shape[-1]} labels of {tensor.dtype} on {tensor.device}, and {name}[0] {first.shape[-1]} "
                f"of {first.dtype} on {first.device}; expected the same for all"
            )
    return tensors


def _token_counts(lengths: Lengths, n_sentences: int, n_tokens: int) -> list[int]:
    """Tokens of every sentence of a padded batch."""
    if lengths is None:
        return [n_tokens] * n_sentences
    array = lengths.cpu().numpy() if isinstance(lengths, Tensor) else np.asarray(lengths)
    if array.dtype.kind not in "iub" and array.size:
        raise TypeError(f"lengths have dtype {array.dtype}; expected whole numbers, or a mask of booleans")
    if array.ndim == 2 and array.shape == (n_sentences, n_tokens):
        return _count_mask(array.astype(bool))
    if array.shape != (n_sentences,) or array.dtype.kind == "b":
        raise ValueError(
            f"lengths have shape {array.shape}; expected {n_sentences} numbers of tokens, or a mask of shape "
            f"{(n_sentences, n_tokens)}"
        )
    counts: list[int] = array.tolist()
    for number, count in enumerate(counts):
        if not 0 <= count <= n_tokens:
            raise ValueError(f"sentence {number} has length {count}; expected 0 to {n_tokens}, the padded length")
    return counts


def _count_mask(mask: Array) -> list[int]:
    counts = mask.sum(axis=1)
    wrong = np.flatnonzero((mask != (np.arange(mask.shape[1]) < counts[:, None])).any(axis=1))
    if wrong.size:
        raise ValueError(
            f"the mask of sentence {wrong[0]} is not 1 for its first tokens and 0 for the others; leave out special "
            f"tokens, and pad on the right"
        )
    return [int(count) for count in counts]
