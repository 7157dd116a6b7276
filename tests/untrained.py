"""A small model that has learnt nothing, as a run leaves its model."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from daedalus.design.env import DesignEnv
from daedalus.design.language.prompt import PromptSettings
from daedalus.market.interface import MarketSettings
from daedalus.training.checkpoints import export
from daedalus.training.model import LanguageModel, make_language_model
from daedalus.training.settings import ModelSettings
from tests.populations import population

PROMPT = PromptSettings(averages=["welfare", "fairness"])


def leave_untrained_model(
    folder: Path, prompt: PromptSettings = PROMPT, constrained: bool = False
) -> None:
    """Write the model; under constrained decoding it writes mechanisms."""
    export(_made(), prompt, "", folder, constrained=constrained)


@cache
def _made() -> LanguageModel:
    """Make the model once in a process: what it exports is not changed by that."""
    env = DesignEnv.of(MarketSettings(), population(3))
    small = ModelSettings(hidden_size=32, layers=2, heads=2, intermediate_size=64)
    return make_language_model(small, PROMPT, env, seed=0)
