"""How long a training step takes, alone and beside busy processes."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from transformers import PreTrainedModel

from daedalus.design.env import DesignEnv
from daedalus.design.language.prompt import PromptSettings
from daedalus.training.model import make_language_model
from daedalus.training.settings import ModelSettings

SEQUENCES, TOKENS = 32, 128
_STEPS = 15


def step_time(settings: ModelSettings, env: DesignEnv, busy: int) -> tuple[float, float]:
    """Return the median seconds of a step of the embedded model, alone and beside busy processes.

    A step is a forward and a backward pass, and a step of the optimizer, on ``SEQUENCES`` sequences
    of ``TOKENS`` tokens.
    """
    model = make_language_model(settings, PromptSettings(), env, seed=0).model.train()
    alone = _seconds(model)
    with busy_processes(busy):
        return alone, _seconds(model)


def _seconds(model: PreTrainedModel) -> float:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    tokens = torch.randint(0, 256, (SEQUENCES, TOKENS))
    times = []
    for _ in range(_STEPS):
        began = time.perf_counter()
        optimizer.zero_grad()
        model(input_ids=tokens, labels=tokens).loss.backward()
        optimizer.step()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


@contextmanager
def busy_processes(count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Let processes keep a core busy each; they are ended with the block."""
    command = [sys.executable, "-c", "while True: pass"]
    busy = [subprocess.Popen(command) for _ in range(count)]
    try:
        yield busy
    finally:
        for each in busy:
            each.kill()
            each.wait()
