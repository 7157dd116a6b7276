"""Does the strategic market obey auction theory? One function for each result.

Each plays the project's own market or its own sales and sets what it measures beside what theory
says. Values are drawn from U[0, 1], demand is for one unit unless said, everything is disclosed,
and what is won keeps its value. Money is in units of value.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.polynomial import Polynomial
from numpy.typing import NDArray
from scipy import optimize

from daedalus.evaluation import equilibria
from daedalus.market.auction import clear_sales
from daedalus.market.mechanism import AUCTION_TYPES, Mechanism, Mechanisms
from daedalus.market.outcome import PROXIES
from daedalus.market.parameters import StrategicParameters
from daedalus.market.population import BidderType, Population
from daedalus.market.seeds import generator, market_seeds
from daedalus.market.strategic import StrategicMarket, StrategicState

BIDDERS = (2, 3, 4, 5)
"""Numbers of bidders n among whom shading is learned and reserves are compared."""

RESERVES = (0.0, 0.5)
"""No reserve, and the best one against bidders who compete (Myerson 1981)."""

RING_BIDDERS = 5
"""Number of bidders in the markets with rings."""

CASES = (*((bidders, 1) for bidders in BIDDERS), *((RING_BIDDERS, ring) for ring in (2, 3, 4, 5)))
"""Bidders and members of their ring, 1 for none, of which revenue curves are measured."""

GRID = tuple(round(0.05 * step, 2) for step in range(19))
"""Reserves at which revenue curves are measured."""

_ROUNDS, _MANY_ROUNDS = 2000, 5000
_PAIRED_ROUNDS = 1000
_GRID_ROUNDS = 600
_LEARNING_ROUNDS = 2000
_COPIES, _BUDGET_ROUNDS = 25, 50
_TRUTHFUL = BidderType(demand=1)
_SHADER = BidderType(menu=["shade"], demand=1, learning_rate=0.004)
_MEMBER = BidderType(menu=["collude"], demand=1)
_COLLUDING = {"ring_prior": 1.0, "ring_gain": 0.0, "ring_scale": 1e-3}  # always, whatever it earns
_SHILLING = {"shill_prior": 1.0, "shill_gain": 0.0, "shill_scale": 1e-3}
_SHILLING |= {"shill_spread_bids": 0.0, "price_gain": 0.0}  # at the price first expected
_FORMATS = {"first_price": "pay as bid", "second_price": "uniform price", "vcg": "vcg"}


@dataclass(frozen=True)
class Row:
    """One number of theory and its measurement, all in the unit of the quantity.

    Attributes:
        result: Which result of theory.
        quantity: What was measured.
        theory: What it should be.
        measured: What it is.
        tolerance: How far off it may be.
        error: How far off it is.
        passes: Whether the error is within the tolerance.
    """

    result: str
    quantity: str
    theory: float
    measured: float
    tolerance: float
    error: float
    passes: bool


@dataclass(frozen=True)
class Learned:
    """What bidders learned in first-price sales.

    Attributes:
        bidders: Number of bidders n.
        reserve: The reserve, which they knew.
        values: Values from the reserve up, in rounds after the learning, shape (S,).
        bids: What their owners bid, shape (S,).
        revenue: Mean revenue of a sale after the learning.
    """

    bidders: int
    reserve: float
    values: NDArray[np.float64]
    bids: NDArray[np.float64]
    revenue: float


@dataclass(frozen=True)
class _Means:
    """Mean revenue and value delivered in a round."""

    revenue: float
    welfare: float


Result = Callable[[int, int], list[Row]]
"""(Number of markets E behind each number, seed of the run) to rows."""


def theory_table(
    learned: Sequence[Learned],
    curves: pd.DataFrame,
    results: Iterable[Result],
    episodes: int,
    seed: int,
) -> pd.DataFrame:
    """Return a row for each number of theory, its columns the attributes of ``Row``.

    Args:
        learned: What ``learn_to_shade`` returned, for each number of bidders and reserve.
        curves: The frame of ``reserve_curves``.
        results: The other results to measure, ``RESULTS`` for all.
        episodes: Markets E behind each of their numbers.
        seed: Seed of the run.
    """
    rows = shading(learned) + revenue_equivalence(learned)
    for result in results:
        rows += result(episodes, seed)
    return pd.DataFrame(rows + best_reserves(curves))


def learn_to_shade(bidders: int, reserve: float, episodes: int, seed: int) -> Learned:
    """Let bidders who know nothing of each other learn to bid in first-price sales.

    Args:
        bidders: Number of bidders n.
        reserve: The reserve, which they know.
        episodes: Markets E, in each of which n bidders learn.
        seed: Seed of the run.
    """
    market = _market(bidders, {"shader": _SHADER})
    state = market.reset(market_seeds(seed, "theory/shading", episodes))
    rules = _rules("first_price", reserve, episodes)
    market.play(state, rules, _LEARNING_ROUNDS)
    revenue = _play_on(market, state, rules, _MANY_ROUNDS).revenue
    values, bids = _sample_bids(market, state, rules, seed)
    above = values >= reserve
    return Learned(bidders, reserve, values[above], bids[above], revenue)


def reserve_curves(episodes: int, seed: int) -> pd.DataFrame:
    """Measure second-price revenue over ``GRID`` without and with rings, all on the same sales.

    Args:
        episodes: Markets E behind each point.
        seed: Seed of the run.

    Returns:
        ``bidders``, ``ring`` (its members, 1 for none), ``reserve`` and mean ``revenue``.
    """
    seeds = np.tile(market_seeds(seed, "theory/grid", episodes), len(GRID))
    levels = Mechanisms.stack([_mechanism("second_price", reserve) for reserve in GRID])
    rules = levels.take(np.repeat(np.arange(len(GRID)), episodes))
    parts = []
    for bidders, ring in CASES:
        market = _market(bidders, _with_ring(_MEMBER, ring, bidders), constants=_COLLUDING)
        outcome = market.play(market.reset(seeds), rules, _GRID_ROUNDS)
        revenue = outcome.field("revenue").reshape(len(GRID), -1).mean(axis=1)
        case = {"bidders": bidders, "ring": ring, "reserve": GRID, "revenue": revenue}
        parts.append(pd.DataFrame(case))
    return pd.concat(parts, ignore_index=True)


def fitted_best_reserve(curve: pd.DataFrame) -> float:
    """Return where the revenue of one case of ``reserve_curves`` is highest.

    Revenue is a polynomial of degree n + 1 in the reserve; one is fitted to the measurements.
    """
    degree = int(curve["bidders"].iloc[0]) + 1
    fit = Polynomial.fit(curve["reserve"], curve["revenue"], degree)
    reserves = np.linspace(GRID[0], GRID[-1], 1801)
    return float(reserves[np.argmax(fit(reserves))])


def largest_gain_of_lies(auction_type: str, sales: int, seed: int) -> float:
    """Return the most that a bidder for two units gains by not bidding its values, in value.

    Args:
        auction_type: One of ``AUCTION_TYPES``.
        sales: Sales S of each supply from 1 to 5 units; in each, others bid anything, and the
            bidder its values and then one lie, near them or anywhere.
        seed: Seed of the run.
    """
    rng = generator(seed, "theory/lies")
    gains = []
    for units in range(1, 6):
        others = rng.random((sales, 4, 2))
        values = np.sort(rng.random((sales, 2)))[:, ::-1]
        near = np.abs(values * rng.normal(1.0, 0.1, (sales, 2)))
        lies = np.where(rng.random((sales, 1)) < 0.5, near, rng.random((sales, 2)))
        reserve = rng.uniform(0.0, 0.5)
        truth, lie = (
            _surplus(auction_type, own, others, values, units, reserve) for own in (values, lies)
        )
        gains.append(float((lie - truth).max()))
    return max(gains)


def shading(learned: Sequence[Learned]) -> list[Row]:
    """Compare what bidders learned to take off their values with what theory says (Krishna 2009).

    Means over tenths of the range of values; the worst tenth counts.
    """
    rows = []
    for each in learned:
        equilibrium = equilibria.first_price_bid(each.values, each.bidders, each.reserve)
        tenth = np.digitize(each.values, np.linspace(each.reserve, 1.0, 11)[1:-1])
        shaded = np.bincount(tenth, each.values - each.bids)
        ratios = shaded / np.bincount(tenth, each.values - equilibrium)
        worst = float(ratios[np.argmax(np.abs(ratios - 1.0))])
        quantity = f"learned over equilibrium shading, {_case(each.bidders, each.reserve)}"
        rows.append(_near("first-price shading", quantity, 1.0, worst, 0.03))
    return rows


def revenue_equivalence(learned: Sequence[Learned]) -> list[Row]:
    """Compare first-price revenue under learned bids with any standard sale's (Myerson 1981).

    Second-price revenue in the same cases is measured in ``reserve_prices``.
    """
    rows = []
    for each in learned:
        theory = equilibria.expected_revenue(each.bidders, each.reserve)
        quantity = f"first price, learned bids, {_case(each.bidders, each.reserve)}"
        rows.append(_near("revenue equivalence", quantity, theory, each.revenue, 0.01))
    return rows


def best_reserves(curves: pd.DataFrame) -> list[Row]:
    """Compare the reserves that earn most with theory's (Myerson 1981; Graham & Marshall 1987).

    Args:
        curves: The frame of ``reserve_curves``.
    """
    rows = []
    for bidders, ring in CASES:
        curve = curves[(curves["bidders"] == bidders) & (curves["ring"] == ring)]
        theory = equilibria.best_reserve(bidders, ring)
        quantity = f"second price, {_case(bidders, ring=ring)}"
        measured = fitted_best_reserve(curve)
        rows.append(_within("best reserve", quantity, theory, measured, 0.02))
    return rows


def reserve_prices(episodes: int, seed: int) -> list[Row]:
    """Measure second-price revenue and welfare without and with the best reserve (Myerson 1981)."""
    revenues, welfares = [], []
    for bidders, reserve in itertools.product(BIDDERS, RESERVES):
        market = _market(bidders, {"truthful": _TRUTHFUL})
        found = _play(market, "second_price", reserve, episodes, seed, _MANY_ROUNDS)
        quantity = f"second price, {_case(bidders, reserve)}"
        theory = equilibria.expected_revenue(bidders, reserve)
        revenues.append(_near("revenue with a reserve", quantity, theory, found.revenue, 0.005))
        theory = equilibria.expected_welfare(bidders, reserve)
        welfares.append(_near("welfare with a reserve", quantity, theory, found.welfare, 0.005))
    return revenues + welfares


def several_units(episodes: int, seed: int) -> list[Row]:
    """Measure the revenue of K units in equilibrium, the same in all formats (Krishna 2009)."""
    rows, bidders = [], 5
    for units, name in itertools.product((2, 3, 4), AUCTION_TYPES):
        if name == "first_price":
            revenue = _pay_as_bid_revenue(bidders, units, episodes, seed)
        else:
            market = _market(bidders, {"truthful": _TRUTHFUL}, units)
            revenue = _play(market, name, 0.0, episodes, seed).revenue
        theory = equilibria.expected_units_revenue(bidders, units)
        quantity = f"{_FORMATS[name]}, {units} units, {_case(bidders)}"
        rows.append(_near("revenue of K units", quantity, theory, revenue, 0.01))
    return rows


def demand_reduction(episodes: int, seed: int) -> list[Row]:
    """Sell 2 units to 2 bidders who want both (Ausubel, Cramton et al. 2014).

    The four values average 0.8, 0.6, 0.4 and 0.2 in order. VCG collects the lower two; the uniform
    price is the third if all are bid. Bidders who learn what a second bid costs offer none: each
    gets one unit for nothing, worth 2/3.
    """
    rows = []
    cases: tuple[tuple[str, list[str], float, float], ...] = (
        ("vcg", [], 0.6, 1.4),
        ("second_price", [], 0.8, 1.4),
        ("second_price", ["shade"], 0.0, 4.0 / 3.0),
    )
    for name, menu, revenue, welfare in cases:
        market = _market(2, {"bidder": BidderType(menu=menu)}, units=2)
        state = market.reset(market_seeds(seed, "theory/demand", episodes))
        rules = _rules(name, 0.0, episodes)
        market.play(state, rules, _LEARNING_ROUNDS)
        found = _play_on(market, state, rules)
        case = f"{_FORMATS[name]}, {'learned' if menu else 'truthful'} bids"
        rows.append(_near("two units each", f"revenue, {case}", revenue, found.revenue, 0.01))
        rows.append(_near("two units each", f"welfare, {case}", welfare, found.welfare, 0.01))
    return rows


def truth_is_dominant(episodes: int, seed: int) -> list[Row]:
    """Look for a lie that pays in VCG sales, whatever others bid (Krishna 2009, chapter 13)."""
    gain = largest_gain_of_lies("vcg", 100 * episodes, seed)
    quantity = f"largest gain of {500 * episodes} lies, 1 to 5 units"
    return [_below("vcg: truth is dominant", quantity, 0.0, gain, 1e-12)]


def shill_is_a_reserve(episodes: int, seed: int) -> list[Row]:
    """Compare a false-name bid s with a reserve s, sale by sale, in second price.

    The bid wins where it is highest, and the unit stays unsold; else it is a price nobody beats.
    """
    rows = []
    types = {"shiller": replace(_TRUTHFUL, menu=["shill"]), "other": replace(_TRUTHFUL, share=3.0)}
    market = _market(4, types, constants=_SHILLING)
    plain = _market(4, {"truthful": _TRUTHFUL})
    seeds = market_seeds(seed, "theory/shill", episodes)
    for bid in (0.3, 0.5, 0.7):
        state = market.reset(seeds)
        state.expected_price[:] = bid
        rules = _rules("second_price", 0.0, episodes)
        shilled = market.play(state, rules, _PAIRED_ROUNDS).field("revenue")
        rules = _rules("second_price", bid, episodes)
        reserved = plain.play(plain.reset(seeds), rules, _PAIRED_ROUNDS).field("revenue")
        difference = float(np.abs(shilled - reserved).max())
        quantity = f"largest change in a sale's revenue, bid {bid} or reserve {bid}"
        rows.append(_within("shill bid is a reserve", quantity, 0.0, difference, 0.0))
    return rows


def ring_revenue(episodes: int, seed: int) -> list[Row]:
    """Measure second-price revenue from rings that send their best (Graham & Marshall 1987)."""
    rows = []
    for ring in range(1, RING_BIDDERS + 1):
        market = _market(RING_BIDDERS, _with_ring(_MEMBER, ring), constants=_COLLUDING)
        revenue = _play(market, "second_price", 0.0, episodes, seed).revenue
        theory = equilibria.expected_revenue(RING_BIDDERS, ring=ring)
        quantity = f"second price, {_case(RING_BIDDERS, ring=ring)}"
        rows.append(_near("revenue from a ring", quantity, theory, revenue, 0.01))
    return rows


def outsiders_of_a_ring(episodes: int, seed: int) -> list[Row]:
    """Compare each outsider's surplus with and without a ring (Graham & Marshall 1987).

    The ring's best bids what it would bid alone, so that outsiders win and pay the same.
    """
    rows = []
    for ring, reserve in itertools.product((2, 3, 4), RESERVES):
        rules = _rules("second_price", reserve, episodes)
        (_, with_ring), (_, without) = _play_twice(_MEMBER, ring, rules, seed)
        change = with_ring.bidders["surplus"][:, ring:] - without.bidders["surplus"][:, ring:]
        quantity = f"largest change in surplus, {_case(RING_BIDDERS, reserve, ring)}"
        rows.append(_within("outsiders of a ring", quantity, 0.0, float(np.abs(change).max()), 0.0))
    return rows


def ring_welfare(episodes: int, seed: int) -> list[Row]:
    """Measure what a ring of all delivers, led by its best or by lot (McAfee & McMillan 1992)."""
    rows = []
    for leader, theory in (("its best", equilibria.expected_welfare(RING_BIDDERS)), ("lot", 0.5)):
        types = {"ring": replace(_MEMBER, efficient_ring=leader == "its best")}
        market = _market(RING_BIDDERS, types, constants=_COLLUDING)
        welfare = _play(market, "second_price", 0.0, episodes, seed).welfare
        quantity = f"second price, ring of all {RING_BIDDERS}, led by {leader}"
        rows.append(_near("welfare from a ring", quantity, theory, welfare, 0.01))
    return rows


def entry(episodes: int, seed: int) -> list[Row]:
    """Find the value from which entering a second-price sale pays its cost (Samuelson 1985).

    A cut-off is in equilibrium if who is worth just that breaks even where those who are worth
    more, and only they, come and bid their values.
    """
    rows, cost = [], 0.04
    for bidders in (2, 3, 4):
        rivals = generator(seed, "theory/entry", bidders).random((1000 * episodes, bidders - 1))

        def profit(cutoff: float, rivals: NDArray[np.float64] = rivals) -> float:
            bids = np.insert(np.where(rivals >= cutoff, rivals, 0.0), 0, cutoff, axis=1)
            sales = clear_sales(bids, "second_price")
            return float((sales.won[:, 0] * cutoff - sales.paid[:, 0]).mean()) - cost

        measured = optimize.brentq(profit, 0.01, 1.0, xtol=1e-4)
        theory = equilibria.entry_cutoff(bidders, cost)
        quantity = f"cut-off at cost {cost}, {_case(bidders)}"
        rows.append(_within("entry", quantity, theory, measured, 0.01))
    return rows


def budgets(episodes: int, seed: int) -> list[Row]:
    """Measure revenue from 2 bidders who can pay 0.5 in a sale (Che & Gale 1998).

    The budget binds second-price bids, min(v, 0.5), but not the v/2 that first-price bidders learn.
    """
    rows = []
    learning = _market(2, {"shader": _SHADER})
    capped = _market(2, {"shader": replace(_SHADER, budget=0.5)}, constants={"pacing_gain": 0.0})
    copies = np.tile(np.arange(episodes), _COPIES)
    seeds = market_seeds(seed, "theory/budgets", len(copies))
    for name, theory in (("first_price", 1.0 / 3.0), ("second_price", 7.0 / 24.0)):
        state, rules = learning.reset(seeds[:episodes]), _rules(name, 0.0, episodes)
        learning.play(state, rules, _LEARNING_ROUNDS)
        state, revenue = state.fork(copies, seeds), 0.0
        for _ in range(_BUDGET_ROUNDS):
            state.bidders["spent"] = 0.0
            revenue += _play_on(capped, state, rules.take(copies), 1).revenue / _BUDGET_ROUNDS
        quantity = f"{name.replace('_', ' ')}, 2 bidders, budgets of 0.5"
        rows.append(_near("budget cap", quantity, theory, revenue, 0.01))
    return rows


def cover_bids(episodes: int, seed: int) -> list[Row]:
    """Measure how cover bids change what a variance screen sees (Abrantes-Metz et al. 2006).

    The screen is the coefficient of variation of bids in first price, from the auctioneer's own
    statistics, over all rounds.
    """
    member = replace(_SHADER, menu=["shade", "collude"], rivals=RING_BIDDERS - 1.0)
    columns = [PROXIES.index(name) for name in ("bid_std", "bid_mean")]
    rows = []
    for ring in (2, 3, 4):
        rules = _rules("first_price", 0.0, episodes)
        played = _play_twice(member, ring, rules, seed)
        sightings = [market.proxies(state)[:, columns] for market, state in played]
        with_ring, without = (float((seen[:, 0] / seen[:, 1]).mean()) for seen in sightings)
        quantity = f"bids' coefficient of variation falls, {_case(RING_BIDDERS, ring=ring)}"
        rows.append(_below("cover bids", quantity, 0.0, with_ring - without))
    return rows


RESULTS: tuple[Result, ...] = (
    reserve_prices,
    several_units,
    demand_reduction,
    truth_is_dominant,
    shill_is_a_reserve,
    entry,
    budgets,
    ring_revenue,
    ring_welfare,
    outsiders_of_a_ring,
    cover_bids,
)
"""The results that play markets of their own."""


def _row(result: str, quantity: str, numbers: tuple[float, float, float, float]) -> Row:
    theory, measured, tolerance, error = numbers
    return Row(result, quantity, theory, measured, tolerance, error, error <= tolerance)


def _within(result: str, quantity: str, theory: float, measured: float, tolerance: float) -> Row:
    """Return a row that passes if measurement and theory differ by the tolerance at most."""
    return _row(result, quantity, (theory, measured, tolerance, abs(measured - theory)))


def _near(result: str, quantity: str, theory: float, measured: float, share: float) -> Row:
    """Return a row that passes if they differ by a share of theory's number at most."""
    return _within(result, quantity, theory, measured, share * theory)


def _below(
    result: str, quantity: str, theory: float, measured: float, tolerance: float = 0.0
) -> Row:
    """Return a row that passes if the measurement exceeds theory's by the tolerance at most."""
    return _row(result, quantity, (theory, measured, tolerance, max(measured - theory, 0.0)))


def _case(bidders: int, reserve: float | None = None, ring: int = 1) -> str:
    words = [f"{bidders} bidders"]
    if ring > 1:
        words.append(f"ring of {ring}")
    if reserve is not None:
        words.append(f"reserve {reserve:g}")
    return ", ".join(words)


def _market(
    bidders: int,
    types: Mapping[str, BidderType],
    units: int = 1,
    constants: Mapping[str, float] | None = None,
) -> StrategicMarket:
    """Return a market in which nothing won proves worthless and surplus adds up undecayed."""
    chosen = {"shock_rate": 0.0, "surplus_memory": 1.0} | dict(constants or {})
    population = Population(bidders=bidders, types=dict(types), units=units)
    return StrategicMarket(population, StrategicParameters(**chosen))


def _with_ring(member: BidderType, ring: int, bidders: int = RING_BIDDERS) -> dict[str, BidderType]:
    """Return types of which the first ``ring`` bidders are members and the others are not."""
    return {
        "member": replace(member, share=float(ring)),
        "outsider": replace(_competing(member), share=float(bidders - ring)),
    }


def _competing(member: BidderType) -> BidderType:
    return replace(member, menu=[each for each in member.menu if each != "collude"])


def _mechanism(auction_type: str, reserve: float) -> Mechanism:
    return Mechanism(
        auction_type=auction_type,
        reserve_price=reserve,
        reveal_reserve=True,
        reveal_competing_bids=True,
        reveal_winner_identity=True,
    )


def _rules(auction_type: str, reserve: float, episodes: int) -> Mechanisms:
    return Mechanisms.repeat(_mechanism(auction_type, reserve), episodes)


def _play_on(
    market: StrategicMarket, state: StrategicState, rules: Mechanisms, rounds: int = _ROUNDS
) -> _Means:
    """Play on and return the means; value delivered is what the bidders gained and paid."""
    before = state.bidders["surplus"].sum()
    revenue = market.play(state, rules, rounds).field("revenue")
    gained = (state.bidders["surplus"].sum() - before) / revenue.size
    return _Means(float(revenue.mean()), float(revenue.mean() + gained))


def _play(
    market: StrategicMarket,
    auction_type: str,
    reserve: float,
    episodes: int,
    seed: int,
    rounds: int = _ROUNDS,
) -> _Means:
    """Return the means of rounds in E fresh markets."""
    state = market.reset(market_seeds(seed, "theory", episodes))
    return _play_on(market, state, _rules(auction_type, reserve, episodes), rounds)


def _play_twice(
    member: BidderType, ring: int, rules: Mechanisms, seed: int
) -> list[tuple[StrategicMarket, StrategicState]]:
    """Play the same sales to a ring and its outsiders, and to the same bidders without a ring."""
    seeds = market_seeds(seed, "theory/rings", len(rules))
    constants = _COLLUDING | {"sighting_memory": 1.0}
    played = []
    for each in (member, _competing(member)):
        market = _market(RING_BIDDERS, _with_ring(each, ring), constants=constants)
        state = market.reset(seeds)
        market.play(state, rules, _PAIRED_ROUNDS)
        played.append((market, state))
    return played


def _sample_bids(
    market: StrategicMarket, state: StrategicState, rules: Mechanisms, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return values and bids in one round of many futures, (S,).

    Values are what truthful bidders bid in the same round.
    """
    truthful = _market(market.population.bidders, {"truthful": _TRUTHFUL})
    copies = np.tile(np.arange(len(state)), _COPIES)
    seeds = market_seeds(seed, "theory/futures", len(copies))
    bids = []
    for each in (truthful, market):
        future = state.fork(copies, seeds)
        each.play(future, rules.take(copies), 1)
        bids.append(future.bids.ravel())
    return bids[0], bids[1]


def _pay_as_bid_revenue(bidders: int, units: int, episodes: int, seed: int) -> float:
    """Return the mean revenue of pay-as-bid sales under equilibrium bids."""
    values = generator(seed, "theory/units", units).random((1000 * episodes, bidders))
    grid = np.linspace(1e-6, 1.0, 2001)  # the equilibrium is smooth, and slow to compute
    bids = np.interp(values, grid, equilibria.pay_as_bid(grid, bidders, units))
    return float(clear_sales(bids, "first_price", units).paid.sum(axis=1).mean())


def _surplus(
    auction_type: str,
    own: NDArray[np.float64],
    others: NDArray[np.float64],
    values: NDArray[np.float64],
    units: int,
    reserve: float,
) -> NDArray[np.float64]:
    """Return what bidding ``own`` (S, 2) against ``others`` (S, n, 2) earns, shape (S,)."""
    bids = np.concatenate([own[:, None], others], axis=1)
    sales = clear_sales(bids, auction_type, units, reserve)
    worth: NDArray[np.float64] = (values * (sales.won[:, :1] > np.arange(2))).sum(axis=1)
    return worth - sales.paid[:, 0]
