"""Deliveries, withdrawals, fines and payments."""

from __future__ import annotations

import numpy as np
import pytest

from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.population import BidderType, Population
from tests.market.strategic_markets import TYPES, fresh, mixed
from tests.populations import draw_mechanisms


@pytest.mark.parametrize("name", TYPES)
def test_nobody_spends_more_than_its_budget(name):
    market, state = fresh(mixed(name, budget=0.7), 60)
    market.play(state, draw_mechanisms(60, np.random.default_rng(0)), 60)
    assert state.bidders["spent"].max() <= 0.7 + 1e-12


def test_a_winner_withdraws_where_the_outside_option_is_worth_more_than_unit_and_fine() -> None:
    choosy = BidderType(menu=["withdraw"], value_high=0.5, outside_option=0.6)
    market, state = fresh(Population(types={"choosy": choosy}), 20)
    free, fined = (Mechanism(withdrawal_penalty=penalty) for penalty in (0.0, 3.0))
    market.play(state, Mechanisms.repeat(free, 20), 5)
    assert not state.wins.any()
    assert not state.bidders["spent"].any()
    market.play(state, Mechanisms.repeat(fined, 20), 5)
    assert state.wins.sum(axis=1).min() > 0


def test_a_bidder_that_spends_too_fast_scales_its_bids_down() -> None:
    market, state = fresh(mixed("truthful", budget=0.5), 20)
    market.play(state, Mechanisms.repeat(Mechanism(), 20), 1)
    paid = state.bidders["spent"] > 0
    assert (state.bidders["pacing"][paid] > 0).all()
    assert (state.bidders["pacing"][~paid] == 0).all()
