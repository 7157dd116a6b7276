"""Settings of GRPO."""

from __future__ import annotations

import math
from dataclasses import dataclass

from daedalus.checks import above, at_least, one_of
from daedalus.training.algorithm_settings import ReinforcementSettings
from daedalus.training.literals import Level, Loss, RewardScale, Schedule

REWARD_SCALES = ("group", "batch", "none")
SCHEDULES = ("constant", "constant_with_warmup", "linear", "cosine")
TRL_LOSSES = ("grpo", "dr_grpo", "dapo", "bnpo", "cispo", "sapo", "luspo", "vespo")
TARGET, BOLTZMANN = "target", "boltzmann"
TARGETED_LOSSES = (TARGET, BOLTZMANN)
LEVELS = ("token", "sequence")
_SHARPNESS = (1.0, 32.0)  # at the first step and after the last
_CLIPS = ("epsilon", "epsilon_high")


@dataclass
class GrpoSettings(ReinforcementSettings):
    """Group-relative policy optimisation (Shao et al. 2024) on forked markets.

    Attributes:
        schedule: Learning-rate schedule, one of ``SCHEDULES``.
        loss_type: How the losses of tokens are summed and clipped, one of ``TRL_LOSSES`` by their
            names in TRL. Or ``dapo`` with other advantages: ``target`` has those of
            ``target_advantages``, ``boltzmann`` those of ``boltzmann_advantages``.
        sharpness: Factor of the advantages at the first step, for the loss ``boltzmann`` alone. The
            higher, the more a better answer is preferred, and the lower the entropy.
        last_sharpness: The same after the last step. In between it grows by the same factor each
            step.
        neighbours: Completions of each group that are not sampled. Each is a sampled one with
            another value of one field, so what the policy has given up is compared all the same.
            They need the loss ``boltzmann`` and constrained answers.
        epsilon: Importance ratios below 1 - epsilon are clipped, and above 1 + epsilon unless
            ``epsilon_high`` is set. With one iteration no ratio differs from 1.
        epsilon_high: Another upper bound (Yu et al. 2025). For the loss ``cispo`` it is the largest
            ratio itself (MiniMax 2025).
        importance_sampling_level: Whether ratios belong to each ``token`` or to the ``sequence``
            (GSPO: Zheng et al. 2025).
        mask_truncated_completions: Whether answers that reach ``max_completion_tokens`` are left
            out of the loss.
        beta: Weight of the KL penalty towards the SFT model. With 0 no reference model is loaded.
        use_bias_correction_kl: Whether the penalty is multiplied by the importance ratio, which
            makes its gradient unbiased (DeepSeek-AI 2025).
        entropy_bonus: Weight of the policy's entropy in the loss.
        iterations: Optimiser passes over each batch of completions.
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
    epsilon: float = at_least(0, 0.2)
    epsilon_high: float | None = None
    importance_sampling_level: Level = one_of(LEVELS, "token")
    mask_truncated_completions: bool = False
    beta: float = at_least(0, 0.0)
    use_bias_correction_kl: bool = True
    entropy_bonus: float = at_least(0, 0.0)
    iterations: int = at_least(1, 1)
    scale_rewards: RewardScale = one_of(REWARD_SCALES, "batch")
    max_gradient_norm: float = above(0, 1.0)
    vllm_server: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_loss()
        if self.vllm_server and self.constrained:
            raise ValueError(
                "vllm_server: the trainer samples these answers itself; set constrained: false"
            )

    @property
    def neighbours_of_group(self) -> int:
        """Return how many completions of each group, its first, are neighbours."""
        return self.neighbours

    def _check_loss(self) -> None:
        cispo, high = self.loss_type == "cispo", self.epsilon_high
        if cispo and high is None:
            raise ValueError("loss_type: cispo needs epsilon_high, the largest ratio, such as 5")
        unread = {"cispo": ("epsilon",), "sapo": _CLIPS, "vespo": _CLIPS}.get(self.loss_type, ())
        for name in unread:
            if getattr(self, name) != getattr(GrpoSettings, name):
                raise ValueError(
                    f"{name}: the loss {self.loss_type} does not read it; leave it out"
                )
        least = 1.0 if cispo else self.epsilon
        if high is not None and not least <= high < math.inf:
            raise ValueError(f"epsilon_high: {high}; give a finite number from {least} up")
        clips_nothing = self.iterations == 1 and not cispo
        for name in _CLIPS if clips_nothing else ():
            if getattr(self, name) != getattr(GrpoSettings, name):
                raise ValueError(f"{name}: one iteration clips no ratio; set iterations above 1")
        if self.loss_type in TARGETED_LOSSES and self.iterations > 1:
            raise ValueError(
                f"loss_type: {self.loss_type} holds for one pass over a batch; set iterations: 1"
            )
        if self.loss_type in TARGETED_LOSSES and self.mask_truncated_completions:
            raise ValueError(
                f"loss_type: {self.loss_type} compares whole answers; set "
                "mask_truncated_completions: false"
            )
        self._check_boltzmann()
        if self.loss_type == "luspo" and self.importance_sampling_level != "sequence":
            raise ValueError("loss_type: luspo needs importance_sampling_level: sequence")

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
