"""Regret: what the best known mechanism earns more than the model's answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from daedalus.designers.fixed import FixedDesigner
from daedalus.env import DesignEnv, Episodes
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.search.states import mid_episode_states
from daedalus.training.settings import PortfolioSettings, TrainingSettings
from daedalus.training.sources.regret import regrets, states_of_regret
from daedalus.training.sources.reward import MarketReward
from daedalus.training.sources.states import state_source
from tests.training.conftest import GRPO, make_run

GOOD = Mechanism(coalition_policy="penalize_suspected")
BAD = Mechanism(reserve_price=0.9)


class Patchy:
    """Answers badly in every third market."""

    def propose(self, observations: object, rng: np.random.Generator) -> Mechanisms:
        count = len(observations)  # type: ignore[arg-type]
        return Mechanisms.stack([BAD if row % 3 == 0 else GOOD for row in range(count)])


@pytest.fixture
def states(env: DesignEnv) -> Episodes:
    return mid_episode_states(env, 24, seed=0, purpose="x", designer=FixedDesigner(GOOD))


@pytest.fixture
def reward(states: Episodes) -> MarketReward:
    return MarketReward(states, futures=16, horizon=1, seed=0)


def test_regret_is_what_a_known_mechanism_earns_more(reward: MarketReward) -> None:
    answers = Mechanisms.stack([BAD, GOOD, None] * 8)
    found = regrets(reward, answers, Mechanisms.stack([BAD, GOOD])).reshape(8, 3)
    assert (found[:, 0] > 0.1).all()
    assert found[:, 1] == pytest.approx(0.0)
    assert (found[:, 2] > 0.1).all()  # a malformed answer earns 0


def test_luck_is_no_regret(states: Episodes) -> None:
    """Chosen and judged by the same futures, a candidate would never be worse than the answer."""
    noisy = MarketReward(states, futures=1, horizon=1, seed=0)
    near = Mechanism(coalition_policy="penalize_suspected", auction_type="first_price")
    found = regrets(noisy, Mechanisms.repeat(GOOD, 24), Mechanisms.stack([GOOD, near]))
    assert found.min() < 0 < found.max()


def test_half_of_the_states_are_those_of_most_regret(
    states: Episodes, reward: MarketReward
) -> None:
    known = Mechanisms.stack([GOOD])
    taken = states_of_regret(states, reward, Patchy(), known, 12, seed=0)
    assert len(taken.steps) == 12
    place = {seed: row for row, seed in enumerate(states.state.seeds.tolist())}
    rows = [place[seed] for seed in taken.state.seeds.tolist()]
    assert len(set(rows)) == 12
    assert sum(row % 3 == 0 for row in rows) >= 6
    again = states_of_regret(states, reward, Patchy(), known, 12, seed=0)
    np.testing.assert_array_equal(again.state.seeds, taken.state.seeds)


def test_prompts_come_from_the_pool(env: DesignEnv, tmp_path: Path) -> None:
    settings = replace(GRPO, states=6, regret_pool=4)
    known = Mechanisms.stack([GOOD, BAD])
    training = TrainingSettings(grpo=settings, portfolio=PortfolioSettings(populations=2))
    source = state_source(make_run(env, tmp_path, training, portfolio=known), settings, Patchy())
    assert len(source.prompts) == 6
