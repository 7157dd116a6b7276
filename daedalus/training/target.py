"""The target policy: the odds of each group move to those that its advantages ask for."""

from __future__ import annotations

import torch


def target_advantages(
    logps: torch.Tensor, advantages: torch.Tensor, group_size: int
) -> torch.Tensor:
    """Return advantages whose policy gradient moves each group to its target (arXiv 2604.06159).

    Within a group, p are the odds of the answers, and the target q has odds p exp(advantage). The
    gradient of the cross-entropy of q against p is q - p. Weights that fall on few answers are
    bounded, whatever the advantages are. With equal odds and small advantages the result is these
    advantages, less their mean.

    Args:
        logps: Log-probabilities of B whole answers, groups side by side; shape (B,).
        advantages: Their advantages, in standard deviations of the rewards; shape (B,).
        group_size: Answers of each group.

    Returns:
        Group size times q - p, shape (B,).
    """
    known = logps.reshape(-1, group_size)
    odds = known.softmax(dim=1)
    target = (known + advantages.reshape(-1, group_size)).softmax(dim=1)
    return group_size * (target - odds).flatten()
