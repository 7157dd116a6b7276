"""Groups with siblings: the best answers that look-ahead finds, as the model would write them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from daedalus.env import DesignEnv
from daedalus.language.prompt import prompts
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.parsing import format_mechanism, parse_mechanism
from daedalus.search.states import RandomWalkDesigner, mid_episode_states
from daedalus.training.algorithms.grpo.trainer import train_grpo
from daedalus.training.model import LanguageModel
from daedalus.training.settings import PortfolioSettings, TrainingSettings
from daedalus.training.sources.reward import SIBLING, MarketReward
from daedalus.training.sources.siblings import SiblingRollouts, answer_tokens
from daedalus.training.sources.source import numbered_prompts
from daedalus.training.sources.states import state_source
from tests.training.conftest import GRPO, PROMPT, Writer, make_run

GOOD = Mechanism(coalition_policy="penalize_suspected")
BAD, WORSE = Mechanism(reserve_price=0.8), Mechanism(reserve_price=0.9)
SETTINGS = replace(GRPO, group_size=3, siblings=1, micro_batch=6, futures=16)


def groups(
    env: DesignEnv, small: LanguageModel, answer: str, portfolio: list[Mechanism]
) -> tuple[dict[str, Any], list[str]]:
    """Return what a rollout of three groups gives, and its completions as texts."""
    states = mid_episode_states(env, 4, seed=0, purpose="x", horizon=1)
    reward = MarketReward(states, futures=16, horizon=1, seed=0)
    told = prompts(states.observe(), PROMPT)
    tokens = small.tokenizer(answer + "<|im_end|>").input_ids
    trainer = SimpleNamespace(
        accelerator=SimpleNamespace(unwrap_model=lambda model: model),
        model=Writer(tokens),
        processing_class=small.tokenizer,
        state=SimpleNamespace(global_step=0),
    )
    rollouts = SiblingRollouts(reward, told, Mechanisms.stack(portfolio), SETTINGS)
    asked = numbered_prompts(4)["prompt"]
    given = rollouts([asked[state] for state in (2, 2, 2, 0, 0, 0, 3, 3, 3)], trainer)
    texts = small.tokenizer.batch_decode(given["completion_ids"], skip_special_tokens=True)
    shown = [small.tokenizer.decode(each) for each in given["prompt_ids"]]
    for row, state in zip((0, 3, 6), (2, 0, 3), strict=True):
        assert told[state][-1]["content"] in shown[row]
        assert shown[row] == shown[row + 1] == shown[row + 2]
    return given, texts


def test_a_better_mechanism_of_the_portfolio_joins_each_group(
    env: DesignEnv, small: LanguageModel
) -> None:
    given, texts = groups(env, small, format_mechanism(BAD), [WORSE, GOOD])
    assert given[SIBLING] == [False, False, True] * 3
    assert texts == [format_mechanism(each) for each in (BAD, BAD, GOOD)] * 3


def test_the_model_s_own_answer_is_its_sibling_if_it_is_the_best(
    env: DesignEnv, small: LanguageModel
) -> None:
    _, texts = groups(env, small, format_mechanism(GOOD), [WORSE, BAD])
    assert set(texts) == {format_mechanism(GOOD)}


def test_answers_that_are_not_valid_are_no_siblings(env: DesignEnv, small: LanguageModel) -> None:
    _, texts = groups(env, small, "{}", [WORSE, BAD])
    assert texts == ["{}", "{}", format_mechanism(BAD)] * 3


def test_a_sibling_is_written_as_the_model_writes(small: LanguageModel) -> None:
    tokens = answer_tokens(small.tokenizer, GOOD)
    assert tokens == small.tokenizer(format_mechanism(GOOD) + "<|im_end|>").input_ids
    assert tokens[-1] == small.tokenizer.eos_token_id
    text = small.tokenizer.decode(tokens, skip_special_tokens=True)
    assert parse_mechanism(text).mechanism == GOOD


@pytest.mark.slow
def test_grpo_moves_towards_a_better_sibling(
    env: DesignEnv, small: LanguageModel, tmp_path: Path
) -> None:
    """The model cannot write a mechanism yet, so whatever it learns comes from its siblings."""
    settings = replace(SETTINGS, steps=4, learning_rate=3e-3, warmup_steps=0, beta=0.0)
    tokens = torch.tensor([answer_tokens(small.tokenizer, GOOD)])

    def likelihood() -> float:
        with torch.no_grad():
            return -float(small.model(input_ids=tokens, labels=tokens).loss)

    training = TrainingSettings(grpo=settings, portfolio=PortfolioSettings(populations=1))
    run = make_run(env, tmp_path, training, portfolio=Mechanisms.stack([GOOD]))
    before = likelihood()
    train_grpo(small, state_source(run, settings, RandomWalkDesigner()), run)
    records = run.tracker.history("grpo")
    assert likelihood() > before + 0.1
    assert all(each["sibling_gain"] > 0 for each in records)
    assert all(each["validity"] == 0 for each in records)


def test_comparisons_have_other_futures_than_rewards(env: DesignEnv) -> None:
    states = mid_episode_states(env, 4, seed=0, purpose="x", horizon=1)
    reward = MarketReward(states, futures=8, horizon=1, seed=0)
    first, second = reward.compare([[GOOD, BAD], [BAD]], [1, 3], step=2)
    assert first.shape == (2,) and second.shape == (1,)
    assert first[0] > first[1]
    scored, _ = reward.score([format_mechanism(GOOD)], [1], step=2)
    assert scored[0] != first[0] and scored[0] == pytest.approx(first[0], abs=0.15)
    assert np.array_equal(first, reward.compare([[GOOD, BAD]], [1], step=2)[0])
