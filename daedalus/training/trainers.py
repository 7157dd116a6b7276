"""Functions of both trainers: shared options, and training that resumes from a checkpoint."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, cast

import torch
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
from transformers import (
    AutoModelForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    Trainer,
)
from transformers.distributed.fsdp import is_fsdp_managed_module

from daedalus.processes import gathered, is_sharded, once
from daedalus.tracking import Tracker
from daedalus.training.backends import train_adapters_in_float32
from daedalus.training.checkpoints import completed_steps, last_checkpoint
from daedalus.training.hardware import memory_advice
from daedalus.training.model import keep_numbers_alike, load_language_model
from daedalus.training.signals import SignalsCallback, show_progress

logger = logging.getLogger(__name__)


def shared_options(folder: Path, seed: int, save_every: int) -> dict[str, Any]:
    """Return keyword arguments for TRL's configs: device, precision, logging and checkpoints.

    TRL turns bf16 and gradient checkpointing on by default. A small model on a CPU needs neither.
    Unsloth has another optimiser and weight decay by default, so both are set. Every step uses all
    parameters, so several processes need not look for others.
    """
    gpu = torch.cuda.is_available()
    return {
        "output_dir": str(folder),
        "seed": seed,
        "data_seed": seed,
        "optim": "adamw_torch_fused",
        "weight_decay": 0.0,
        "use_cpu": not gpu,
        "bf16": gpu,
        "gradient_checkpointing": gpu,
        "ddp_find_unused_parameters": False,
        "logging_steps": 1,
        "save_steps": save_every,
        "save_total_limit": 2,
        "report_to": "none",
    }


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
    train_adapters_in_float32(model)
    keep_numbers_alike(cast(PreTrainedModel, model), tokenizer)
    show_progress(trainer)
    trainer.add_callback(SignalsCallback(tracker, phase))
    finish_checkpoints_together(trainer)
    checkpoint, steps = once(lambda: (last_checkpoint(folder), completed_steps(folder)))
    tracker.rewind(phase, steps)
    if checkpoint and steps >= trainer.args.max_steps:
        if is_sharded():
            return load_language_model(checkpoint).model
        trainer._load_from_checkpoint(str(checkpoint))  # train() would make one step more
        return cast(PreTrainedModel, trainer.model)
    logger.info("%s, %d steps", phase.upper(), trainer.args.max_steps)
    with memory_advice(phase):
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    return whole(cast(PreTrainedModel, trainer.model))


def finish_checkpoints_together(trainer: Trainer) -> None:
    """Let a checkpoint be complete only when each process has written its random state to it.

    The main process writes the file that completes a checkpoint. It would not wait for the others.
    """
    save = trainer._save_rng_state

    def saved(folder: str) -> None:
        save(folder)
        gathered([None])

    vars(trainer)["_save_rng_state"] = saved


def whole(model: PreTrainedModel) -> PreTrainedModel:
    """Return the model with all its weights in this process. Every process must call it.

    FSDP leaves each process a part of the weights. Such a model answers only if all ask it.
    """
    if not is_fsdp_managed_module(model):
        return model
    weights = get_model_state_dict(model, options=StateDictOptions(full_state_dict=True))
    copy = AutoModelForCausalLM.from_config(model.config, dtype=model.dtype)
    copy.load_state_dict(weights)
    copy.generation_config = model.generation_config
    del weights  # a GPU then never holds all of them twice
    torch.nn.Module.to(copy, model.device)
    return cast(PreTrainedModel, copy)
