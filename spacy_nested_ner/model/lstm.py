"""Bidirectional LSTM layers of PyTorch's that see the words of a doc and nothing else, as a Thinc model."""

from typing import Any

import torch
from thinc.api import ArgsKwargs, Model, PyTorchWrapper, torch2xp, xp2torch
from thinc.types import Padded
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class BiLSTM(torch.nn.Module):
    """Dropout is on the input, between the layers and on the output. It is a rate of its own: what `nlp.update`
    is given as `drop` does not change it."""

    def __init__(self, input_width: int, width: int, depth: int, dropout: float) -> None:
        super().__init__()
        between = dropout if depth > 1 else 0.0
        self.layers = torch.nn.LSTM(input_width, width, depth, bidirectional=True, dropout=between)
        self.dropout = torch.nn.Dropout(dropout)

    def forward(self, X: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Packed, as padding must not be read: the backward direction would begin in it."""
        packed = pack_padded_sequence(self.dropout(X), lengths, enforce_sorted=False)
        padded, _ = pad_packed_sequence(self.layers(packed)[0], total_length=X.shape[0])
        return self.dropout(padded)


def bilstm(input_width: int, width: int, depth: int, dropout: float) -> Model[Padded, Padded]:
    model = PyTorchWrapper(BiLSTM(input_width, width, depth, dropout), _convert_inputs, _convert_outputs)
    model.set_dim("nI", input_width)
    model.set_dim("nO", 2 * width)
    return model


def _convert_inputs(model: Model, Xp: Padded, is_train: bool) -> tuple[ArgsKwargs, Any]:
    X = xp2torch(Xp.data, requires_grad=True, device=model.shims[0].device)
    # On the CPU wherever the data are. A doc without words is one of padding, which nobody asks for.
    lengths = torch.as_tensor(model.ops.to_numpy(Xp.lengths), dtype=torch.int64).clamp(min=1)

    def backprop(d_inputs: ArgsKwargs) -> Padded:
        return _like(Xp, d_inputs.args[0])

    return ArgsKwargs(args=(X, lengths), kwargs={}), backprop


def _convert_outputs(model: Model, pair: tuple[Padded, torch.Tensor], is_train: bool) -> tuple[Padded, Any]:
    Xp, Y = pair

    def backprop(dYp: Padded) -> ArgsKwargs:
        dY = xp2torch(dYp.data, device=model.shims[0].device)
        return ArgsKwargs(args=(Y,), kwargs={"grad_tensors": dY})

    return _like(Xp, Y), backprop


def _like(Xp: Padded, data: torch.Tensor) -> Padded:
    return Padded(torch2xp(data), Xp.size_at_t, Xp.lengths, Xp.indices)
