"""No reward term sees a round that was not played, and such a round earns nothing."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from daedalus.design.designers.fixed import FixedDesigner
from daedalus.design.env import DesignEnv, Episodes
from daedalus.design.rewards.stack import RewardStack
from daedalus.design.rewards.terms import MARKET_TERMS
from daedalus.design.search.lookahead import ContinuationPolicy, LookAhead
from daedalus.design.search.objective import EpisodeObjective
from daedalus.evaluation.episodes import play_episodes
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.observation import Observation
from daedalus.market.outcome import Outcome
from daedalus.market.parsing import format_mechanism
from daedalus.market.seeds import generator, market_seeds
from daedalus.training.sources.market_reward import MarketReward
from tests.populations import seat_plan

BIDDERS = 8
GOOD = Mechanism()
LEFT = np.array([False, True, True, False])


def loyalty(outcome: Outcome) -> NDArray[np.float64]:
    """Return the share of bidders who did not drop out, which is 1 in a record of zeros."""
    assert np.isfinite(outcome.records).all()
    return 1.0 - outcome.field("dropouts") / BIDDERS


@pytest.fixture
def env(monkeypatch: pytest.MonkeyPatch) -> DesignEnv:
    monkeypatch.setitem(MARKET_TERMS, "loyalty", loyalty)
    stack = RewardStack({"loyalty": 1.0, "format": 0.5})
    return DesignEnv.of(MarketSettings(name="classic", episode_length=3), seat_plan(2), stack)


@pytest.fixture
def half_left(env: DesignEnv) -> Episodes:
    """Return four markets, two of which all bidders have left."""
    episodes = env.reset(market_seeds(0, "left", 4))
    episodes.state.active[LEFT] = False
    return episodes


class OddRowsMalformed:
    def propose(self, observations: Observation, rng: np.random.Generator) -> Mechanisms:
        return Mechanisms.stack([None if row % 2 else GOOD for row in range(len(observations))])


def test_in_whole_episodes(env: DesignEnv) -> None:
    scores = EpisodeObjective([env], 0)(Mechanisms.stack([None, GOOD]), 4)
    assert scores[0] == 0.0 < scores[1]


def test_in_an_evaluation(env: DesignEnv) -> None:
    seeds, rng = market_seeds(0, "x", 4), generator(0, "x")
    steps = play_episodes(env, OddRowsMalformed(), seeds, rng)
    assert_array_equal(steps["reward"] > 0.0, steps["valid"])


def test_in_look_ahead(half_left: Episodes) -> None:
    look_ahead, pair = LookAhead(2, 0), Mechanisms.stack([GOOD, None])
    continuation = ContinuationPolicy(FixedDesigner(GOOD), 1)
    held = look_ahead.compare(half_left, pair, 2, "x")
    assert_array_equal(held > 0.0, np.outer(~LEFT, [True, False]))
    continued = look_ahead.compare_continued(half_left, pair, continuation, "x")
    assert_array_equal(continued > 0.0, np.outer(~LEFT, [True, True]))
    assert (continued[~LEFT, 0] > continued[~LEFT, 1]).all()  # which earns from its second step


def test_in_training(half_left: Episodes) -> None:
    reward = MarketReward(half_left, futures=2, horizon=2, seed=0)
    terms = reward.score([format_mechanism(GOOD)] * 4 + ["nonsense"], [0, 1, 2, 3, 0], 0)[1]
    assert_array_equal(terms["loyalty"] > 0.0, [*~LEFT, False])
