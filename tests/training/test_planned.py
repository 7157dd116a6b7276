"""Answers that SFT learns from looking ahead."""

from __future__ import annotations

import numpy as np

from daedalus.designers.planner import PlannerSettings
from daedalus.env import DesignEnv
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.parsing import format_mechanism, parse_mechanism
from daedalus.planning.distilled import expected_advantages
from daedalus.planning.lookahead import compare_candidates
from daedalus.planning.states import mid_episode_states
from daedalus.training.settings import PortfolioSettings
from daedalus.training.sft import PHASE, planned_pairs
from tests.training.conftest import PROMPT

RULES = Mechanisms.stack(
    [
        Mechanism(reserve_price=0.0, withdrawal_penalty=0.5),
        Mechanism(reserve_price=0.0, withdrawal_penalty=0.7),
        Mechanism(reserve_price=0.9),
    ]
)


def answers(env: DesignEnv, scale: float, count: int = 64) -> list[str]:
    settings = PortfolioSettings(populations=1, target_futures=4, target_scale=scale)
    pairs = planned_pairs(env, PROMPT, RULES, settings, 2, count, seed=0)
    assert len(pairs) == count
    return [chat[0]["content"] for chat in pairs["completion"]]


def test_sharp_answers_are_the_rules_expected_to_earn_most(env: DesignEnv) -> None:
    states = mid_episode_states(env, 64, 0, PHASE, 2, RULES)
    look = PlannerSettings(futures=4, horizon=2)
    rewards = compare_candidates(states, RULES, look, 0, PHASE)
    best = expected_advantages(states.observe(), rewards, 0).argmax(axis=1)
    sharp = answers(env, 1e-9)
    assert sharp == [format_mechanism(RULES[row]) for row in best]
    assert all(parse_mechanism(text).valid for text in sharp)


def test_a_wide_scale_teaches_near_ties_and_a_huge_one_everything(env: DesignEnv) -> None:
    awful = format_mechanism(RULES[2])
    shares = [np.mean([text == awful for text in answers(env, s, 200)]) for s in (0.003, 1e9)]
    assert shares[0] == 0
    assert 0.2 < shares[1] < 0.46
