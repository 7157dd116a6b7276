"""Tests of auction theory for rings and shill bidders."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np

from daedalus.lab.theory import equilibria
from daedalus.lab.theory.check_rows import Row, below_row, case_name, near_row, within_row
from daedalus.lab.theory.theory_market import (
    COLLUDING,
    MEMBER,
    RESERVES,
    RING_BIDDERS,
    SHADER,
    TRUTHFUL,
    make_theory_market,
    open_mechanisms,
    play_fresh,
    with_ring,
    without_ring,
)
from daedalus.market.mechanism import Mechanisms
from daedalus.market.observation import PROXIES
from daedalus.market.population import BidderType
from daedalus.market.seeds import market_seeds
from daedalus.market.strategic import StrategicMarket, StrategicState

_PAIRED_ROUNDS = 1000
_SHILLING = {"shill_prior": 1.0, "shill_gain": 0.0, "shill_scale": 1e-3}
_SHILLING |= {"shill_spread_bids": 0.0, "price_gain": 0.0}
"""Constants with which shill bidders always bid the price that they expected at first."""


def ring_revenue(episodes: int, seed: int) -> list[Row]:
    """Measure second-price revenue when only a ring's best bids (Graham & Marshall 1987)."""
    rows = []
    for ring in range(1, RING_BIDDERS + 1):
        market = make_theory_market(RING_BIDDERS, with_ring(MEMBER, ring), constants=COLLUDING)
        revenue = play_fresh(market, "second_price", 0.0, episodes, seed).revenue
        theory = equilibria.expected_revenue(RING_BIDDERS, ring=ring)
        quantity = f"second price, {case_name(RING_BIDDERS, ring=ring)}"
        rows.append(near_row("revenue from a ring", quantity, theory, revenue, 0.01))
    return rows


def outsiders_of_a_ring(episodes: int, seed: int) -> list[Row]:
    """Compare each outsider's surplus with and without a ring (Graham & Marshall 1987).

    The ring's best member bids its value, as it would alone. Outsiders so win and pay the same.
    """
    rows = []
    for ring, reserve in itertools.product((2, 3, 4), RESERVES):
        mechanisms = open_mechanisms("second_price", reserve, episodes)
        (_, colluding), (_, competing) = _play_twice(MEMBER, ring, mechanisms, seed)
        change = colluding.bidders["surplus"][:, ring:] - competing.bidders["surplus"][:, ring:]
        quantity = f"largest change in surplus, {case_name(RING_BIDDERS, reserve, ring)}"
        rows.append(
            within_row("outsiders of a ring", quantity, 0.0, float(np.abs(change).max()), 0.0)
        )
    return rows


def ring_welfare(episodes: int, seed: int) -> list[Row]:
    """Measure welfare if all bidders are in one ring (McAfee & McMillan 1992).

    The ring's winner is its best member, or it is drawn by lot.
    """
    rows = []
    for leader, theory in (("its best", equilibria.expected_welfare(RING_BIDDERS)), ("lot", 0.5)):
        types = {"ring": replace(MEMBER, efficient_ring=leader == "its best")}
        market = make_theory_market(RING_BIDDERS, types, constants=COLLUDING)
        welfare = play_fresh(market, "second_price", 0.0, episodes, seed).welfare
        quantity = f"second price, ring of all {RING_BIDDERS}, led by {leader}"
        rows.append(near_row("welfare from a ring", quantity, theory, welfare, 0.01))
    return rows


def cover_bids(episodes: int, seed: int) -> list[Row]:
    """Measure how covers change a variance screen (Abrantes-Metz et al. 2006).

    The screen is the coefficient of variation of first-price bids, over all rounds, from the
    auctioneer's own statistics.
    """
    member = replace(SHADER, menu=["shade", "collude"], rivals=RING_BIDDERS - 1.0)
    columns = [PROXIES.index(name) for name in ("bid_std", "bid_mean")]
    rows = []
    for ring in (2, 3, 4):
        mechanisms = open_mechanisms("first_price", 0.0, episodes)
        played = _play_twice(member, ring, mechanisms, seed)
        sightings = [market.observe(state).proxies[:, columns] for market, state in played]
        colluding, competing = (float((seen[:, 0] / seen[:, 1]).mean()) for seen in sightings)
        quantity = f"bids' coefficient of variation falls, {case_name(RING_BIDDERS, ring=ring)}"
        rows.append(below_row("cover bids", quantity, 0.0, colluding - competing))
    return rows


def shill_is_a_reserve(episodes: int, seed: int) -> list[Row]:
    """Compare a false-name bid s with a reserve s, sale by sale, in second price.

    Where the false-name bid is the highest, it wins and the unit stays unsold. Otherwise the winner
    pays at least s, as with a reserve.
    """
    rows = []
    types = {"shiller": replace(TRUTHFUL, menu=["shill"]), "other": replace(TRUTHFUL, share=3.0)}
    market = make_theory_market(4, types, constants=_SHILLING)
    plain = make_theory_market(4, {"truthful": TRUTHFUL})
    seeds = market_seeds(seed, "theory/shill", episodes)
    for bid in (0.3, 0.5, 0.7):
        state = market.reset(seeds)
        state.expected_price[:] = bid
        mechanisms = open_mechanisms("second_price", 0.0, episodes)
        shilled = market.play(state, mechanisms, _PAIRED_ROUNDS).field("revenue")
        mechanisms = open_mechanisms("second_price", bid, episodes)
        reserved = plain.play(plain.reset(seeds), mechanisms, _PAIRED_ROUNDS).field("revenue")
        difference = float(np.abs(shilled - reserved).max())
        quantity = f"largest change in a sale's revenue, bid {bid} or reserve {bid}"
        rows.append(within_row("shill bid is a reserve", quantity, 0.0, difference, 0.0))
    return rows


def _play_twice(
    member: BidderType, ring: int, mechanisms: Mechanisms, seed: int
) -> list[tuple[StrategicMarket, StrategicState]]:
    """Play the same sales with a ring and outsiders, and with the same bidders without a ring."""
    seeds = market_seeds(seed, "theory/rings", len(mechanisms))
    constants = COLLUDING | {"sighting_memory": 1.0}
    played = []
    for each in (member, without_ring(member)):
        market = make_theory_market(RING_BIDDERS, with_ring(each, ring), constants=constants)
        state = market.reset(seeds)
        market.play(state, mechanisms, _PAIRED_ROUNDS)
        played.append((market, state))
    return played
