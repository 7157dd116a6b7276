"""A tiny model and a small market, made once for all training tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from daedalus.designers.prompt import PromptSettings
from daedalus.env import DesignEnv
from daedalus.market.interface import MarketSettings
from daedalus.training.model import LanguageModel, make_language_model
from daedalus.training.settings import ModelSettings
from tests.populations import population

PROMPT = PromptSettings()
SMALL = ModelSettings(hidden_size=32, layers=2, heads=2, intermediate_size=64)


@pytest.fixture(scope="session")
def env() -> DesignEnv:
    settings = MarketSettings()
    return DesignEnv.of(settings, population(3))


@pytest.fixture
def small(env: DesignEnv) -> LanguageModel:
    return make_language_model(SMALL, PROMPT, env, seed=0)


@pytest.fixture(scope="session")
def root() -> Path:
    return Path(__file__).parents[2]
