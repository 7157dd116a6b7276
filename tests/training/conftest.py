"""A tiny model and a small market, made once for all training tests."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from datasets import Dataset
from transformers import GenerationConfig, PreTrainedTokenizerBase

from daedalus.design.designers.distilled import DistilledSettings
from daedalus.design.env import DesignEnv
from daedalus.design.language.prompt import Message, PromptSettings, prompts
from daedalus.design.search.states import mid_episode_states
from daedalus.evaluation.run_report import Report
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.parsing import format_mechanism
from daedalus.runs.folder import RunFolder
from daedalus.runs.tracking import Tracker, TrackingSettings
from daedalus.training.algorithms.grpo.settings import GrpoSettings
from daedalus.training.algorithms.sft.settings import SftSettings
from daedalus.training.defaults import end_of_answer
from daedalus.training.model import LanguageModel, make_language_model
from daedalus.training.run import TrainingRun
from daedalus.training.settings import (
    LoraSettings,
    ModelSettings,
    PortfolioSettings,
    TrainingSettings,
)
from tests.populations import population

PROMPT = PromptSettings()
SMALL = ModelSettings(hidden_size=32, layers=2, heads=2, intermediate_size=64)
LORA = LoraSettings(rank=4, alpha=8)
ADAPTED = replace(SMALL, lora=LORA)
QLORA = ModelSettings(load_in_4bit=True, lora=LORA)
SFT = SftSettings(steps=3, batch_size=4, examples=16, warmup_steps=1)
GRPO = GrpoSettings(
    steps=2, prompts_per_step=2, group_size=2, micro_batch=4, states=8, futures=4, save_every=1
)


CANDIDATES = Mechanisms.stack(
    [
        Mechanism(reserve_price=0.0, withdrawal_penalty=0.5),
        Mechanism(reserve_price=0.0, withdrawal_penalty=0.7),
        Mechanism(reserve_price=0.9),
    ]
)
TEACHER = DistilledSettings(rounds=1, states=64, futures=4, horizon=2)


class Writer(torch.nn.Module):
    """Answers every prompt with one text, which a small model would take long to learn."""

    device = torch.device("cpu")

    def __init__(self, answer: list[int]) -> None:
        super().__init__()
        self._answer = torch.tensor(answer)
        self.generation_config = GenerationConfig()

    def generate(self, input_ids: torch.Tensor, **options: Any) -> torch.Tensor:
        return torch.cat([input_ids, self._answer.repeat(len(input_ids), 1)], dim=1)


@pytest.fixture(scope="session")
def env() -> DesignEnv:
    settings = MarketSettings()
    return DesignEnv.of(settings, population(3))


@pytest.fixture(scope="session")
def untrained() -> LanguageModel:
    """Return a model that no test may change."""
    return small_model()


@pytest.fixture
def small() -> LanguageModel:
    return small_model()


def small_model(seed: int = 0) -> LanguageModel:
    """Return a new untrained model. Its tokenizer is trained once, which takes the most time."""
    return deepcopy(_made(seed))


@cache
def _made(seed: int) -> LanguageModel:
    env = DesignEnv.of(MarketSettings(), population(3))
    return make_language_model(SMALL, PROMPT, env, seed)


def chats_of(env: DesignEnv, count: int) -> list[list[Message]]:
    """Return the prompts of so many states in the middle of episodes."""
    return prompts(mid_episode_states(env, count, 0, "x").observe(), PROMPT)


def taught(examples: int = 64, **sft: Any) -> TrainingSettings:
    """Return settings of training with a teacher."""
    asked = SftSettings(examples=examples, batch_size=4, teacher=TEACHER, **sft)
    portfolio = PortfolioSettings(populations=1)
    return TrainingSettings(prompt=PROMPT, sft=asked, portfolio=portfolio)


def answer_tokens(tokenizer: PreTrainedTokenizerBase, mechanism: Mechanism) -> list[int]:
    """Return the tokens of an answer, with the token that ends it."""
    text = format_mechanism(mechanism)
    return [*tokenizer(text, add_special_tokens=False).input_ids, end_of_answer(tokenizer)]


def answers(pairs: Dataset) -> list[str]:
    """Return the completions of a data set as texts."""
    return [chat[0]["content"] for chat in pairs["completion"]]


def make_tracker(out: Path) -> Tracker:
    """Return a tracker that keeps records in a folder and sends nothing."""
    return Tracker(TrackingSettings("disabled"), out, "test", {})


def make_run(
    env: DesignEnv,
    folder: Path,
    settings: SftSettings | GrpoSettings | TrainingSettings,
    model: ModelSettings = SMALL,
    portfolio: Mechanisms | None = None,
    **shared: Any,
) -> TrainingRun:
    """Return a run of seed 0 on R, in a folder that is made; ``shared`` changes either."""
    if isinstance(settings, SftSettings):
        settings = TrainingSettings(prompt=PROMPT, sft=settings)
    elif isinstance(settings, GrpoSettings):
        settings = TrainingSettings(prompt=PROMPT, grpo=settings)
    folder.mkdir(exist_ok=True)
    tracker = make_tracker(folder)
    run = TrainingRun(
        env, model, settings, RunFolder(folder), tracker, Report(folder, tracker), 0,
        portfolio,
    )  # fmt: skip
    return replace(run, **shared)
