"""A trainer of TRL whose answers are constrained: how it samples them, and how likely they are.

TRL draws the prompts, asks for rewards, makes advantages of them, sums the loss and moves the
weights. ``advantages.py`` replaces the advantages for the losses ``target`` and ``boltzmann``
alone. ``trainer.py`` says what a whole step does.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from transformers import PreTrainedTokenizerBase

from daedalus.training.algorithms.grpo.neighbour_answers import one_field, with_neighbours
from daedalus.training.constrained import Constraints
from daedalus.training.generation import answer, generating
from daedalus.training.log_probabilities import choice_log_probabilities
from daedalus.training.model import LanguageModel
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

    def log_probabilities_of_answers(
        self, model: torch.nn.Module, tokens: torch.Tensor, mask: torch.Tensor, length: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return log-probabilities and entropies of choices, shape (B, length) each."""
        return choice_log_probabilities(model, tokens, mask, length, self.allow, self.temperature)
