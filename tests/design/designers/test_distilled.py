"""Settings of the distillation build trees that choose for the run's reward."""

from __future__ import annotations

from pathlib import Path

import pytest

from daedalus.design.designers.base import DesignerContext
from daedalus.design.designers.distilled import DistilledSettings
from daedalus.design.rewards.stack import RewardStack
from daedalus.design.search.distillation import gather_distillation_data
from daedalus.market.seeds import generator, market_seeds
from tests.design.search.markets import AGAINST_WELFARE, COMPOSITE, HIGH_AND_LOW, env_of

SETTINGS = DistilledSettings(rounds=1, states=64, futures=2, horizon=2)


def reserves(settings: DistilledSettings, stack: RewardStack = COMPOSITE) -> set[float]:
    """Return the reserves that the designer proposes in fresh markets."""
    env = env_of(stack)
    designer = settings.build(DesignerContext(env, 0, HIGH_AND_LOW))
    observed = env.reset(market_seeds(1, "x", 20)).observe()
    return set(designer.propose(observed, generator(0, "d")).reserve_price)


@pytest.mark.parametrize(("stack", "reserve"), [(COMPOSITE, 0.0), (AGAINST_WELFARE, 0.9)])
def test_the_designer_chooses_from_the_portfolio(stack: RewardStack, reserve: float) -> None:
    assert reserves(SETTINGS, stack) == {reserve}


def test_data_of_a_training_run_replaces_the_look_ahead(tmp_path: Path) -> None:
    data = gather_distillation_data(env_of(AGAINST_WELFARE), HIGH_AND_LOW, SETTINGS, 0)
    data.write(tmp_path / "distillation_data.npz")
    named = DistilledSettings(data=str(tmp_path / "distillation_data.npz"))
    assert reserves(named) == {0.9}
