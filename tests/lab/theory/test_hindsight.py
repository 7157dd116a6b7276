"""Best replies in the repeated market: the simulator against theory."""

from __future__ import annotations

import pytest

from daedalus.lab.theory.hindsight import Recorded, best_reply, record
from daedalus.lab.theory.theory_market import SHADER, TRUTHFUL, make_theory_market, open_mechanism
from daedalus.market.population import BidderType
from tests.lab.theory.test_distributions import UNIFORM


def recorded(auction_type: str, bidders: int, each: BidderType) -> Recorded:
    market = make_theory_market(bidders, {"bidder": each})
    return record(market, open_mechanism(auction_type, 0.0), 60, 0)


def test_a_best_reply_to_truth_in_first_price_gains_the_interim_regret() -> None:
    """Against one truthful rival half the value gains 1/12, and truth earns nothing."""
    found = best_reply(recorded("first_price", 2, TRUTHFUL), 0, UNIFORM)
    assert found.gain == pytest.approx(1 / 12, abs=0.004) and found.surplus == 0.0


@pytest.mark.parametrize(("auction_type", "each"), [("first_price", SHADER), ("vcg", TRUTHFUL)])
def test_an_equilibrium_leaves_no_reply_unused(auction_type: str, each: BidderType) -> None:
    found = best_reply(recorded(auction_type, 3, each), 0, UNIFORM)
    assert 0.0 <= found.gain < 0.02 * found.surplus
    assert found.surplus == pytest.approx(1 / 12, abs=0.01)
