"""Settings of the policy of plain numbers."""

from __future__ import annotations

from dataclasses import dataclass

from daedalus.checks import Checked, above, at_least, one_of
from daedalus.training.algorithms.grpo.settings import TARGET


@dataclass
class NumbersSettings(Checked):
    """Settings of ``train_numbers``, by GRPO's names where they mean the same.

    Attributes:
        steps: Steps of the optimiser.
        learning_rate: Rate of Adam, constant.
        prompts_per_step: States in a step.
        group_size: Mechanisms that are compared in each state.
        states: Number of states from which those of a step are drawn.
        renew_every: Steps after which the policy plays up to new states; 0 keeps the first, up to
            which a random walk plays.
        futures: Number of futures in which a state's mechanisms are played.
        horizon: Steps of each future; the last is scored.
        loss_type: ``grpo``, or ``target`` with the advantages of ``target_advantages``.
        entropy_bonus: Weight of an answer's entropy in the loss, which falls to 0 at the end.
    """

    steps: int = at_least(1, 300, "an integer")
    learning_rate: float = above(0, 0.05)
    prompts_per_step: int = at_least(1, 8, "an integer")
    group_size: int = at_least(2, 8, "an integer")
    states: int = at_least(1, 400, "an integer")
    renew_every: int = at_least(0, 50, "an integer")
    futures: int = at_least(1, 32, "an integer")
    horizon: int = at_least(1, 5, "an integer")
    loss_type: str = one_of(("grpo", TARGET), TARGET)
    entropy_bonus: float = at_least(0, 0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.states < self.prompts_per_step:
            raise ValueError(
                f"states: {self.states}; a step takes {self.prompts_per_step} (prompts_per_step), "
                "so give as many or more"
            )
