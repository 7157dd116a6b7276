"""A trainer of TRL whose answers are constrained: how it samples them, and how likely they are.

TRL draws the prompts, asks for rewards, makes advantages of them, sums the loss and moves the
weights. ``advantages.py`` replaces the advantages for the losses ``target`` and ``boltzmann``
alone. ``trainer.py`` says what a whole step does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import torch
from transformers import PreTrainedTokenizerBase
from trl import GRPOTrainer

from daedalus.design.search.space import GRID, FieldValues, neighbour
from daedalus.market.parsing import format_mechanism, parse_mechanism
from daedalus.training.constrained import Constraints
from daedalus.training.defaults import end_of_answer
from daedalus.training.generation import answer, generating
from daedalus.training.log_probabilities import choice_log_probabilities
from daedalus.training.model import LanguageModel
from daedalus.training.writing import Change


class ConstrainedTrainer(GRPOTrainer):
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

    def _generate_single_turn(
        self, prompt_ids: list[list[int]], *_: Any, **__: Any
    ) -> tuple[list[list[int]], None]:
        """Return the answers to each prompt. Each group begins with its neighbours."""
        tokenizer = cast(PreTrainedTokenizerBase, self.processing_class)
        language_model = LanguageModel(self.accelerator.unwrap_model(self.model), tokenizer)
        size, added = cast(int, self.num_generations), self.neighbours
        sampled = [each for place, each in enumerate(prompt_ids) if place % size >= added]
        with generating(language_model.model):  # gradient checkpointing would drop what it has read
            answers = answer(language_model, sampled, self.temperature, self.allow)
        whole = with_neighbours(
            sampled, answers, size - added, added, tokenizer, self.allow, self.change
        )
        return whole, None

    def _generate(self, prompts: list[Any]) -> tuple[Any, ...]:
        """Let the loss count the choices of an answer, and no token that the schema gives."""
        prompt_ids, answers, _, *rest = super()._generate(prompts)
        masks = []
        for prompt, tokens in zip(prompt_ids, answers, strict=True):
            places = set(self.allow(prompt).choices(tokens).places.tolist())
            masks.append([int(place in places) for place in range(len(tokens))])
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
        """Return log-probabilities and entropies of choices, shape (B, logits_to_keep) each."""
        size = batch_size or len(input_ids)
        parts = [
            choice_log_probabilities(model, *part, logits_to_keep, self.allow, self.temperature)
            for part in zip(input_ids.split(size), attention_mask.split(size), strict=True)
        ]
        logps, entropies = (torch.cat(each) for each in zip(*parts, strict=True))
        return logps, entropies, None


def with_neighbours(
    prompts: Sequence[list[int]],
    answers: Sequence[list[int]],
    sampled: int,
    count: int,
    tokenizer: PreTrainedTokenizerBase,
    allow: Constraints,
    change: Change,
) -> list[list[int]]:
    """Return groups in which neighbours of sampled answers come before these.

    Groups of ``sampled`` valid answers, as tokens, stand side by side, and so do their prompts.
    Each group gets ``count`` neighbours, drawn by torch's global random numbers.
    """
    if not count:
        return list(answers)
    rng, end = np.random.default_rng(int(torch.randint(2**62, ()))), end_of_answer(tokenizer)
    whole: list[list[int]] = []
    for start in range(0, len(answers), sampled):
        prompt, group = prompts[start], answers[start : start + sampled]
        parents = [group[place] for place in rng.integers(len(group), size=count)]
        texts = [str(tokenizer.decode(each, skip_special_tokens=True)) for each in parents]
        changed = [change(prompt, text, rng) for text in texts]
        whole += [[*allow(prompt).tokens(each), end] for each in changed]
        whole += group
    return whole


def one_field(grid: FieldValues = GRID) -> Change:
    """Return what changes one field of an answer that is a mechanism to another value of a grid."""

    def change(prompt: Sequence[int], text: str, rng: np.random.Generator) -> str:
        mechanism = parse_mechanism(text).mechanism
        assert mechanism is not None
        return format_mechanism(neighbour(mechanism, rng, grid))

    return change
