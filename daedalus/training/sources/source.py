"""Prompts, and the rewards of their completions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from datasets import Dataset

PURPOSE = "grpo"
"""Keys the draws of the states, for every algorithm that learns in them."""


@dataclass(frozen=True)
class Source:
    """Prompts, and the rewards of their completions.

    Attributes:
        prompts: Rows with a chat in ``prompt``.
        reward: A reward function for TRL.
    """

    prompts: Dataset
    reward: Callable[..., list[float]]
