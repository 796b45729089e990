"""PyTorch's bidirectional LSTM as a Thinc layer. The only module of the package that imports torch."""

from collections.abc import Callable
from typing import cast

import torch
from thinc.api import ArgsKwargs, Model, PyTorchWrapper, torch2xp, xp2torch
from thinc.shims import PyTorchShim
from thinc.types import Floats3d, Padded
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

InT = Padded
OutT = Padded


def torch_bilstm(input_width: int, *, width: int, depth: int, dropout: float) -> Model[InT, OutT]:
    """Map the padded vectors of several docs to padded vectors of both directions.

    input_width (int): Width of the input.
    width (int): Width of one direction; the output is twice as wide.
    depth (int): Number of layers.
    dropout (float): Dropout of the input, between the layers and of the output during training. The `drop` of
        `nlp.update` does not change it.
    """
    module = BiLSTM(input_width, width=width, depth=depth, dropout=dropout)
    model: Model[InT, OutT] = PyTorchWrapper(module, convert_inputs, convert_outputs)
    model.set_dim("nI", input_width)
    model.set_dim("nO", 2 * width)
    return model


class BiLSTM(torch.nn.Module):
    """A stack of bidirectional LSTM layers that never reads padding."""

    def __init__(self, input_width: int, *, width: int, depth: int, dropout: float) -> None:
        super().__init__()
        # PyTorch warns about dropout between layers if there is only one.
        between = dropout if depth > 1 else 0.0
        self.layers = torch.nn.LSTM(input_width, width, depth, bidirectional=True, dropout=between)
        self.dropout = torch.nn.Dropout(dropout)

    def forward(self, X: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        # Packed, because the backward direction would otherwise start in the padding.
        packed = pack_padded_sequence(self.dropout(X), lengths, enforce_sorted=False)
        padded, _ = pad_packed_sequence(self.layers(packed)[0], total_length=X.shape[0])
        return self.dropout(padded)


def convert_inputs(model: Model[InT, OutT], Xp: Padded, is_train: bool) -> tuple[ArgsKwargs, Callable]:
    X = xp2torch(Xp.data, requires_grad=True, device=_device(model))
    # PyTorch wants the lengths on the CPU, and none of them 0: an empty doc gets one token of padding, which nobody
    # reads.
    lengths = torch.as_tensor(model.ops.to_numpy(Xp.lengths), dtype=torch.int64).clamp(min=1)

    def backprop(d_inputs: ArgsKwargs) -> Padded:
        return _padded_like(Xp, d_inputs.args[0])

    return ArgsKwargs(args=(X, lengths), kwargs={}), backprop


def convert_outputs(
    model: Model[InT, OutT], Xp_Y: tuple[Padded, torch.Tensor], is_train: bool
) -> tuple[Padded, Callable]:
    Xp, Y = Xp_Y

    def backprop(dYp: Padded) -> ArgsKwargs:
        dY = xp2torch(dYp.data, device=_device(model))
        return ArgsKwargs(args=(Y,), kwargs={"grad_tensors": dY})

    return _padded_like(Xp, Y), backprop


def _device(model: Model[InT, OutT]) -> torch.device:
    return cast(PyTorchShim, model.shims[0]).device


def _padded_like(Xp: Padded, data: torch.Tensor) -> Padded:
    return Padded(cast(Floats3d, torch2xp(data)), Xp.size_at_t, Xp.lengths, Xp.indices)
