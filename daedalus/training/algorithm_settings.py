"""What the settings of all training algorithms have in common. Nothing here imports torch."""

from __future__ import annotations

import math
from dataclasses import dataclass

from daedalus.checks import Checked, above, at_least


@dataclass
class AlgorithmSettings(Checked):
    """Settings of an algorithm: those of ``training.NAME`` are in ``algorithms/NAME/settings.py``.

    Attributes:
        steps: Optimiser steps; 0 skips the algorithm.
        learning_rate: Peak rate.
        warmup_steps: Steps of the linear warm-up.
        save_every: Steps between checkpoints.
    """

    steps: int = at_least(0, 0)
    learning_rate: float = at_least(0, 2e-4)
    warmup_steps: int = at_least(0, 5)
    save_every: int = at_least(1, 50)


@dataclass
class ReinforcementSettings(AlgorithmSettings):
    """Settings of an algorithm that samples completions and learns from their rewards.

    Attributes:
        prompts_per_step: Market states in a step, of all processes together.
        group_size: Completions of each prompt.
        micro_batch: Completions in one backward pass; divides the step's completions. A process
            that has fewer takes all of its own.
        states: Number of market states from which prompts are drawn.
        own_states: Whether the model plays the episodes up to these states. Otherwise a random
            walk does, over the portfolio if there is one.
        futures: Number of futures K in which each mechanism is played. A group shares them.
        horizon: Steps of each future, at least 1; all are scored.
        commitment_steps: Steps for which the mechanism stays in force, from 1 to below the horizon.
            Then the teacher of SFT chooses the mechanisms. With None it stays for the whole
            horizon.
        constrained: Whether completions are drawn from the texts that spell a mechanism. Then every
            one is valid, and the algorithm learns at choices alone, see
            ``daedalus.training.constrained``.
        temperature: Sampling temperature of completions.
        max_completion_tokens: Largest number of tokens of a completion. Constrained ones have no
            limit.
    """

    prompts_per_step: int = at_least(1, 8)
    group_size: int = at_least(2, 8)
    micro_batch: int = at_least(1, 64)
    states: int = at_least(1, 2048)
    own_states: bool = False
    futures: int = at_least(1, 64)
    horizon: int = at_least(1, 1)
    commitment_steps: int | None = None
    constrained: bool = False
    temperature: float = above(0, 1.0)
    max_completion_tokens: int = at_least(1, 128)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.commitment_steps is not None and not 1 <= self.commitment_steps < self.horizon:
            raise ValueError(
                f"commitment_steps: {self.commitment_steps}; "
                f"give an integer from 1 to below the horizon, {self.horizon}, or null"
            )
        self._check_batches()

    @property
    def neighbours_of_group(self) -> int:
        """Return how many completions of each group, its first, are neighbours: none."""
        return 0

    def _check_batches(self) -> None:
        """Check that the states suffice for a step, and that its completions can be divided."""
        prompts, micro_batch = self.prompts_per_step, self.micro_batch
        if self.steps and self.states < prompts:
            raise ValueError(
                f"states: {self.states}; a step takes {prompts} of them "
                f"(prompts_per_step), so give {prompts} or more, or a smaller prompts_per_step"
            )
        total = prompts * self.group_size
        if total % micro_batch:
            divisor = next(n for n in range(min(micro_batch, total), 0, -1) if total % n == 0)
            unit = micro_batch // math.gcd(micro_batch, self.group_size)
            raise ValueError(
                f"prompts_per_step: {prompts} in groups of {self.group_size} are "
                f"{total} completions, which micro_batch: {micro_batch} does not "
                f"divide; give prompts_per_step: {-(-prompts // unit) * unit}, or micro_batch: "
                f"{divisor}"
            )
