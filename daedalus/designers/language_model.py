"""A language model as designer; the model itself comes in as a function from chats to texts."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from daedalus.designers.base import DesignerSettings
from daedalus.designers.prompt import Message, PromptSettings, prompts
from daedalus.market.mechanism import Mechanisms
from daedalus.market.outcome import Observation
from daedalus.market.parsing import parse_mechanism

Generate = Callable[[Sequence[list[Message]], np.random.Generator], list[str]]
"""Chats and a source of randomness to completions, one for each chat."""


@dataclass
class LanguageModelSettings(DesignerSettings):
    """Which model designs, and how it is sampled.

    Attributes:
        checkpoint: Directory or hub name (OWNER/NAME) of the model.
        temperature: Sampling temperature; 0 decodes greedily.
        max_new_tokens: Longest answer in tokens; constrained ones are as long as they need.
        constrained: Whether tokens that no mechanism goes on with are masked, so that every answer
            is valid. Trained models need it little; others cannot do without.
        prompt: What the model is shown; None is what it was trained on, as its directory says.
    """

    checkpoint: str = ""
    temperature: float = 0.0
    max_new_tokens: int = 180
    constrained: bool = False
    prompt: PromptSettings | None = None

    def __post_init__(self) -> None:
        is_model = (Path(self.checkpoint) / "config.json").exists()
        is_hub_name = re.fullmatch(r"[\w-][\w.-]*/[\w.-]+", self.checkpoint) is not None
        if not is_model and (Path(self.checkpoint).exists() or not is_hub_name):
            raise ValueError(
                f"checkpoint: {self.checkpoint!r} holds no model; "
                "give the `model` folder of a training run, or a hub name OWNER/NAME"
            )
        if not 0 <= self.temperature < math.inf:
            raise ValueError(f"temperature: {self.temperature}; give a finite number from 0 up")
        if self.max_new_tokens < 1:
            raise ValueError(f"max_new_tokens: {self.max_new_tokens}; give an integer from 1 up")


class LanguageModelDesigner:
    """Asks a model for JSON; an answer that does not parse becomes a malformed proposal."""

    def __init__(self, generate: Generate, prompt: PromptSettings) -> None:
        self._generate = generate
        self._prompt = prompt

    def propose(self, observations: Observation, rng: np.random.Generator) -> Mechanisms:
        """Return the model's mechanism for each market, malformed where it did not give one."""
        texts = self._generate(prompts(observations, self._prompt), rng)
        return Mechanisms.stack([parse_mechanism(text).mechanism for text in texts])
