"""Settings of the planner build one that plans for the run's reward."""

from __future__ import annotations

import pytest

from daedalus.design.designers.base import DesignerContext
from daedalus.design.designers.planner import PlannerSettings
from daedalus.design.env import DesignEnv, Designer
from daedalus.design.rewards.stack import RewardStack
from daedalus.design.search.planner import Planner
from daedalus.market.mechanism import Mechanisms
from daedalus.market.seeds import generator, market_seeds
from tests.design.search.markets import AGAINST_WELFARE, COMPOSITE, HIGH_AND_LOW, env_of

SETTINGS = PlannerSettings(futures=4, horizon=2, rounds=0, candidates=16)


def first_proposal(designer: Designer, env: DesignEnv) -> Mechanisms:
    episodes = env.reset(market_seeds(1, "x", 6))
    return next(episodes.play(designer, generator(0, "d")))[1]


@pytest.mark.parametrize(("stack", "reserve"), [(COMPOSITE, 0.0), (AGAINST_WELFARE, 0.9)])
def test_the_designer_chooses_from_the_portfolio(stack: RewardStack, reserve: float) -> None:
    env = env_of(stack)
    proposed = first_proposal(SETTINGS.build(DesignerContext(env, 0, HIGH_AND_LOW)), env)
    assert (proposed.reserve_price == reserve).all()


def test_without_a_portfolio_it_chooses_from_random_mechanisms() -> None:
    context = DesignerContext(env_of(), 0)
    planner = Planner(context.candidates(16), SETTINGS, 0)
    built, expected = (
        first_proposal(each, context.env) for each in (SETTINGS.build(context), planner)
    )
    assert [built[row] for row in range(6)] == [expected[row] for row in range(6)]
