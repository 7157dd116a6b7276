"""What we use of the trainers of TRL and transformers though it is private.

``ConstrainedTrainer`` replaces three more methods of TRL. Another version may rename them all.
Before you raise a version, read these methods there.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import torch
from transformers import Trainer
from trl import GRPOTrainer

from daedalus.runs.processes import gathered
from daedalus.training.generation import repeatable_attention

WRITTEN_FOR = {"trl": "1.14.2", "transformers": "5.17.0"}
"""Versions in which these methods were read."""

Change = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""From log-probabilities and advantages of B answers, groups side by side, to other advantages."""


def replace_advantages(trainer: GRPOTrainer, change: Change) -> None:
    """Replace the advantages of each batch.

    They belong to the policy before the batch. So they hold for one pass over it.
    """
    score = trainer._generate_and_score_completions

    def scored(inputs: list[dict[str, Any]]) -> dict[str, Any]:
        output = score(inputs)
        own = output["advantages"]
        advantages = change(gather(_sequence_logps(trainer, output)), gather(own))
        start = trainer.accelerator.process_index * len(own)
        return output | {"advantages": advantages[start : start + len(own)]}

    gather = trainer.accelerator.gather
    vars(trainer)["_generate_and_score_completions"] = scored


def _sequence_logps(trainer: GRPOTrainer, output: dict[str, Any]) -> torch.Tensor:
    """Return the log-probability of each answer in a batch, shape (B,)."""
    tokens, here = (
        torch.cat([output[f"prompt_{each}"], output[f"completion_{each}"]], dim=1)
        for each in ("ids", "mask")
    )
    length = output["completion_ids"].shape[1]
    with torch.no_grad():
        size = trainer.args.per_device_train_batch_size
        logps, *_ = trainer._get_per_token_logps_and_entropies(
            trainer.model, tokens, here, length, batch_size=size
        )
    mask = output["completion_mask"] * output.get("tool_mask", 1)
    return cast(torch.Tensor, (logps * mask).sum(dim=1))


def skip_passes(trainer: Trainer, steps: int) -> None:
    """Let a resumed trainer draw the order of prompts that an uninterrupted one has.

    TRL's sampler draws one order for each pass over the prompts, from a generator that begins anew
    with each launch.

    Args:
        trainer: Any trainer; the samplers of others than GRPO know their pass by themselves.
        steps: Optimiser steps that were made before.
    """
    if not isinstance(trainer, GRPOTrainer):
        return
    make = trainer._get_train_sampler
    batches = len(trainer.get_train_dataloader())
    per_pass = max(1, batches // trainer.args.gradient_accumulation_steps)

    def after_passes(*arguments: Any) -> Any:
        sampler: Any = make(*arguments)
        for _ in range(steps // per_pass):
            torch.randperm(sampler.num_samples, generator=sampler.generator)
        return sampler

    vars(trainer)["_get_train_sampler"] = after_passes


def wrap_generation(trainer: GRPOTrainer) -> None:
    """Sample the same completions on any number of threads, and log the seconds that this takes.

    TRL has no hook around sampling alone, and logs the seconds of a whole step.
    """
    generate = trainer._generate

    def timed(*arguments: Any, **options: Any) -> Any:
        began = time.perf_counter()
        with repeatable_attention():
            completions = generate(*arguments, **options)
        trainer._metrics["train"]["generation_seconds"].append(time.perf_counter() - began)
        return completions

    vars(trainer)["_generate"] = timed


def finish_checkpoints_together(trainer: Trainer) -> None:
    """Let a checkpoint be complete only when each process has written its random state to it.

    The main process then writes the file that completes a checkpoint. It would not wait for the
    others, and no callback comes in between.
    """
    save = trainer._save_rng_state

    def saved(folder: str) -> None:
        save(folder)
        gathered([None])

    vars(trainer)["_save_rng_state"] = saved


def load_checkpoint(trainer: Trainer, checkpoint: Path) -> None:
    """Load the weights of a finished phase. From its checkpoint ``train`` would make one step more.

    It takes adapters as well as whole models.
    """
    trainer._load_from_checkpoint(str(checkpoint))
