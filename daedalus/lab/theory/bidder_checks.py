"""Tests of auction theory for single bidders: shading, truth, entry and budgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import optimize

from daedalus.lab.theory import equilibria
from daedalus.lab.theory.check_rows import (
    Row,
    below_row,
    case_name,
    near_row,
    of_rules,
    within_row,
)
from daedalus.lab.theory.distributions import Distribution, Numbers
from daedalus.lab.theory.sales import expected_revenue, first_price_bids, symmetric
from daedalus.lab.theory.theory_market import (
    COPIES,
    LEARNING_ROUNDS,
    MANY_ROUNDS,
    SHADER,
    TRUTHFUL,
    make_theory_market,
    open_mechanisms,
    play_on,
)
from daedalus.market.auction import clear_sales
from daedalus.market.literals import AuctionType
from daedalus.market.mechanism import Mechanisms
from daedalus.market.seeds import generator, market_seeds
from daedalus.market.strategic import StrategicMarket, StrategicState
from daedalus.market.value_distribution import ValueDistribution

SHAPES = {
    "exponential values": ValueDistribution("exponential", mean=0.2),
    "beta(2, 1) values": ValueDistribution("beta", alpha=2.0, beta=1.0),
    "values in two parts": ValueDistribution("mixture", parts=[[3, 0, 0.375], [1, 0.375, 1]]),
}
"""Distributions of values that are not uniform."""

_BUDGET_ROUNDS = 50


@dataclass(frozen=True)
class Learned:
    """Bids that bidders learned in first-price sales.

    Attributes:
        bidders: Number of bidders n.
        reserve: The reserve, which the bidders knew.
        values: Values from the reserve up, in rounds after learning, shape (S,).
        bids: Bids at these values, shape (S,).
        revenue: Mean revenue of a sale after learning.
    """

    bidders: int
    reserve: float
    values: Numbers
    bids: Numbers
    revenue: float


def learn_to_shade(
    bidders: int,
    reserve: float,
    episodes: int,
    seed: int,
    shape: ValueDistribution | None = None,
) -> Learned:
    """Let bidders learn to bid in first-price sales; at first they do not know their rivals.

    Args:
        bidders: Number of bidders n.
        reserve: The reserve, which the bidders know.
        episodes: Number of markets E; in each of them n bidders learn.
        seed: Seed of the run.
        shape: Distribution of their values; None is uniform.
    """
    market = make_theory_market(bidders, {"shader": replace(SHADER, values=shape)})
    state = market.reset(market_seeds(seed, "theory/shading", episodes))
    mechanisms = open_mechanisms("first_price", reserve, episodes)
    market.play(state, mechanisms, LEARNING_ROUNDS)
    revenue = play_on(market, state, mechanisms, MANY_ROUNDS).revenue
    values, bids = _sample_bids(market, state, mechanisms, seed)
    above = values >= reserve
    return Learned(bidders, reserve, values[above], bids[above], revenue)


def shading(learned: Sequence[Learned]) -> list[Row]:
    """Compare learned shading, value minus bid, with the equilibrium's (Krishna 2009).

    Shading is averaged over each tenth of the range of values. The worst tenth counts.
    """
    rows = []
    for each in learned:
        equilibrium = equilibria.first_price_bid(each.values, each.bidders, each.reserve)
        tenth = np.digitize(each.values, np.linspace(each.reserve, 1.0, 11)[1:-1])
        shaded = np.bincount(tenth, each.values - each.bids)
        ratios = shaded / np.bincount(tenth, each.values - equilibrium)
        worst = float(ratios[np.argmax(np.abs(ratios - 1.0))])
        quantity = f"learned over equilibrium shading, {case_name(each.bidders, each.reserve)}"
        rows.append(near_row("first-price shading", quantity, 1.0, worst, 0.03))
    return rows


def revenue_equivalence(learned: Sequence[Learned]) -> list[Row]:
    """Compare first-price revenue under learned bids with that of standard sales (Myerson 1981).

    ``reserve_prices`` measures second-price revenue in the same cases.
    """
    rows = []
    for each in learned:
        theory = equilibria.expected_revenue(each.bidders, each.reserve)
        quantity = f"first price, learned bids, {case_name(each.bidders, each.reserve)}"
        rows.append(near_row("revenue equivalence", quantity, theory, each.revenue, 0.01))
    return rows


def shading_of_any_values(episodes: int, seed: int) -> list[Row]:
    """Compare learned bids of 3 bidders with the equilibrium by quadrature (Krishna 2009).

    Shading is averaged over all values from the reserve up. Revenue is that of a second-price sale.
    """
    rows, bidders, reserve = [], 3, 0.2
    for name, shape in SHAPES.items():
        each = learn_to_shade(bidders, reserve, episodes, seed, shape)
        values = Distribution.of(shape.knots())
        equilibrium = first_price_bids(each.values, values, bidders, reserve)
        ratio = float((each.values - each.bids).mean() / (each.values - equilibrium).mean())
        case = f"{name}, {case_name(bidders, reserve)}"
        quantity = f"learned over equilibrium shading, {case}"
        rows.append(near_row("shading of any values", quantity, 1.0, ratio, 0.03))
        theory = expected_revenue(symmetric(values, bidders), reserve)
        quantity = f"first price, learned bids, {case}"
        rows.append(near_row("shading of any values", quantity, theory, each.revenue, 0.01))
    return rows


def truth_is_dominant(episodes: int, seed: int) -> list[Row]:
    """Search for a lie that pays in VCG sales against any bids (Krishna 2009, chapter 13)."""
    gain = largest_gain_of_lies("vcg", 100 * episodes, seed)
    quantity = f"largest gain of {500 * episodes} lies, 1 to 5 units"
    return [of_rules(below_row("vcg: truth is dominant", quantity, 0.0, gain, 1e-12))]


def largest_gain_of_lies(auction_type: AuctionType, sales: int, seed: int) -> float:
    """Return the largest gain of a bidder for two units from bids that are not its values.

    Args:
        auction_type: One of ``AUCTION_TYPES``.
        sales: Number of sales S for each supply from 1 to 5 units. In each sale the others' bids
            are random. The bidder first bids its values and then a lie, which is either near its
            values or random.
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


def entry(episodes: int, seed: int) -> list[Row]:
    """Find the lowest value at which entry to a second-price sale pays its cost (Samuelson 1985).

    Bidders enter and bid their values if these are above a cut-off. The cut-off is an equilibrium
    if a bidder with exactly this value breaks even.
    """
    rows, cost = [], 0.04
    for bidders in (2, 3, 4):
        rivals = generator(seed, "theory/entry", bidders).random((1000 * episodes, bidders - 1))

        def profit(cutoff: float, rivals: Numbers = rivals) -> float:
            bids = np.insert(np.where(rivals >= cutoff, rivals, 0.0), 0, cutoff, axis=1)
            sales = clear_sales(bids, "second_price")
            return float((sales.won[:, 0] * cutoff - sales.paid[:, 0]).mean()) - cost

        measured = optimize.brentq(profit, 0.01, 1.0, xtol=1e-4)
        theory = equilibria.entry_cutoff(bidders, cost)
        quantity = f"cut-off at cost {cost}, {case_name(bidders)}"
        rows.append(of_rules(within_row("entry", quantity, theory, measured, 0.01)))
    return rows


def budgets(episodes: int, seed: int) -> list[Row]:
    """Measure revenue from 2 bidders who can pay at most 0.5 in a sale (Che & Gale 1998).

    The budget limits second-price bids to min(v, 0.5). It does not limit the bids of v/2 that
    bidders learn in first price.
    """
    rows = []
    learning = make_theory_market(2, {"shader": SHADER})
    unpaced = make_theory_market(2, {"shader": SHADER}, constants={"pacing_gain": 0.0})
    copies = np.tile(np.arange(episodes), COPIES)
    seeds = market_seeds(seed, "theory/budgets", len(copies))
    cases: tuple[tuple[AuctionType, float], ...] = (
        ("first_price", 1.0 / 3.0),
        ("second_price", 7.0 / 24.0),
    )
    for name, theory in cases:
        state, mechanisms = learning.reset(seeds[:episodes]), open_mechanisms(name, 0.0, episodes)
        learning.play(state, mechanisms, LEARNING_ROUNDS)
        state, revenue = state.fork(copies, seeds), 0.0
        state.bidders["budget"] = 0.5
        for _ in range(_BUDGET_ROUNDS):
            state.bidders["spent"] = 0.0
            revenue += play_on(unpaced, state, mechanisms.take(copies), 1).revenue / _BUDGET_ROUNDS
        quantity = f"{name.replace('_', ' ')}, 2 bidders, budgets of 0.5"
        rows.append(near_row("budget cap", quantity, theory, revenue, 0.01))
    return rows


def _sample_bids(
    market: StrategicMarket, state: StrategicState, mechanisms: Mechanisms, seed: int
) -> tuple[Numbers, Numbers]:
    """Return values and bids in one round of many futures, each of shape (S,).

    Values are the bids of truthful bidders in the same round.
    """
    (shader,) = market.population.types.values()
    types = {"truthful": replace(TRUTHFUL, values=shader.values)}
    truthful = make_theory_market(market.population.bidders, types)
    copies = np.tile(np.arange(len(state)), COPIES)
    seeds = market_seeds(seed, "theory/futures", len(copies))
    bids = []
    for each in (truthful, market):
        future = state.fork(copies, seeds)
        each.play(future, mechanisms.take(copies), 1)
        bids.append(future.bids.ravel())
    return bids[0], bids[1]


def _surplus(
    auction_type: AuctionType,
    own: Numbers,
    others: Numbers,
    values: Numbers,
    units: int,
    reserve: float,
) -> Numbers:
    """Return the surplus of bids ``own`` (S, 2) against ``others`` (S, n, 2), shape (S,)."""
    bids = np.concatenate([own[:, None], others], axis=1)
    sales = clear_sales(bids, auction_type, units, reserve)
    worth: Numbers = (values * (sales.won[:, :1] > np.arange(2))).sum(axis=1)
    return worth - sales.paid[:, 0]
