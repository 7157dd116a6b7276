"""A small market, a search that takes a moment, and rules as the frozen briefs have them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from daedalus.design.briefs.meanings import FORMATS_WITH_SENTENCES
from daedalus.design.env import DesignEnv
from daedalus.design.search.budgets import SearchBudget
from daedalus.market.allowed import Allowed
from daedalus.market.interface import MarketSettings
from daedalus.market.population import BidderType, Population

SMALL = SearchBudget(candidates=16, episodes=2, keep=4, sweeps=1, sweep_episodes=2)


@pytest.fixture
def env() -> DesignEnv:
    """Return a short market of truthful bidders and dropouts."""
    menu = ["opt_out", "shade", "withdraw"]
    types = {"truthful": BidderType(), "dropout": BidderType(menu=menu, outside_option=0.2)}
    return DesignEnv.of(MarketSettings(episode_length=2), Population(types=types))


def as_frozen(allowed: Mapping[str, Allowed]) -> dict[str, Allowed]:
    """Return rules without the formats that came after the briefs: a ban lets them through."""
    formats = allowed.get("auction_type", ())
    assert isinstance(formats, tuple)
    known = tuple(each for each in formats if each in FORMATS_WITH_SENTENCES)
    return {**allowed, "auction_type": known} if formats else dict(allowed)
