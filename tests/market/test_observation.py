"""What a designer sees of a batch of markets."""

from __future__ import annotations

import pytest
from numpy.testing import assert_array_equal

from daedalus.design.env import DesignEnv
from daedalus.market.interface import MarketSettings
from daedalus.market.observation import PROXIES, Observation
from daedalus.market.seeds import market_seeds
from tests.populations import population


@pytest.fixture
def observation() -> Observation:
    env = DesignEnv.of(MarketSettings(), population(4))
    return env.reset(market_seeds(0, "seen", 3)).observe()


def test_a_proxy_is_a_column_of_the_proxies(observation: Observation) -> None:
    for column, name in enumerate(PROXIES):
        assert_array_equal(observation.proxy(name), observation.proxies[:, column])


def test_recent_rounds_are_copied_once_and_cannot_be_changed(observation: Observation) -> None:
    assert observation.recent is observation.recent
    with pytest.raises(ValueError, match="read-only"):
        observation.recent[0, 0, 0] = 0.5
