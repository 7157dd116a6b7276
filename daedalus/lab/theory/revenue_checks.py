"""Tests of auction theory for revenue: reserve prices, several units and demand reduction."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
from numpy.polynomial import Polynomial

from daedalus.lab.theory import equilibria
from daedalus.lab.theory.check_rows import Row, case_name, near_row, of_rules, within_row
from daedalus.lab.theory.formats import pays_own_bid
from daedalus.lab.theory.theory_market import (
    BIDDERS,
    COLLUDING,
    LEARNING_ROUNDS,
    MANY_ROUNDS,
    MEMBER,
    RESERVES,
    RING_BIDDERS,
    TRUTHFUL,
    make_theory_market,
    open_mechanism,
    open_mechanisms,
    play_fresh,
    play_on,
    with_ring,
)
from daedalus.market.auction import clear_sales
from daedalus.market.literals import AuctionType, Strategy
from daedalus.market.mechanism import Mechanisms
from daedalus.market.population import BidderType
from daedalus.market.seeds import generator, market_seeds

CASES = (*((bidders, 1) for bidders in BIDDERS), *((RING_BIDDERS, ring) for ring in (2, 3, 4, 5)))
"""Cases of the revenue curves: number of bidders, and number of ring members (1 for no ring)."""

GRID = tuple(round(0.05 * step, 2) for step in range(19))
"""Reserves of the revenue curves."""

_GRID_ROUNDS = 600
_FORMATS: dict[AuctionType, str] = {
    "first_price": "pay as bid",
    "second_price": "uniform price",
    "vcg": "vcg",
}


def reserve_curves(episodes: int, seed: int) -> pd.DataFrame:
    """Measure second-price revenue at each reserve of ``GRID``, for all ``CASES`` on equal sales.

    Args:
        episodes: Number of markets E behind each point.
        seed: Seed of the run.

    Returns:
        A row for each case and reserve: ``bidders``, ``ring`` (number of members, 1 for no ring),
        ``reserve`` and mean ``revenue``.
    """
    seeds = np.tile(market_seeds(seed, "theory/grid", episodes), len(GRID))
    levels = Mechanisms.stack([open_mechanism("second_price", reserve) for reserve in GRID])
    mechanisms = levels.take(np.repeat(np.arange(len(GRID)), episodes))
    parts = []
    for bidders, ring in CASES:
        market = make_theory_market(bidders, with_ring(MEMBER, ring, bidders), constants=COLLUDING)
        outcome = market.play(market.reset(seeds), mechanisms, _GRID_ROUNDS)
        revenue = outcome.field("revenue").reshape(len(GRID), -1).mean(axis=1)
        case = {"bidders": bidders, "ring": ring, "reserve": GRID, "revenue": revenue}
        parts.append(pd.DataFrame(case))
    return pd.concat(parts, ignore_index=True)


def fitted_best_reserve(curve: pd.DataFrame) -> float:
    """Return the reserve at which one case of ``reserve_curves`` has the highest revenue.

    In theory, revenue is a polynomial of degree n + 1 in the reserve. Such a polynomial is fitted
    to the measurements.
    """
    degree = int(curve["bidders"].iloc[0]) + 1
    fit = Polynomial.fit(curve["reserve"], curve["revenue"], degree)
    reserves = np.linspace(GRID[0], GRID[-1], 1801)
    return float(reserves[np.argmax(fit(reserves))])


def best_reserves(curves: pd.DataFrame) -> list[Row]:
    """Compare the best of ``reserve_curves`` with theory (Myerson 1981; Graham & Marshall 1987)."""
    rows = []
    for bidders, ring in CASES:
        curve = curves[(curves["bidders"] == bidders) & (curves["ring"] == ring)]
        theory = equilibria.best_reserve(bidders, ring)
        quantity = f"second price, {case_name(bidders, ring=ring)}"
        measured = fitted_best_reserve(curve)
        rows.append(within_row("best reserve", quantity, theory, measured, 0.02))
    return rows


def reserve_prices(episodes: int, seed: int) -> list[Row]:
    """Measure second-price revenue and welfare without and with the best reserve (Myerson 1981)."""
    revenues, welfares = [], []
    for bidders, reserve in itertools.product(BIDDERS, RESERVES):
        market = make_theory_market(bidders, {"truthful": TRUTHFUL})
        found = play_fresh(market, "second_price", reserve, episodes, seed, MANY_ROUNDS)
        quantity = f"second price, {case_name(bidders, reserve)}"
        theory = equilibria.expected_revenue(bidders, reserve)
        revenues.append(near_row("revenue with a reserve", quantity, theory, found.revenue, 0.005))
        theory = equilibria.expected_welfare(bidders, reserve)
        welfares.append(near_row("welfare with a reserve", quantity, theory, found.welfare, 0.005))
    return revenues + welfares


def several_units(episodes: int, seed: int) -> list[Row]:
    """Measure revenue of K units, which is the same for all formats in theory (Krishna 2009)."""
    rows, bidders = [], 5
    for units, name in itertools.product((2, 3, 4), _FORMATS):
        if pays_own_bid(name):
            revenue = _pay_as_bid_revenue(bidders, units, episodes, seed)
        else:
            market = make_theory_market(bidders, {"truthful": TRUTHFUL}, units)
            revenue = play_fresh(market, name, 0.0, episodes, seed).revenue
        theory = equilibria.expected_units_revenue(bidders, units)
        quantity = f"{_FORMATS[name]}, {units} units, {case_name(bidders)}"
        row = near_row("revenue of K units", quantity, theory, revenue, 0.01)
        rows.append(of_rules(row) if pays_own_bid(name) else row)
    return rows


def demand_reduction(episodes: int, seed: int) -> list[Row]:
    """Sell 2 units to 2 bidders who want both (Ausubel, Cramton et al. 2014).

    The means of the four sorted values are 0.8, 0.6, 0.4 and 0.2. VCG collects the lower two. The
    uniform price is the third if all values are bid. Bidders who learn the cost of a second bid do
    not make one: each gets one unit for 0, and its mean value is 2/3.
    """
    rows = []
    cases: tuple[tuple[AuctionType, list[Strategy], float, float], ...] = (
        ("vcg", [], 0.6, 1.4),
        ("second_price", [], 0.8, 1.4),
        ("second_price", ["shade"], 0.0, 4.0 / 3.0),
    )
    for name, menu, revenue, welfare in cases:
        market = make_theory_market(2, {"bidder": BidderType(menu=menu)}, units=2)
        state = market.reset(market_seeds(seed, "theory/demand", episodes))
        mechanisms = open_mechanisms(name, 0.0, episodes)
        market.play(state, mechanisms, LEARNING_ROUNDS)
        found = play_on(market, state, mechanisms)
        case = f"{_FORMATS[name]}, {'learned' if menu else 'truthful'} bids"
        rows.append(near_row("two units each", f"revenue, {case}", revenue, found.revenue, 0.01))
        rows.append(near_row("two units each", f"welfare, {case}", welfare, found.welfare, 0.01))
    return rows


def _pay_as_bid_revenue(bidders: int, units: int, episodes: int, seed: int) -> float:
    """Return the mean revenue of pay-as-bid sales under equilibrium bids."""
    values = generator(seed, "theory/units", units).random((1000 * episodes, bidders))
    grid = np.linspace(1e-6, 1.0, 2001)  # interpolated, since the bids are slow to compute
    bids = np.interp(values, grid, equilibria.pay_as_bid(grid, bidders, units))
    return float(clear_sales(bids, "first_price", units).paid.sum(axis=1).mean())
