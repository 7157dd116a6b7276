"""An episode that a chat plays: its prompts, its rewards, and answers that are refused."""

from __future__ import annotations

import numpy as np
import pytest

import daedalus
from daedalus.design.designers.endpoint import zero_shot_prompt
from daedalus.design.designers.fixed import FixedDesigner
from daedalus.design.language.prompt import prompts
from daedalus.doors.plugs.chat import ChatEpisode, designer_reward
from daedalus.market.parsing import format_mechanism
from tests.doors.plugs.own_market import RULES, SHORT


@pytest.fixture(scope="module")
def market() -> daedalus.Market:
    return daedalus.make("stage4", SHORT)


def test_a_chat_plays_the_episode_of_its_seed(market: daedalus.Market) -> None:
    episode, seen = ChatEpisode(market.env, 5), market.reset(5)
    assert episode.opening() == prompts(seen, zero_shot_prompt())[0]
    earned = []
    for number, rules in enumerate(RULES, start=1):
        told = episode.answer(f"<think>hm</think> {format_mechanism(rules)}")
        step = market.step(rules)
        earned.append(step.reward)
        assert told == prompts(step.observation, zero_shot_prompt())[0][-1]["content"]
        assert episode.reward == sum(earned) / 3 and episode.valid == 1.0
        assert episode.done == (number == 3)


def test_a_refused_answer_uses_up_its_step_and_says_why(market: daedalus.Market) -> None:
    episode = ChatEpisode(market.env, 5)
    seen = episode.opening()[-1]["content"]
    told = episode.answer("a fine market")
    assert told.startswith("Your last answer was refused and earned nothing: no object: ")
    assert told.endswith(seen.replace("round_number: 0", "round_number: 1"))
    assert episode.reward == episode.valid == 0.0 and not episode.done
    episode.answer(format_mechanism(RULES[0]))
    market.reset(5)
    assert episode.reward == market.step(RULES[0]).reward / 3 and episode.valid == 0.5


def test_the_chat_is_told_another_reward() -> None:
    env = daedalus.make("stage4", reward="revenue").env
    assert "You are scored by 1 x revenue" in ChatEpisode(env, 0).opening()[0]["content"]


def test_a_designer_earns_what_a_chat_with_its_mechanisms_earns(market: daedalus.Market) -> None:
    episode = ChatEpisode(market.env, 7)
    while not episode.done:
        episode.answer(format_mechanism(RULES[1]))
    earned = designer_reward(market.env, FixedDesigner(RULES[1]), 7)
    np.testing.assert_allclose(episode.reward, earned, rtol=1e-12)
