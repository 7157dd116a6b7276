"""What all trainers share: their options, and training that resumes from a checkpoint."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import Any, cast

import torch
from peft import LoraConfig, PeftModel
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
from transformers import (
    AutoModelForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    ProgressCallback,
    Trainer,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
    set_seed,
)
from transformers.distributed.fsdp import is_fsdp_managed_module

from daedalus.checks import CannotRunError
from daedalus.runs.processes import handed_over, is_sharded
from daedalus.training.algorithm_settings import AlgorithmSettings
from daedalus.training.backends import adapted_by_unsloth, lora_config, train_adapters_in_float32
from daedalus.training.checkpoints import completed_steps, last_checkpoint
from daedalus.training.hardware import memory_advice
from daedalus.training.model import LanguageModel, keep_numbers_alike, load_language_model
from daedalus.training.run import TrainingRun
from daedalus.training.trainer_logs import (
    ProgressBar,
    SignalsCallback,
    hide_small_progress_bars,
)
from daedalus.training.trl_internals import (
    finish_checkpoints_together,
    load_checkpoint,
    skip_passes,
)

SAVE_SECONDS = 60.0
"""Age of the last checkpoint at which training saves another."""

logger = logging.getLogger(__name__)


def prepared(
    language_model: LanguageModel, run: TrainingRun
) -> tuple[LanguageModel, LoraConfig | None]:
    """Return the model to train, and the adapters that the trainer has still to add.

    A model that has adapters keeps them, and Unsloth adds its own. Without a rank there are none,
    and all weights train.
    """
    hide_small_progress_bars()
    set_seed(run.seed)  # adapters are drawn before the trainer sets its seed
    if isinstance(language_model.model, PeftModel):
        return language_model, None
    if run.model.backend == "unsloth":
        return adapted_by_unsloth(language_model, run.model.lora, run.seed), None
    return language_model, lora_config(run.model.lora)


def shared_options(settings: AlgorithmSettings, folder: Path, seed: int) -> dict[str, Any]:
    """Return keyword arguments for TRL's configs: steps, precision, logging and checkpoints.

    TRL turns bf16 and gradient checkpointing on by default. A small model on a CPU needs neither.
    Unsloth has another optimiser and weight decay by default, so both are set. Every step uses all
    parameters, so several processes need not look for others.
    """
    gpu = torch.cuda.is_available()
    return {
        "output_dir": str(folder),
        "max_steps": settings.steps,
        "learning_rate": settings.learning_rate,
        "warmup_steps": settings.warmup_steps,
        "seed": seed,
        "data_seed": seed,
        "optim": "adamw_torch_fused",
        "weight_decay": 0.0,
        "use_cpu": not gpu,
        "bf16": gpu,
        "gradient_checkpointing": gpu,
        "ddp_find_unused_parameters": False,
        "logging_steps": 1,
        "logging_nan_inf_filter": False,  # it would show 0 instead
        "save_steps": settings.save_every,
        "save_total_limit": 2,
        "report_to": "none",
    }


def run_phase(trainer: Trainer, phase: str, run: TrainingRun) -> PreTrainedModel:
    """Train, from the last complete checkpoint of the phase if there is one; return the model.

    The trainer's output folder is that of the phase's checkpoints. The run's log loses the records
    after that checkpoint.

    Raises:
        CannotRunError: Other steps were made than the trainer's settings ask for.
    """
    model, tokenizer = trainer.model, trainer.processing_class
    assert isinstance(model, torch.nn.Module)
    assert isinstance(tokenizer, PreTrainedTokenizerBase)
    train_adapters_in_float32(model)
    keep_numbers_alike(cast(PreTrainedModel, model), tokenizer)
    trainer.remove_callback(ProgressCallback)
    trainer.add_callback(ProgressBar)
    size, rate = _settings_to_lower(phase, run)
    trainer.add_callback(SignalsCallback(run.tracker, phase, rate))
    trainer.add_callback(SaveByTime())
    finish_checkpoints_together(trainer)
    folder = run.folder.checkpoints(phase)
    checkpoint, steps = handed_over((last_checkpoint(folder), completed_steps(folder)))
    run.tracker.rewind(phase, steps)
    if checkpoint and steps >= trainer.args.max_steps:
        _require_steps(phase, steps, trainer.args.max_steps)
        if is_sharded():
            return load_language_model(checkpoint).model
        load_checkpoint(trainer, checkpoint)
        return cast(PreTrainedModel, trainer.model)
    logger.info("%s, %d steps", phase.upper(), trainer.args.max_steps)
    if checkpoint:
        skip_passes(trainer, steps)
    with memory_advice(phase, size):
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    _require_steps(phase, trainer.state.global_step, trainer.args.max_steps)
    return whole(cast(PreTrainedModel, trainer.model))


def _settings_to_lower(phase: str, run: TrainingRun) -> tuple[str, str]:
    """Return the keys of the settings of a phase that take memory, and that set its rate."""
    if phase in run.settings.reinforcement:
        return f"training.{phase}.micro_batch", f"training.{phase}.learning_rate"
    part = "sft" if phase == "sft" else "sft.corrections"
    return "training.sft.batch_size", f"training.{part}.learning_rate"


def _require_steps(phase: str, done: int, steps: int) -> None:
    if done != steps:
        raise CannotRunError(
            f"{phase}: it made {done} steps, and its settings ask for {steps}, so its model is not "
            "exported; start a new run, with enough states or examples for each step"
        )


class SaveByTime(TrainerCallback):
    """Saves a checkpoint when the last one is a minute old, so that an interrupt loses no more.

    The main process reads its clock for all.
    """

    _saved: float

    def on_save(self, *_: Any, **__: Any) -> None:
        """Start the clock anew, whatever the checkpoint was saved for."""
        self._saved = time.monotonic()

    on_train_begin = on_save

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        """Ask for a checkpoint if the last one is old."""
        control.should_save |= handed_over(time.monotonic() - self._saved >= SAVE_SECONDS)


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
