"""Markets for the tests of auction theory.

Values are drawn from U[0, 1]. Bidders want one unit, unless their type says otherwise. Units keep
their value. Money is in units of value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from daedalus.market.literals import AuctionType
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.parameters import StrategicParameters
from daedalus.market.population import BidderType, Population
from daedalus.market.seeds import market_seeds
from daedalus.market.strategic import StrategicMarket, StrategicState

BIDDERS = (2, 3, 4, 5)
"""Numbers of bidders n in the markets without rings."""

RESERVES = (0.0, 0.5)
"""No reserve, and the best reserve against bidders who compete (Myerson 1981)."""

RING_BIDDERS = 5
"""Number of bidders in the markets with rings."""

LEARNING_ROUNDS, ROUNDS, MANY_ROUNDS = 2000, 2000, 5000
COPIES = 25
"""Futures of each market in which learned bids are measured."""

TRUTHFUL = BidderType(demand=1)
SHADER = BidderType(menu=["shade"], demand=1, learning_rate=0.004)
MEMBER = BidderType(menu=["collude"], demand=1)
COLLUDING = {"ring_prior": 1.0, "ring_gain": 0.0, "ring_scale": 1e-3}
"""Constants with which rings always collude."""


@dataclass(frozen=True)
class Means:
    """Mean revenue and value delivered in a round."""

    revenue: float
    welfare: float


def make_theory_market(
    bidders: int,
    types: Mapping[str, BidderType],
    units: int = 1,
    constants: Mapping[str, float] | None = None,
) -> StrategicMarket:
    """Return a market in which units keep their value and surplus adds up without decay."""
    chosen = {"shock_rate": 0.0, "surplus_memory": 1.0} | dict(constants or {})
    population = Population(bidders=bidders, types=dict(types), units=units)
    return StrategicMarket(population, StrategicParameters(**chosen))


def with_ring(member: BidderType, ring: int, bidders: int = RING_BIDDERS) -> dict[str, BidderType]:
    """Return types such that the first ``ring`` bidders are members and the others are not."""
    return {
        "member": replace(member, share=float(ring)),
        "outsider": replace(without_ring(member), share=float(bidders - ring)),
    }


def without_ring(member: BidderType) -> BidderType:
    """Return a type that does not collude and is otherwise the same."""
    return replace(member, menu=[each for each in member.menu if each != "collude"])


def open_mechanism(auction_type: AuctionType, reserve: float) -> Mechanism:
    """Return a mechanism that reveals the reserve, all bids, the winners and the price."""
    return Mechanism(
        auction_type=auction_type,
        reserve_price=reserve,
        reveal_reserve=True,
        reveal_competing_bids=True,
        reveal_winner_identity=True,
    )


def open_mechanisms(auction_type: AuctionType, reserve: float, episodes: int) -> Mechanisms:
    """Return ``open_mechanism`` for each of E markets."""
    return Mechanisms.repeat(open_mechanism(auction_type, reserve), episodes)


def play_on(
    market: StrategicMarket, state: StrategicState, mechanisms: Mechanisms, rounds: int = ROUNDS
) -> Means:
    """Play more rounds and return the means. Value delivered is surplus plus payments."""
    before = state.bidders["surplus"].sum()
    revenue = market.play(state, mechanisms, rounds).field("revenue")
    gained = (state.bidders["surplus"].sum() - before) / revenue.size
    return Means(float(revenue.mean()), float(revenue.mean() + gained))


def play_fresh(
    market: StrategicMarket,
    auction_type: AuctionType,
    reserve: float,
    episodes: int,
    seed: int,
    rounds: int = ROUNDS,
) -> Means:
    """Return the means of the rounds in E fresh markets."""
    state = market.reset(market_seeds(seed, "theory", episodes))
    return play_on(market, state, open_mechanisms(auction_type, reserve, episodes), rounds)
