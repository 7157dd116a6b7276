"""Functions of both trainers: shared options, and training that resumes from a checkpoint."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, cast

import torch
from peft import LoraConfig
from transformers import PreTrainedModel, PreTrainedTokenizerBase, Trainer

from daedalus.tracking import Tracker
from daedalus.training.checkpoints import completed_steps, last_checkpoint
from daedalus.training.model import keep_numbers_alike
from daedalus.training.settings import LoraSettings
from daedalus.training.signals import SignalsCallback, show_progress

logger = logging.getLogger(__name__)

_TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def shared_options(folder: Path, seed: int, save_every: int) -> dict[str, Any]:
    """Return keyword arguments for TRL's configs: device, precision, logging and checkpoints.

    TRL turns bf16 and gradient checkpointing on by default. A small model on a CPU needs neither.
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


def run_phase(trainer: Trainer, phase: str, tracker: Tracker, folder: Path) -> PreTrainedModel:
    """Train, from the last complete checkpoint below ``folder`` if there is one.

    Args:
        trainer: One of TRL's trainers.
        phase: Name of the phase in logs.
        tracker: Receives the logs. Records after that checkpoint are removed.
        folder: Output folder of the trainer.

    Returns:
        The trained model.
    """
    model, tokenizer = trainer.model, trainer.processing_class
    assert isinstance(model, torch.nn.Module)
    assert isinstance(tokenizer, PreTrainedTokenizerBase)
    keep_numbers_alike(cast(PreTrainedModel, model), tokenizer)
    show_progress(trainer)
    trainer.add_callback(SignalsCallback(tracker, phase))
    checkpoint = last_checkpoint(folder)
    tracker.rewind(phase, completed_steps(folder))
    logger.info("%s, %d steps", phase.upper(), trainer.args.max_steps)
    trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    return cast(PreTrainedModel, trainer.model)
