"""A market is built from its settings and a population of its own."""

from __future__ import annotations

import pytest

from daedalus.market.classic import ClassicMarket
from daedalus.market.factory import make_market
from daedalus.market.interface import MarketSettings
from daedalus.market.strategic import StrategicMarket
from tests.populations import population, seat_plan


def test_the_settings_name_the_market():
    cases = [
        ("classic", ClassicMarket, seat_plan(3)),
        ("strategic", StrategicMarket, population(3)),
    ]
    for name, kind, bidders in cases:
        market = make_market(MarketSettings(name=name), bidders)
        assert isinstance(market, kind)
        assert market.population == bidders


@pytest.mark.parametrize(
    ("name", "bidders"), [("classic", population(3)), ("strategic", seat_plan(3))]
)
def test_a_market_refuses_the_population_of_the_other(name, bidders):
    with pytest.raises(ValueError, match=f"market={name} cannot play"):
        make_market(MarketSettings(name=name), bidders)


@pytest.mark.parametrize(("name", "value"), [("scored_rounds", 6), ("incumbents", {})])
def test_a_bad_setting_is_refused_by_name_and_value(name, value):
    with pytest.raises(ValueError, match=name) as caught:
        MarketSettings(**{name: value})
    assert not value or repr(value) in str(caught.value)
