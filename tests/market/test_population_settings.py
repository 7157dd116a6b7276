"""Which markets can play a population."""

from __future__ import annotations

import pytest

from daedalus.market.population import Population
from daedalus.market.population_settings import PopulationSettings
from daedalus.market.seat_plan import SeatPlan


def test_each_market_gets_its_own_description():
    both = PopulationSettings("both", Population(stage=2), SeatPlan(stage=1))
    assert both.markets == ["strategic", "classic"]
    assert both.in_market("strategic") == Population(stage=2)
    assert both.in_market("classic") == SeatPlan(stage=1)


def test_a_market_that_cannot_play_it_says_which_one_can():
    one = PopulationSettings("hedgers", strategic=Population())
    assert one.markets == ["strategic"]
    with pytest.raises(ValueError, match=r"hedgers: market=classic .*choose market=strategic"):
        one.in_market("classic")


def test_a_population_that_no_market_can_play_is_refused():
    with pytest.raises(ValueError, match="name: empty: no market plays it"):
        PopulationSettings("empty")
