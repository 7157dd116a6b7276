"""A step of GRPO: the answers of each group, their log-probabilities and their advantages.

TRL draws the prompts, asks for rewards, sums the loss and moves the weights. This is what it leaves
to us. ``daedalus/training/tabular.py`` has the whole step on one page.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from transformers import PreTrainedTokenizerBase
from trl import GRPOTrainer

from daedalus.training.algorithms.grpo.advantages import (
    boltzmann_advantages,
    sharpness_at,
    target_advantages,
)
from daedalus.training.algorithms.grpo.neighbour_answers import one_field, with_neighbours
from daedalus.training.algorithms.grpo.settings import TARGET, GrpoSettings
from daedalus.training.constrained import Constraints
from daedalus.training.generating import generating
from daedalus.training.generation import answer
from daedalus.training.model import LanguageModel
from daedalus.training.scores import choice_scores
from daedalus.training.trl_internals import OpenTrainer
from daedalus.training.writing import Change


class ConstrainedTrainer(OpenTrainer):
    """GRPO whose answers are constrained.

    Losses, entropies and divergences count choices alone. Their probabilities are those from which
    the choices were drawn.

    Args:
        allow: Returns what the model may write after a prompt.
        neighbours: Answers of each group that are changed from sampled ones.
        change: It changes them.
    """

    def __init__(
        self,
        *arguments: Any,
        allow: Constraints,
        neighbours: int = 0,
        change: Change | None = None,
        **options: Any,
    ) -> None:
        self.allow = allow
        self.neighbours = neighbours
        self.change = change or one_field()
        super().__init__(*arguments, **options)

    def sample_answers(self, prompts: list[list[int]]) -> list[list[int]]:
        """Return the answers to each prompt. Each group begins with its neighbours."""
        tokenizer = cast(PreTrainedTokenizerBase, self.processing_class)
        language_model = LanguageModel(self.accelerator.unwrap_model(self.model), tokenizer)
        size, added = cast(int, self.num_generations), self.neighbours
        sampled = [each for place, each in enumerate(prompts) if place % size >= added]
        with generating(language_model.model):  # gradient checkpointing would drop what it has read
            answers = answer(language_model, sampled, self.temperature, self.allow)
        return with_neighbours(
            sampled, answers, size - added, added, tokenizer, self.allow, self.change
        )

    def loss_mask(self, prompt: list[int], answer: list[int]) -> list[int]:
        """Return 1 for each choice of an answer, and 0 for each token that the schema gives."""
        mask = [0] * len(answer)
        for place in self.allow(prompt).choices(answer).places:
            mask[place] = 1
        return mask

    def score_answers(
        self, model: torch.nn.Module, tokens: torch.Tensor, mask: torch.Tensor, length: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return log-probabilities and entropies of choices, shape (B, length) each."""
        return choice_scores(model, tokens, mask, length, self.allow, self.temperature)


def targeted_advantages(
    trainer: GRPOTrainer, settings: GrpoSettings, logps: torch.Tensor, advantages: torch.Tensor
) -> torch.Tensor:
    """Return the advantages of the losses ``target`` and ``boltzmann`` at the present step.

    Args:
        trainer: It knows the step.
        settings: The loss.
        logps: Log-probabilities of B answers, groups side by side; shape (B,).
        advantages: Their advantages, shape (B,).
    """
    if settings.loss_type == TARGET:
        return target_advantages(logps, advantages, settings.group_size)
    done = trainer.state.global_step / trainer.args.max_steps
    sharpness = sharpness_at(done, settings.sharpness, settings.last_sharpness)
    return boltzmann_advantages(logps, sharpness * advantages, settings.group_size)
