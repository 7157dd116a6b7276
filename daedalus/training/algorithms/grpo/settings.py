"""Settings of GRPO."""

from __future__ import annotations

from dataclasses import dataclass

from daedalus.checks import above, at_least, one_of
from daedalus.training.algorithm_settings import ReinforcementSettings
from daedalus.training.literals import Loss, RewardScale, Schedule

REWARD_SCALES = ("group", "batch", "none")
SCHEDULES = ("constant", "constant_with_warmup", "linear", "cosine")
TRL_LOSSES = ("grpo", "dr_grpo", "dapo", "bnpo")
TARGET, BOLTZMANN = "target", "boltzmann"
TARGETED_LOSSES = (TARGET, BOLTZMANN)
_SHARPNESS = (1.0, 32.0)  # at the first step and after the last


@dataclass
class GrpoSettings(ReinforcementSettings):
    """Group-relative policy optimisation (Shao et al. 2024) on forked markets.

    Attributes:
        schedule: Learning-rate schedule, one of ``SCHEDULES``.
        loss_type: How the losses of tokens are summed, one of ``TRL_LOSSES`` by their names in
            TRL. Or ``dapo`` with other advantages: ``target`` has those of
            ``target_advantages``, ``boltzmann`` those of ``boltzmann_advantages``.
        sharpness: Factor of the advantages at the first step, for the loss ``boltzmann`` alone. The
            higher, the more a better answer is preferred, and the lower the entropy.
        last_sharpness: The same after the last step. In between it grows by the same factor each
            step.
        neighbours: Completions of each group that are not sampled. Each is a sampled one with
            another value of one field, so what the policy has given up is compared all the same.
            They need the loss ``boltzmann`` and constrained answers.
        beta: Weight of the KL penalty towards the SFT model. With 0 no reference model is loaded.
        entropy_bonus: Weight of the policy's entropy in the loss.
        scale_rewards: Divisor of the advantages: the standard deviation of rewards in the
            ``group`` or in the ``batch``, or no divisor (``none``).
        max_gradient_norm: Gradients are clipped to this norm.
        vllm_server: Address of a vLLM server that samples the completions, such as
            ``http://localhost:8000``. If it is empty, the trainer samples them itself. It needs a
            GPU, and weights that are not quantised. It has not been run with a real server.
    """

    steps: int = 300
    schedule: Schedule = one_of(SCHEDULES, "constant_with_warmup")
    loss_type: Loss = one_of((*TRL_LOSSES, *TARGETED_LOSSES), "dapo")
    sharpness: float = above(0, _SHARPNESS[0])
    last_sharpness: float = above(0, _SHARPNESS[1])
    neighbours: int = at_least(0, 0)
    beta: float = at_least(0, 0.0)
    entropy_bonus: float = at_least(0, 0.0)
    scale_rewards: RewardScale = one_of(REWARD_SCALES, "batch")
    max_gradient_norm: float = above(0, 1.0)
    vllm_server: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_boltzmann()
        if self.vllm_server and self.constrained:
            raise ValueError(
                "vllm_server: the trainer samples these answers itself; set constrained: false"
            )

    @property
    def neighbours_of_group(self) -> int:
        """Return how many completions of each group, its first, are neighbours."""
        return self.neighbours

    def _check_boltzmann(self) -> None:
        chosen = self.loss_type == BOLTZMANN
        if not chosen and (self.sharpness, self.last_sharpness) != _SHARPNESS:
            raise ValueError(
                "sharpness and last_sharpness: no other loss has them; set loss_type: boltzmann"
            )
        if self.neighbours and not (chosen and self.constrained):
            raise ValueError(
                "neighbours: the policy does not sample them; set loss_type: boltzmann and "
                "constrained: true, or neighbours: 0"
            )
        if self.neighbours >= self.group_size:
            raise ValueError(f"neighbours: {self.neighbours}; give less than group_size")
