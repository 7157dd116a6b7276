"""What an auctioneer sees of a batch, and what stays hidden."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from daedalus.design.env import DesignEnv, Episodes
from daedalus.market.classic import ClassicMarket
from daedalus.market.interface import MarketSettings
from daedalus.market.kernels.classic import BIDDER
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.proxies import observe
from daedalus.market.seat_plan import BidderGroup, SeatPlan
from daedalus.market.seeds import market_seeds
from daedalus.market.state import MarketState
from tests.market.states import seen
from tests.populations import draw_mechanisms, seat_plan

HIDDEN = ("bidders", "welfare", "participation")


def episodes(who: SeatPlan, seed: int = 0) -> Episodes:
    env = DesignEnv(ClassicMarket(who), MarketSettings())
    return env.reset(market_seeds(seed, "hidden", 40))


@pytest.mark.parametrize("name", [*BIDDER.names, "welfare", "participation", "seeds"])
def test_no_observation_reads_hidden_state(name):
    played = episodes(seat_plan(4))
    played.step(draw_mechanisms(40, np.random.default_rng(0)))
    before = seen(played.observe())
    state = played.state
    hidden = state.bidders[name] if name in BIDDER.names else getattr(state, name)
    hidden += 1
    assert seen(played.observe()) == before


def test_all_of_the_state_is_either_public_or_hidden():
    """A new array must be sorted into one or the other here."""
    state = episodes(seat_plan(4)).state
    public = {f.name for f in dataclasses.fields(MarketState)}
    assert {f.name for f in dataclasses.fields(state)} == public | set(HIDDEN)


def test_proxies_need_no_more_than_bids_exits_wins_and_prices():
    played = episodes(seat_plan(4))
    played.step(draw_mechanisms(40, np.random.default_rng(0)))
    state = played.state
    bare = MarketState(
        **MarketState.common(np.zeros(40, np.uint64), np.full(40, 8), np.ones(40), 8)
    )
    for name in ("active", "bids", "previous_bids", "wins", "rounds", "prices"):
        setattr(bare, name, getattr(state, name))
    assert observe(bare).proxies.tobytes() == observe(state).proxies.tobytes()


def test_budgets_show_only_once_they_change_bids():
    """No bid depends on whether an exploiter holds 100 or 200, so nor may an observation."""
    all_seen = []
    for budget in (100.0, 200.0, 1.0):
        exploiter = BidderGroup("exploiter", [2], 0.2, 0.6, budget=budget)
        played = episodes(SeatPlan(4, 8, {"truthful": BidderGroup(), "rich": exploiter}))
        for _ in range(4):
            played.step(Mechanisms.repeat(Mechanism(), 40))
        all_seen.append(seen(played.observe()))
    assert all_seen[0] == all_seen[1] != all_seen[2]


def test_disappointment_shows_only_in_exits():
    played = episodes(seat_plan(2))
    fork = played.fork(np.arange(40))
    fork.state.bidders["disappointment"] += 1.0  # so content that they do not leave any earlier
    mechanisms = Mechanisms.repeat(Mechanism(reserve_price=0.0), 40)
    stayed = np.ones(40, np.bool_)
    for _ in range(4):
        played.step(mechanisms)
        fork.step(mechanisms)
        ours, theirs = played.observe(), fork.observe()
        stayed &= (ours.field("dropouts")[:, -5:] == 0).all(axis=1)
        assert_array_equal(ours.recent[stayed], theirs.recent[stayed])
        assert_array_equal(ours.proxies[stayed], theirs.proxies[stayed])
    assert stayed.any()
