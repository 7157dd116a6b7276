"""All that we use of the trainers of TRL and transformers though it is private.

Another version may rename it. Before you raise a version, read these methods there.
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


class OpenTrainer(GRPOTrainer):
    """GRPO with public methods where TRL has private ones. A subclass writes them."""

    def sample_answers(self, prompts: list[list[int]]) -> list[list[int]]:
        """Return the tokens of an answer to each prompt, groups side by side."""
        raise NotImplementedError

    def loss_mask(self, prompt: list[int], answer: list[int]) -> list[int]:
        """Return 1 for each token of an answer that the loss counts, and 0 for each other."""
        raise NotImplementedError

    def log_probabilities_of_answers(
        self, model: torch.nn.Module, tokens: torch.Tensor, mask: torch.Tensor, length: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return log-probabilities and entropies of answers' tokens, shape (B, length) each.

        Args:
            model: The policy, or its reference.
            tokens: Prompts and answers, shape (B, T).
            mask: 1 where there is a token and not padding, shape (B, T).
            length: Tokens of the longest answer; answers are the last ones of ``tokens``.
        """
        raise NotImplementedError

    def _generate_single_turn(
        self, prompt_ids: list[list[int]], *_: Any, **__: Any
    ) -> tuple[list[list[int]], None]:
        return self.sample_answers(prompt_ids), None

    def _generate(self, prompts: list[Any]) -> tuple[Any, ...]:
        prompt_ids, answers, _, *rest = super()._generate(prompts)
        masks = [self.loss_mask(*each) for each in zip(prompt_ids, answers, strict=True)]
        return prompt_ids, answers, masks, *rest  # the place of TRL's mask of tools, which it obeys

    def _get_per_token_logps_and_entropies(
        self,
        model: torch.nn.Module,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        logits_to_keep: int,
        batch_size: int | None = None,
        **_: Any,
    ) -> tuple[torch.Tensor, torch.Tensor, None]:
        size = batch_size or len(input_ids)
        parts = [
            self.log_probabilities_of_answers(model, *part, logits_to_keep)
            for part in zip(input_ids.split(size), attention_mask.split(size), strict=True)
        ]
        logps, entropies = (torch.cat(each) for each in zip(*parts, strict=True))
        return logps, entropies, None


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
