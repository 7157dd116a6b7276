"""Functions of both trainers: shared options, and training that resumes from a checkpoint."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import Any, cast

import torch
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
from transformers import (
    AutoModelForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    Trainer,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)
from transformers.distributed.fsdp import is_fsdp_managed_module

from daedalus.checks import CannotRunError
from daedalus.runs.processes import gathered, is_sharded, once
from daedalus.runs.tracking import Tracker
from daedalus.training.backends import train_adapters_in_float32
from daedalus.training.checkpoints import completed_steps, last_checkpoint
from daedalus.training.hardware import memory_advice
from daedalus.training.model import keep_numbers_alike, load_language_model
from daedalus.training.signals import SignalsCallback, show_progress

SAVE_SECONDS = 60.0
"""Age of the last checkpoint at which training saves another."""

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

    Raises:
        CannotRunError: Other steps were made than the trainer's settings ask for.
    """
    model, tokenizer = trainer.model, trainer.processing_class
    assert isinstance(model, torch.nn.Module)
    assert isinstance(tokenizer, PreTrainedTokenizerBase)
    train_adapters_in_float32(model)
    keep_numbers_alike(cast(PreTrainedModel, model), tokenizer)
    show_progress(trainer)
    trainer.add_callback(SignalsCallback(tracker, phase))
    trainer.add_callback(SaveByTime())
    finish_checkpoints_together(trainer)
    checkpoint, steps = once(lambda: (last_checkpoint(folder), completed_steps(folder)))
    tracker.rewind(phase, steps)
    if checkpoint and steps >= trainer.args.max_steps:
        _require_steps(phase, steps, trainer.args.max_steps)
        if is_sharded():
            return load_language_model(checkpoint).model
        trainer._load_from_checkpoint(str(checkpoint))  # train() would make one step more
        return cast(PreTrainedModel, trainer.model)
    logger.info("%s, %d steps", phase.upper(), trainer.args.max_steps)
    with memory_advice(phase):
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    _require_steps(phase, trainer.state.global_step, trainer.args.max_steps)
    return whole(cast(PreTrainedModel, trainer.model))


def _require_steps(phase: str, done: int, asked: int) -> None:
    if done != asked:
        raise CannotRunError(
            f"{phase}: it made {done} steps, and its settings ask for {asked}, so its model is not "
            "exported; start a new run, with enough states or examples for each step"
        )


class SaveByTime(TrainerCallback):
    """Saves a checkpoint when the last one is a minute old, so that an interrupt loses no more.

    The main process reads its clock for all. A checkpoint in the middle of several passes over the
    same completions would lose these, so it waits for the last pass.
    """

    def __init__(self) -> None:
        self._saved = time.monotonic()

    def on_train_begin(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **kwargs: Any,
    ) -> None:
        """Start the clock."""
        self._saved = time.monotonic()

    def on_save(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **kwargs: Any,
    ) -> None:
        """Start the clock anew, whatever the checkpoint was saved for."""
        self._saved = time.monotonic()

    def on_step_end(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **kwargs: Any,
    ) -> None:
        """Ask for a checkpoint if the last one is old."""
        passes = getattr(args, "num_iterations", 1)  # GRPO alone has it
        if state.global_step % passes == 0:
            control.should_save |= once(lambda: time.monotonic() - self._saved >= SAVE_SECONDS)


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
