"""Settings of PPO."""

from __future__ import annotations

from dataclasses import dataclass

from daedalus.checks import Checked, above, at_least, within


@dataclass
class PpoTraining(Checked):
    """Settings of ``train_ppo``. The defaults took 9 minutes of one core in ``world``.

    Attributes:
        decisions: Steps of all markets together; the last rollout is played to its end.
        markets: Markets that are played side by side.
        rollout_steps: Steps of each market between two updates of the policy.
        epochs: Passes over the decisions of a rollout.
        batch_size: Decisions in a step of the optimiser, at most those of a rollout.
        learning_rate: Rate of Adam at first. It falls linearly with the decisions that are left,
            down to the first rate divided by the number of rollouts.
        discount: Worth of the next step's reward, 0 to 1.
        trace: Decay lambda of generalised advantage estimation, 0 to 1.
        clip: Largest change of an action's probabilities that an update rewards.
        entropy_bonus: Weight of the policy's entropy in the loss.
        width: Neurons in each of the two hidden layers.
    """

    decisions: int = at_least(1, 8_000_000, "an integer")
    markets: int = at_least(1, 1024, "an integer")
    rollout_steps: int = at_least(1, 10, "an integer")
    epochs: int = at_least(1, 4, "an integer")
    batch_size: int = at_least(2, 2048, "an integer")
    learning_rate: float = above(0, 1e-3)
    discount: float = within(0, 1, 0.8)
    trace: float = within(0, 1, 0.9)
    clip: float = above(0, 0.2)
    entropy_bonus: float = at_least(0, 1e-3)
    width: int = at_least(1, 64, "an integer")

    def __post_init__(self) -> None:
        super().__post_init__()
        rollout = self.markets * self.rollout_steps
        if self.batch_size > rollout:
            raise ValueError(
                f"batch_size: {self.batch_size}; a rollout has {rollout} decisions (markets x "
                "rollout_steps), so give as many or fewer"
            )
