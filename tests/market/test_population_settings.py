"""Which markets can play a population."""

from __future__ import annotations

import pytest

from daedalus.market.population import BidderType, Population
from daedalus.market.population_settings import PopulationSettings
from daedalus.market.ranges import Ranges
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
    with pytest.raises(ValueError, match="population empty"):
        PopulationSettings("empty")


RING = {"ring": BidderType(0.2, ["collude"]), "rest": BidderType(0.8)}


@pytest.mark.parametrize("bidders", [2, 4, 7])
def test_a_ring_of_one_is_refused(bidders):
    with pytest.raises(ValueError, match=r"strategic\.types\.ring: .* a ring needs two"):
        PopulationSettings("lone", Population(bidders=bidders, types=RING))


@pytest.mark.parametrize(
    "changes",
    [
        {"bidders": 8},
        {"bidders": 4, "concentration": 1.0},
        {"bidders": 4, "ranges": Ranges(bidders=[4, 20])},
        {"bidders": 4, "types": RING | {"ring": BidderType(0.0, ["collude"])}},
    ],
)
def test_a_ring_that_may_have_two_members_or_that_nobody_asks_for_is_fine(changes):
    PopulationSettings("ring", Population(**{"types": RING} | changes))
