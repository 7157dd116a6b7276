"""Settings of the tabular policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from daedalus.checks import Checked, above, at_least, one_of
from daedalus.training.algorithms.grpo.settings import BOLTZMANN, TARGET, TARGETED_LOSSES
from daedalus.training.literals import TabularLoss

_SHARPNESS = (30.0, 1000.0)  # as in conf/training/boltzmann.yaml


@dataclass
class TabularSettings(Checked):
    """Settings of ``train_tabular``, by GRPO's names where they mean the same.

    Attributes:
        steps: Steps of the optimiser.
        learning_rate: Rate of Adam, constant.
        prompts_per_step: States in a step.
        group_size: Mechanisms that are compared in each state.
        states: Number of states from which those of a step are drawn.
        renew_every: Steps after which the policy plays up to new states; 0 keeps the first, up to
            which a random walk plays.
        futures: Number of futures in which a state's mechanisms are played.
        horizon: Steps of each future; all are scored.
        loss_type: ``grpo``, ``target`` with the advantages of ``target_advantages``, or
            ``boltzmann`` with those of ``boltzmann_advantages``.
        sharpness: For ``boltzmann``: factor of the rewards at the first step.
        last_sharpness: The same after the last step. In between it grows by the same factor each
            step.
        neighbours: Mechanisms of each group that are not drawn. Each is a drawn one with another
            value of one field. They need the loss ``boltzmann``.
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
    loss_type: TabularLoss = one_of(("grpo", *TARGETED_LOSSES), TARGET)
    sharpness: float = above(0, _SHARPNESS[0])
    last_sharpness: float = above(0, _SHARPNESS[1])
    neighbours: int = at_least(0, 0, "an integer")
    entropy_bonus: float = at_least(0, 0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.states < self.prompts_per_step:
            raise ValueError(
                f"states: {self.states}; a step takes {self.prompts_per_step} (prompts_per_step), "
                "so give as many or more"
            )
        others = (self.neighbours, self.sharpness, self.last_sharpness) != (0, *_SHARPNESS)
        if others and self.loss_type != BOLTZMANN:
            raise ValueError(
                "neighbours, sharpness and last_sharpness: no other loss has them; set loss_type: "
                "boltzmann"
            )
        if self.neighbours >= self.group_size:
            raise ValueError(f"neighbours: {self.neighbours}; give less than group_size")


def check_updates(
    numbers: TabularSettings, updates: Mapping[str, TabularSettings], episode_length: int
) -> None:
    """Refuse futures longer than an episode, and updates without a name that files can bear.

    Args:
        numbers: The settings ``numbers``.
        updates: Those of ``updates``, which are trained instead, by name.
        episode_length: Steps of an episode.

    Raises:
        ValueError: The message says what to change.
    """
    if updates and numbers != TabularSettings():
        raise ValueError("numbers: the updates are trained instead; set updates.NAME")
    for name in updates:
        if not name.isidentifier():
            raise ValueError(f"updates.{name}: name it by letters, digits and underscores")
    named = {f"updates.{name}": each for name, each in updates.items()}
    for key, each in {"numbers": numbers, **named}.items():
        if each.horizon > episode_length:
            raise ValueError(
                f"{key}.horizon: {each.horizon}; an episode has {episode_length} steps"
            )
