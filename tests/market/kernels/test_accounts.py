"""Records stay in range, and the auctioneer's account depends on nothing hidden."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daedalus.design.env import DesignEnv, Episodes
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.outcome import ROUND_FIELDS
from daedalus.market.parameters import StrategicParameters
from daedalus.market.population import BidderType, Population
from daedalus.market.proxies import observe
from daedalus.market.strategic import StrategicMarket, StrategicState
from tests.market.states import assert_metrics_in_range, seen
from tests.market.strategic_markets import (
    each_population,
    fresh,
    played,
    random_parameters,
    random_population,
)
from tests.populations import draw_mechanisms


@pytest.mark.slow
@given(seed=st.integers(0, 2**32), odd=st.booleans())
@settings(max_examples=150, deadline=None)
def test_metrics_stay_in_range(seed, odd):
    rng = np.random.default_rng(seed)
    who = random_population(rng)
    market, state = fresh(who, 4, random_parameters(rng) if odd else None)
    for _ in range(2):
        records = market.play(state, draw_mechanisms(4, rng), 20).records
        assert_metrics_in_range(records, who)
        assert_metrics_in_range(observe(state).history.rounds(), who)
        assert np.isfinite(market.observe(state).proxies).all()


def observed(market: StrategicMarket, state: StrategicState) -> bytes:
    env = DesignEnv(market, MarketSettings())
    mechanisms = Mechanisms.repeat(Mechanism(), len(state))
    return seen(Episodes(env, state, mechanisms, np.zeros(len(state), np.int64)).observe())


@each_population
def test_an_observation_does_not_look_at_what_is_hidden(who):
    market, state, _, _ = played(who)
    before, rng = observed(market, state), np.random.default_rng(0)
    hidden = [state.expected_price, state.welfare, state.tables]
    for table_ in (state.bidders, state.rings):
        hidden += [table_[name] for name in table_.dtype.names]
    for array in hidden:
        array[:] = rng.permutation(array.ravel()).reshape(array.shape) + rng.integers(1, 9)
    assert observed(market, state) == before
    state.bids[:, 0] += 0.1
    assert observed(market, state) != before


def capped(low: float, high: float, bidders: int, units: int) -> Population:
    """Return bidders whose bids are their budgets, and a ring that draws lots for who may win."""
    common = {"value_low": low, "value_high": high}
    types = {
        "poor": BidderType(budget=0.2, **common),
        "patient": BidderType(budget=0.45, menu=["shill"], **common),
        "rich": BidderType(budget=0.5, menu=["shill", "shade"], **common),
        "ring": BidderType(budget=0.4, menu=["collude"], efficient_ring=False, **common),
    }
    return Population(bidders=bidders, types=types, units=units)


@pytest.mark.parametrize(
    ("bidders", "units"),
    [(8, 1), (8, 3), (12, 2), (2, 5), (64, 5)],
)
def test_values_move_an_observation_through_bids_alone(bidders, units):
    parameters = StrategicParameters(pacing_gain=0.0, ring_prior=1e3, ring_gain=0.0)
    rng = np.random.default_rng(bidders)
    nobody_shades = rng.integers(1, 3, size=60)
    mechanisms = draw_mechanisms(60, rng).with_columns(auction_type=nobody_shades)
    shown, records = [], []
    for low, high in ((0.5, 0.6), (0.7, 1.0)):
        market, state = fresh(capped(low, high, bidders, units), 60, parameters)
        parts = []
        for _ in range(10):
            parts.append(market.play(state, mechanisms, 3).records)
            shown.append(observed(market, state))
            shown.append(state.bids.tobytes() + state.alias_bids.tobytes() + state.wins.tobytes())
        records.append(np.concatenate(parts, axis=1))
    half = len(shown) // 2
    assert shown[:half] == shown[half:]
    assert len(set(shown[:half])) > 10
    for name in ("welfare", "gini", "revenue_share"):
        column = ROUND_FIELDS.index(name)
        assert not np.array_equal(records[0][..., column], records[1][..., column]), name
