"""Regret in hindsight: the simulator against theory, and learned bids against both."""

from __future__ import annotations

import pytest

from daedalus.lab.theory.hindsight import Hindsight, Recorded, best_reply, hindsight, record
from daedalus.lab.theory.theory_market import SHADER, TRUTHFUL, make_theory_market, open_mechanism
from daedalus.market.population import BidderType
from tests.lab.theory.test_distributions import UNIFORM


def recorded(auction_type: str, bidders: int, each: BidderType) -> Recorded:
    market = make_theory_market(bidders, {"bidder": each})
    return record(market, open_mechanism(auction_type, 0.0), 60, 0)


@pytest.mark.parametrize(("bidders", "regret"), [(2, 1 / 12), (3, 1 / 27)])
def test_truthful_markets_have_the_regret_of_one_sale(bidders: int, regret: float) -> None:
    """A fixed factor (n-1)/n of the value is the best bid at every value."""
    found = hindsight(recorded("first_price", bidders, TRUTHFUL), bidders - 1, UNIFORM)
    assert found.truthful == pytest.approx(regret, abs=1.5 * found.error)
    assert found.played == pytest.approx(found.truthful, abs=1e-12)
    assert found.factor == pytest.approx((bidders - 1) / bidders, abs=0.1)


@pytest.mark.parametrize("bidders", [2, 5])
def test_learned_bids_leave_no_regret(bidders: int) -> None:
    found = hindsight(recorded("first_price", bidders, SHADER), 0, UNIFORM)
    assert found.truthful > 0.025 > 0.002 > abs(found.played)


@pytest.mark.parametrize("auction_type", ["second_price", "vcg"])
def test_truth_has_none_where_it_is_dominant(auction_type: str) -> None:
    found = hindsight(recorded(auction_type, 3, SHADER), 0, UNIFORM)
    assert found == Hindsight(0.0, 0.0, 0.0, 1.0)


def test_a_best_reply_to_truth_in_first_price_gains_the_interim_regret() -> None:
    """Against one truthful rival half the value gains 1/12, and truth earns nothing."""
    found = best_reply(recorded("first_price", 2, TRUTHFUL), 0, UNIFORM)
    assert found.gain == pytest.approx(1 / 12, abs=0.004) and found.surplus == 0.0


@pytest.mark.parametrize(("auction_type", "each"), [("first_price", SHADER), ("vcg", TRUTHFUL)])
def test_an_equilibrium_leaves_no_reply_unused(auction_type: str, each: BidderType) -> None:
    found = best_reply(recorded(auction_type, 3, each), 0, UNIFORM)
    assert 0.0 <= found.gain < 0.02 * found.surplus
    assert found.surplus == pytest.approx(1 / 12, abs=0.01)
