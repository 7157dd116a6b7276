"""All that we use of the trainers of TRL and transformers though it is private.

Another version may rename it. Before you raise a version, read these methods there.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import torch
from transformers import PreTrainedTokenizerBase, Trainer
from trl import GRPOTrainer

from daedalus.design.search.space import GRID, Settings
from daedalus.runs.processes import gathered
from daedalus.training.constrained import Constraint
from daedalus.training.generating import generating, repeatable_attention
from daedalus.training.generation import answer
from daedalus.training.model import LanguageModel
from daedalus.training.neighbours import with_neighbours
from daedalus.training.scores import choice_scores

WRITTEN_FOR = {"trl": "1.14.2", "transformers": "5.17.0"}
"""Versions in which these methods were read."""


class ConstrainedTrainer(GRPOTrainer):
    """GRPO whose answers are constrained.

    Losses, entropies and divergences count choices alone. Their probabilities are those from which
    the choices were drawn.

    Args:
        constraint: What the model may write.
        neighbours: Answers of each group that differ from sampled ones in one field.
        grid: Values of each field that these take.
    """

    def __init__(
        self,
        *arguments: Any,
        constraint: Constraint,
        neighbours: int = 0,
        grid: Settings = GRID,
        **options: Any,
    ) -> None:
        self.constraint = constraint
        self.neighbours = neighbours
        self.grid = grid
        super().__init__(*arguments, **options)

    def _generate_single_turn(
        self, prompt_ids: list[list[int]], *_: Any, **__: Any
    ) -> tuple[list[list[int]], None]:
        tokenizer = cast(PreTrainedTokenizerBase, self.processing_class)
        language_model = LanguageModel(self.accelerator.unwrap_model(self.model), tokenizer)
        size, added = cast(int, self.num_generations), self.neighbours
        sampled = [each for place, each in enumerate(prompt_ids) if place % size >= added]
        with generating(language_model.model):  # gradient checkpointing would drop what it has read
            answers = answer(language_model, sampled, self.temperature, self.constraint)
        whole = with_neighbours(answers, size - added, added, tokenizer, self.constraint, self.grid)
        return whole, None

    def _generate(self, prompts: list[Any]) -> tuple[Any, ...]:
        prompt_ids, answers, _, *rest = super()._generate(prompts)
        masks = [[0] * len(each) for each in answers]
        for mask, each in zip(masks, answers, strict=True):
            for place in self.constraint.choices(each).places:
                mask[place] = 1
        return prompt_ids, answers, masks, *rest

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
            choice_scores(model, *part, logits_to_keep, self.constraint, self.temperature)
            for part in zip(input_ids.split(size), attention_mask.split(size), strict=True)
        ]
        logps, entropies = (torch.cat(each) for each in zip(*parts, strict=True))
        return logps, entropies, None


Aim = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""From log-probabilities and advantages of B answers, groups side by side, to other advantages."""


def replace_advantages(trainer: GRPOTrainer, aim: Aim) -> None:
    """Replace the advantages of each batch.

    They belong to the policy before the batch. So they hold for one pass over it.
    """
    score = trainer._generate_and_score_completions

    def aimed(inputs: list[dict[str, Any]]) -> dict[str, Any]:
        output = score(inputs)
        aims = aim(gather(_sequence_logps(trainer, output)), gather(output["advantages"]))
        count = len(output["advantages"])
        start = trainer.accelerator.process_index * count
        return output | {"advantages": aims[start : start + count]}

    gather = trainer.accelerator.gather
    vars(trainer)["_generate_and_score_completions"] = aimed


def _sequence_logps(trainer: GRPOTrainer, output: dict[str, Any]) -> torch.Tensor:
    """Return the log-probability of each answer in a batch, shape (B,)."""
    tokens, here = (
        torch.cat([output[f"prompt_{each}"], output[f"completion_{each}"]], dim=1)
        for each in ("ids", "mask")
    )
    length = output["completion_ids"].shape[1]
    with torch.no_grad():
        logps, *_ = trainer._get_per_token_logps_and_entropies(
            trainer.model, tokens, here, length, trainer.args.per_device_train_batch_size
        )
    mask = output["completion_mask"] * output.get("tool_mask", 1)
    return cast(torch.Tensor, (logps * mask).sum(dim=1))


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
