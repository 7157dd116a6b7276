"""Whole episodes played in training: the model decides, and learns from what they return."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from daedalus.env import DesignEnv
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanism
from daedalus.market.outcome import Outcome
from daedalus.market.parsing import format_mechanism
from daedalus.market.seeds import generator, market_seeds
from daedalus.rewards.stack import RewardStack
from daedalus.training.algorithms.grpo.settings import GrpoSettings
from daedalus.training.algorithms.grpo.trainer import train
from daedalus.training.model import LanguageModel
from daedalus.training.sources.episodes import RETURNS, EpisodeRollouts
from daedalus.training.sources.source import numbered_prompts
from tests.search.markets import COMPOSITE, PUBLISHED, play_steps, published_reward
from tests.training.conftest import PROMPT, Writer, make_run

NUMBERS = [0, 0, 1, 1, 2, 2]
WRITTEN = Mechanism(auction_type="vcg", reserve_price=0.2)


@pytest.fixture
def short(env: DesignEnv) -> DesignEnv:
    return DesignEnv(env.market, MarketSettings(episode_length=3))


def rollouts(short: DesignEnv, model: LanguageModel, temperature: float) -> dict[str, Any]:
    trainer = SimpleNamespace(
        accelerator=SimpleNamespace(unwrap_model=lambda model: model),
        model=model.model,
        processing_class=model.tokenizer,
    )
    settings = GrpoSettings(max_completion_tokens=8)
    settings.temperature = temperature  # settings refuse 0, which answers greedily
    play = EpisodeRollouts(short, PROMPT, settings, seed=5)
    chats = numbered_prompts(3)["prompt"]
    return play([chats[number] for number in NUMBERS], trainer)


def test_a_group_shares_its_market_and_its_step(short: DesignEnv, small: LanguageModel) -> None:
    greedy = rollouts(short, small, temperature=0.0)
    for first in (0, 2, 4):
        assert greedy["prompt_ids"][first] == greedy["prompt_ids"][first + 1]
        assert greedy[RETURNS][first] == greedy[RETURNS][first + 1]
    sampled = rollouts(short, small, temperature=1.0)
    assert sampled["completion_ids"][0] != sampled["completion_ids"][1]


def composite(outcome: Outcome) -> np.ndarray:
    return outcome.field("composite").mean(axis=1)


@pytest.mark.parametrize(
    ("stack", "paid"), [(COMPOSITE, composite), (PUBLISHED, published_reward)], ids=["R", "other"]
)
def test_returns_are_those_of_the_episodes_on_the_given_reward(
    short: DesignEnv,
    small: LanguageModel,
    stack: RewardStack,
    paid: Callable[[Outcome], np.ndarray],
) -> None:
    answer = small.tokenizer(format_mechanism(WRITTEN) + "<|im_end|>").input_ids
    writer = LanguageModel(Writer(answer), small.tokenizer)
    given = rollouts(replace(short, reward=stack), writer, 0.0)
    seeds = np.concatenate([market_seeds(5, "rollouts", 1, number) for number in NUMBERS])
    steps = play_steps(short.reset(seeds), WRITTEN, 3)
    table = np.stack([paid(each) for each in steps], axis=1)
    assert len(set(table.ravel())) > 3
    for row, number in enumerate(NUMBERS):
        step = int(generator(5, f"turns/{number}").integers(3))
        assert given[RETURNS][row] == pytest.approx(table[row, step:].mean())
        assert given["completion_ids"][row] == answer
        shown = small.tokenizer.decode(given["prompt_ids"][row])
        assert f"round_number: {step} / 3" in shown


def test_malformed_answers_earn_nothing(short: DesignEnv, small: LanguageModel) -> None:
    writer = LanguageModel(Writer(small.tokenizer("{}<|im_end|>").input_ids), small.tokenizer)
    given = rollouts(replace(short, reward=PUBLISHED), writer, 0.0)
    assert given[RETURNS] == [0.0] * len(NUMBERS)


def test_grpo_learns_from_episodes(short: DesignEnv, small: LanguageModel, tmp_path: Path) -> None:
    settings = GrpoSettings(
        steps=2, prompts_per_step=2, group_size=2, micro_batch=4, states=4, rollouts="episode",
        max_completion_tokens=8, entropy_bonus=0.1,
    )  # fmt: skip
    before = small.model.lm_head.weight.detach().clone()
    run = make_run(short, tmp_path, settings)
    train(small, run)
    records = run.tracker.history("grpo")
    assert len(records) == 2 and {"reward", "validity", "reward_std"} <= set(records[0])
    assert (small.model.lm_head.weight != before).any()
