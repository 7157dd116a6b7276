"""What an auctioneer sees of a batch, and what stays hidden."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from daedalus.design.env import DesignEnv, Episodes
from daedalus.market.classic import ClassicMarket
from daedalus.market.interface import MarketSettings
from daedalus.market.kernels.classic import BIDDER
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.proxies import observe
from daedalus.market.seat_plan import BidderGroup, SeatPlan
from daedalus.market.seeds import market_seeds
from daedalus.market.state import MarketState
from tests.populations import draw_mechanisms, seat_plan

HIDDEN = ("bidders", "welfare", "participation")


def test_markets_do_not_mix():
    market = ClassicMarket(seat_plan(4))
    state = market.reset(market_seeds(0, "mix", 20))
    market.play(state, draw_mechanisms(20, np.random.default_rng(0)), 33)
    together = observe(state).proxies
    for row in range(20):
        alone = observe(state.fork(np.array([row]))).proxies[0]
        assert_allclose(together[row], alone, rtol=0, atol=1e-12)
    assert np.isfinite(together).all()


# ------------------------------------------------------------------------------ what is hidden


def observed(played: Episodes) -> bytes:
    seen = played.observe()
    return seen.recent.tobytes() + seen.proxies.tobytes() + seen.round_number.tobytes()


def episodes(who: SeatPlan, seed: int = 0) -> Episodes:
    env = DesignEnv(ClassicMarket(who), MarketSettings())
    return env.reset(market_seeds(seed, "hidden", 40))


@pytest.mark.parametrize("name", [*BIDDER.names, "welfare", "participation"])
def test_no_observation_reads_hidden_state(name):
    played = episodes(seat_plan(4))
    played.step(draw_mechanisms(40, np.random.default_rng(0)))
    before = observed(played)
    state = played.state
    hidden = state.bidders[name] if name in BIDDER.names else getattr(state, name)
    hidden += 1
    assert observed(played) == before


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


def test_a_seed_is_no_part_of_an_observation():
    played = episodes(seat_plan(4))
    before = observed(played)
    played.state.seeds += np.uint64(1)
    assert observed(played) == before


def test_budgets_show_only_once_they_change_bids():
    """No bid depends on whether an exploiter holds 100 or 200, so nor may an observation."""
    seen = []
    for budget in (100.0, 200.0, 1.0):
        exploiter = BidderGroup("exploiter", [2], 0.2, 0.6, budget=budget)
        played = episodes(SeatPlan(4, 8, {"truthful": BidderGroup(), "rich": exploiter}))
        for _ in range(4):
            played.step(Mechanisms.repeat(Mechanism(), 40))
        seen.append(observed(played))
    assert seen[0] == seen[1]
    assert seen[0] != seen[2]


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
