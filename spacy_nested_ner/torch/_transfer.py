"""Tensors to the CPU, where the dynamic programs run, and back to their device.

On a CUDA device, both copies go through pinned memory. The way there waits for the current stream, because the
programs need the numbers; the way back does not, and the device goes on while it lasts.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor


def to_host(tensor: Tensor) -> np.ndarray[Any, np.dtype[Any]]:
    """The values of a tensor. On the CPU, this is its memory."""
    tensor = tensor.detach()
    if tensor.device.type == "meta":
        raise ValueError("scores are on the device meta, which holds no values; expected a device that does")
    if tensor.device.type != "cuda":
        return tensor.cpu().numpy()
    pinned = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
    pinned.copy_(tensor, non_blocking=True)
    torch.cuda.current_stream(tensor.device).synchronize()
    return pinned.numpy()


def to_device(array: np.ndarray[Any, np.dtype[Any]], device: torch.device) -> Tensor:
    """A tensor with the values of an array, which is not used otherwise. On the CPU, it shares its memory."""
    tensor = torch.from_numpy(array)
    if device.type == "cuda":
        # PyTorch does not use the pinned memory again before the copy is done.
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


def widest(device: torch.device) -> torch.dtype:
    """The type for sums over a sentence: double precision, where the device has it."""
    return torch.float32 if device.type == "mps" else torch.float64
