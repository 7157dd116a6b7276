"""Options that both trainers share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig

from daedalus.training.settings import LoraSettings

_TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def shared_options(folder: Path, seed: int, save_every: int) -> dict[str, Any]:
    """Return keyword arguments for TRL's configs: device, precision, logging and checkpoints.

    On a CPU bf16 autocast and gradient checkpointing only cost time, see docs/log.md.
    """
    gpu = torch.cuda.is_available()
    return {
        "output_dir": str(folder),
        "seed": seed,
        "data_seed": seed,
        "use_cpu": not gpu,
        "bf16": gpu,
        "gradient_checkpointing": gpu,
        "logging_steps": 1,
        "save_steps": save_every,
        "save_total_limit": 2,
        "report_to": "none",
    }


def lora_config(settings: LoraSettings) -> LoraConfig | None:
    """Return adapters on every linear layer, or None to train all weights."""
    if not settings.rank:
        return None
    return LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules=_TARGETS,
        task_type="CAUSAL_LM",
    )
