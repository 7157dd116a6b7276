"""Prompts, and the rewards of their completions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from datasets import Dataset

from daedalus.training.model import LanguageModel
from daedalus.training.writing import Writing

PURPOSE = "grpo"
"""Keys the draws of the states, for every algorithm that learns in them."""


@dataclass(frozen=True)
class Source:
    """Prompts, and the rewards of their completions.

    Attributes:
        prompts: Rows with a chat in ``prompt``.
        reward: A reward function for TRL.
        writing: Returns what a model may answer, if answers are constrained; None if they are
            mechanisms.
    """

    prompts: Dataset
    reward: Callable[..., list[float]]
    writing: Callable[[LanguageModel], Writing] | None = None
