"""The mode in which a model generates. To ask a model needs no library of training."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from transformers import PreTrainedModel


def repeatable_attention() -> AbstractContextManager[None]:
    """Return a context in which CPUs generate the same text on any number of threads.

    PyTorch's flash attention for CPUs rounds differently on each thread when a model generates
    token by token. GPUs keep it.
    """
    return nullcontext() if torch.cuda.is_available() else sdpa_kernel(SDPBackend.MATH)


@contextmanager
def generating(model: PreTrainedModel) -> Iterator[None]:
    """Switch a model to generation, and afterwards back to the mode that it had."""
    was_training = model.training
    prepare = getattr(model, "for_inference", model.eval)  # Unsloth's models have their own
    restore = getattr(model, "for_training", model.train)
    prepare()
    try:
        with torch.inference_mode(), repeatable_attention():
            yield
    finally:
        if was_training:
            restore()
