"""Let the transformers of the experiments multiply in bfloat16: on a CPU with AVX512-BF16, that is twice as fast.

Weights, gradients and everything outside the transformer stay in float32.
"""

from typing import Any


def use_bfloat16_in_transformers() -> None:
    """For this process, and for every system in it: call it before a pipeline is created."""
    import torch
    from transformers import BertModel

    if hasattr(BertModel.forward, "__wrapped__"):
        return
    create, inner = BertModel.__init__, BertModel.forward

    def init(self: Any, config: Any, *args: Any, **kwargs: Any) -> None:
        # PyTorch's fused attention is slower in bfloat16: its backward pass makes many small products.
        config._attn_implementation = "eager"
        create(self, config, *args, **kwargs)

    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        with torch.autocast("cpu", torch.bfloat16):
            output = inner(self, *args, **kwargs)
        for name, value in output.items():
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                output[name] = value.float()
        return output

    forward.__wrapped__ = inner  # type: ignore[attr-defined]
    BertModel.__init__, BertModel.forward = init, forward
