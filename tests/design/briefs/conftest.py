"""A small market, and a search that takes a moment."""

from __future__ import annotations

import pytest

from daedalus.design.env import DesignEnv
from daedalus.design.search.budgets import SearchBudget
from daedalus.market.interface import MarketSettings
from daedalus.market.population import BidderType, Population

SMALL = SearchBudget(candidates=16, episodes=2, keep=4, sweeps=1, sweep_episodes=2)


@pytest.fixture
def env() -> DesignEnv:
    """Return a short market of truthful bidders and dropouts."""
    menu = ["opt_out", "shade", "withdraw"]
    types = {"truthful": BidderType(), "dropout": BidderType(menu=menu, outside_option=0.2)}
    return DesignEnv.of(MarketSettings(episode_length=2), Population(types=types))
