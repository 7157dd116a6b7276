"""Prompts, and the rewards of their completions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from datasets import Dataset

PURPOSE = "grpo"
"""Keys the draws of the states, for every algorithm that learns in them."""


@dataclass(frozen=True)
class Source:
    """Prompts, and the rewards of their completions.

    Attributes:
        prompts: Rows with a chat in ``prompt``.
        reward: A reward function for TRL.
        rollouts: A rollout function for TRL; with None, TRL completes the prompts.
    """

    prompts: Dataset
    reward: Callable[..., list[float]]
    rollouts: Callable[..., dict[str, Any]] | None = None


def numbered_prompts(count: int) -> Dataset:
    """Return a row for each of ``count`` episodes or states. Its chat is the number."""
    return Dataset.from_dict(
        {"prompt": [[{"role": "user", "content": str(number)}] for number in range(count)]}
    )
