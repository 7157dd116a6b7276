"""Markets of the comparison with theory: their bidders, and what their means count."""

from __future__ import annotations

import pytest

from daedalus.lab.theory.equilibria import expected_revenue, expected_welfare
from daedalus.lab.theory.theory_market import (
    MEMBER,
    TRUTHFUL,
    make_theory_market,
    open_mechanism,
    play_fresh,
    with_ring,
    without_ring,
)


def test_a_ring_has_its_seats_and_the_others_do_not_collude() -> None:
    types = with_ring(MEMBER, ring=2, bidders=5)
    assert {name: each.share for name, each in types.items()} == {"member": 2.0, "outsider": 3.0}
    assert "collude" in types["member"].menu and "collude" not in types["outsider"].menu
    assert without_ring(MEMBER).value_high == MEMBER.value_high


def test_an_open_mechanism_reveals_all() -> None:
    mechanism = open_mechanism("vcg", 0.25)
    assert (mechanism.auction_type, mechanism.reserve_price) == ("vcg", 0.25)
    assert mechanism.reveal_reserve and mechanism.reveal_clearing_price
    assert mechanism.reveal_competing_bids and mechanism.reveal_winner_identity


def test_means_are_revenue_and_value_delivered() -> None:
    market = make_theory_market(3, {"truthful": TRUTHFUL})
    means = play_fresh(market, "second_price", 0.5, episodes=200, seed=0)
    assert means.revenue == pytest.approx(expected_revenue(3, 0.5), rel=0.05)
    assert means.welfare == pytest.approx(expected_welfare(3, 0.5), rel=0.05)
