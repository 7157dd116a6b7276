"""Target probabilities of the answers of a group, which its advantages ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from daedalus.training.algorithms.grpo.settings import TARGET, GrpoSettings

if TYPE_CHECKING:  # tabular.py, which imports this module, needs no TRL
    from trl import GRPOTrainer


def target_advantages(
    logps: torch.Tensor, advantages: torch.Tensor, group_size: int
) -> torch.Tensor:
    """Return advantages whose policy gradient moves each group to its target (arXiv 2604.06159).

    Within a group, p are the probabilities of the answers, and the target q is in proportion to
    p exp(advantage). The gradient of the cross-entropy of q against p is q - p. Weights that fall
    on few answers are bounded, whatever the advantages are. With equal probabilities and small
    advantages the result is these advantages, less their mean.

    Args:
        logps: Log-probabilities of B whole answers, groups side by side; shape (B,).
        advantages: Their advantages, in standard deviations of the rewards; shape (B,).
        group_size: Answers of each group.

    Returns:
        Group size times q - p, shape (B,).
    """
    return boltzmann_advantages(logps, logps + advantages, group_size)


def sharpness_at(done: float, first: float, last: float) -> float:
    """Return the sharpness after a share of the training, from 0 to 1.

    It grows by the same factor each step.
    """
    return float(first ** (1 - done) * last**done)


def boltzmann_advantages(
    logps: torch.Tensor, advantages: torch.Tensor, group_size: int
) -> torch.Tensor:
    """Return advantages whose policy gradient moves each group towards its Boltzmann distribution.

    The target q is in proportion to exp(advantage) and forgets the probabilities p of the answers.
    So it is the same whoever proposed them, and one that the policy hardly gives comes back if it
    earns more. A policy at this target for all groups is the best one with a bonus for its entropy
    (Levine 2018). The cross-entropy is that of ListNet (Cao et al. 2007).

    Args:
        logps: Log-probabilities of B whole answers, groups side by side; shape (B,).
        advantages: Their advantages, times how sharp the target shall be; shape (B,).
        group_size: Answers of each group.

    Returns:
        Group size times q - p, shape (B,).
    """
    target, probabilities = (
        each.reshape(-1, group_size).softmax(dim=1) for each in (advantages, logps)
    )
    return group_size * (target - probabilities).flatten()


def targeted_advantages(
    trainer: GRPOTrainer, settings: GrpoSettings, logps: torch.Tensor, advantages: torch.Tensor
) -> torch.Tensor:
    """Return the advantages of the losses ``target`` and ``boltzmann`` at the trainer's step.

    For the shapes see ``boltzmann_advantages``.
    """
    if settings.loss_type == TARGET:
        return target_advantages(logps, advantages, settings.group_size)
    done = trainer.state.global_step / trainer.args.max_steps
    sharpness = sharpness_at(done, settings.sharpness, settings.last_sharpness)
    return boltzmann_advantages(logps, sharpness * advantages, settings.group_size)
