"""The market of auction theory: bidders who learn, rings, false names, and costs of every rule."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields

import numpy as np
from numpy.typing import NDArray

from daedalus.market.composition import compose_population, individual_factors
from daedalus.market.draws import LEARNING_RATE_TRAIT, RIVALS_TRAIT
from daedalus.market.interface import Unmasked
from daedalus.market.kernels.records import BIDDER, MECHANISM, RING, TYPE
from daedalus.market.kernels.strategic import play_rounds
from daedalus.market.learners import first_tables
from daedalus.market.mechanism import Mechanisms
from daedalus.market.outcome import PROXIES, ROUND_FIELDS, Outcome
from daedalus.market.parameters import StrategicParameters
from daedalus.market.population import LEARNERS, RIVALS, BidderType, Population
from daedalus.market.proxies import population_proxies
from daedalus.market.state import MarketState, checked_play

_PARAMETERS = np.dtype([(each.name, np.float64) for each in fields(StrategicParameters)])
_FLAG_OF = {"opts_out": "opt_out", "shades": "shade", "withdraws": "withdraw", "shills": "shill"}
_COPIED = (
    "value_low", "demand", "discretion", "factors", "hedge_rate", "hedge_share",
    "exploration", "discount",
)  # fmt: skip
_COLUMN_OF = {
    "format": "auction_type",
    "policy": "coalition_policy",
    "reserve": "reserve_price",
    "shows_reserve": "reveal_reserve",
    "shows_bids": "reveal_competing_bids",
    "shows_winner": "reveal_winner_identity",
    "shows_price": "reveal_clearing_price",
    "shows_distribution": "reveal_bid_distribution",
}
_SEEN = ("active_count", "bid_mean", "bid_std", "dropout_rate", "budget_exhaustion")
_REDUCTION_PRIOR = -0.01
_PRICE_PRIOR = 0.5


@dataclass
class StrategicState(MarketState):
    """State of B strategic markets: that of ``MarketState`` and more; G is the number of rings.

    ``history`` is the auctioneer's own account of the rounds, computed from bids, names, prices and
    deliveries. The ``Outcome`` alone holds what rounds were worth, which takes values. ``active``
    says which bidders bid in the last round, and ``wins`` counts units delivered.

    Attributes:
        bidders: One record for each bidder, dtype ``BIDDER``, shape (B, n). Its fields are listed
            below.
        rings: One record for each ring, dtype ``RING``, shape (B, G). ``gain`` is what a round of
            collusion earns a member. ``punished`` is how many rounds the ring still has to compete.
        tables: Weights of Hedge shaders and values of Q-learners, see ``learners.py``, shape
            (B, n, W); W is 0 where there are none.
        sightings: The auctioneer's decayed means of names that bid, their bids' mean and standard
            deviation, share of bidders out, and share of bidders out who had won before, (B, 5).
        alias_bids: Last round's bids under false names, shape (B, n).
        expected_price: The price that false names aim at, shape (B,).
        welfare: Ring buffer of the last five W, shape (B, 5, 1).

    The record of a bidder holds:
        kind: its type
        won_last: whether a unit was delivered to it in the last round; only for Q-learners
        expected_surplus: the surplus that it expects from entry
        learning_rate: weight of a round in what it learns
        rivals_seen: share of sales with a rival above the reserve
        rivals_distance: mean log distance of the best rival value from the top;
            rivals_seen / rivals_distance is the number of rivals that it believes to face
        reduction_gain: what it gains in uniform-price sales if it offers one unit less
        shill_gain: what a false name earns
        spent: payments so far
        pacing: how far it scales bids down to save budget
        surplus: decayed net surplus
        units_won: decayed units delivered
    """

    bidders: NDArray[np.void]
    rings: NDArray[np.void]
    tables: NDArray[np.float64]
    sightings: NDArray[np.float64]
    alias_bids: NDArray[np.float64]
    expected_price: NDArray[np.float64]
    welfare: NDArray[np.float64]

    @property
    def over(self) -> NDArray[np.bool_]:
        """Return False for each market, shape (B,): bidders who stay out may return."""
        return np.zeros(len(self), np.bool_)


class StrategicMarket:
    """The strategic market, which sells K units a round.

    Args:
        population: Types of bidders, their number, and the supply.
        parameters: Constants of the market.
    """

    def __init__(
        self, population: Population, parameters: StrategicParameters | None = None
    ) -> None:
        self.population = population
        self.parameters = parameters or StrategicParameters()
        self._constants = np.array([astuple(self.parameters)], _PARAMETERS)
        self._bidder_types = list(population.types.values())
        self._types = type_columns(self._bidder_types)
        self._first_tables = first_tables(self._bidder_types)
        self._rings = int(self._types["ring"].max()) + 1

    def reset(self, seeds: NDArray[np.uint64]) -> StrategicState:
        """Return B fresh markets before their first round, one for each seed (uint64)."""
        who, batch = self.population, len(seeds)
        seeds = np.asarray(seeds, np.uint64)
        types = self._bidder_types
        bidders = np.zeros((batch, who.bidders), BIDDER)
        kind = self._compose(seeds)
        bidders["kind"] = kind
        bidders["expected_surplus"] = np.array([each.expected_surplus for each in types])[kind]
        rates = self._individual(seeds, kind, "learning_rate", "rate_spread", LEARNING_RATE_TRAIT)
        bidders["learning_rate"] = np.minimum(rates, 1.0)
        rivals = self._individual(seeds, kind, "rivals", "rivals_spread", RIVALS_TRAIT)
        bidders["rivals_seen"] = 1.0
        bidders["rivals_distance"] = 1.0 / np.clip(rivals, *RIVALS)
        bidders["reduction_gain"] = _REDUCTION_PRIOR
        bidders["shill_gain"] = self.parameters.shill_prior
        rings = np.zeros((batch, self._rings), RING)
        rings["gain"] = self.parameters.ring_prior
        return StrategicState(
            **MarketState.common(seeds, who.bidders),
            bidders=bidders,
            rings=rings,
            tables=self._first_tables[kind],
            sightings=np.zeros((batch, len(_SEEN))),
            alias_bids=np.zeros((batch, who.bidders)),
            expected_price=np.full(batch, _PRICE_PRIOR),
            welfare=np.zeros((batch, 5, 1)),
        )

    def _individual(
        self,
        seeds: NDArray[np.uint64],
        kind: NDArray[np.integer],
        name: str,
        spread: str,
        trait: int,
    ) -> NDArray[np.float64]:
        """Return a parameter of every bidder's type, spread among its bidders, shape (B, n)."""
        typical, spreads = (
            np.array([getattr(each, field) for each in self._bidder_types])[kind]
            for field in (name, spread)
        )
        return np.asarray(typical * individual_factors(seeds, spreads, trait))

    def _compose(self, seeds: NDArray[np.uint64]) -> NDArray[np.integer]:
        """Return the type of every bidder, shape (B, n)."""
        return compose_population(self.population, seeds)

    def proxies(self, state: MarketState) -> NDArray[np.float64]:
        """Return the nine proxies of ``Observation``, shape (B, 9).

        Those of bids and absences are decayed means over rounds. False names count as bidders,
        because the auctioneer cannot tell them apart.
        """
        assert isinstance(state, StrategicState)
        proxies = population_proxies(state)
        proxies[:, [PROXIES.index(name) for name in _SEEN]] = state.sightings
        return proxies

    def unmask(self, state: MarketState) -> list[Unmasked]:
        """Return what the n bidders of the first market are."""
        assert isinstance(state, StrategicState)
        names = list(self.population.types)
        return [
            Unmasked(names[kind], tuple(self._bidder_types[kind].menu), float(false_bid))
            for kind, false_bid in zip(state.bidders["kind"][0], state.alias_bids[0], strict=True)
        ]

    def play(self, state: MarketState, mechanisms: Mechanisms, rounds: int) -> Outcome:
        """Play ``rounds`` rounds in every market, changing ``state`` in place.

        Args:
            state: B markets of this population.
            mechanisms: B mechanisms, one for each market.
            rounds: Number of rounds, 0 or more.

        Returns:
            The records of the rounds.

        Raises:
            ValueError: The sizes do not match, or a mechanism was changed to something out of
                range; nothing has been played.
        """
        if not isinstance(state, StrategicState):
            raise ValueError(f"state: a {type(state).__name__}; reset this market for a state")
        known = state.bidders["kind"] < len(self._types)
        sizes = state.rings.shape[1], state.tables.shape[2]
        if sizes != (self._rings, self._first_tables.shape[1]) or not known.all():
            raise ValueError("state: of other bidder types; reset this market for a state")
        mechanisms = checked_play(state, mechanisms, rounds, self.population.bidders)
        records = np.empty((len(state), rounds, len(ROUND_FIELDS)))
        play_rounds(
            self._constants,
            self._types,
            _mechanism_records(mechanisms, self.parameters),
            self.population.units,
            state.seeds,
            state.rounds,
            state.bidders,
            state.rings,
            state.tables,
            state.expected_price,
            state.welfare,
            state.wins,
            state.history,
            state.sightings,
            state.previous_bids,
            state.bids,
            state.alias_bids,
            state.active,
            records,
        )
        return Outcome(records)


def type_columns(types: list[BidderType]) -> NDArray[np.void]:
    """Return the bidder types as the kernels read them, shape (T,)."""
    table = np.zeros(len(types), TYPE)
    rings = 0
    for row, each in zip(table, types, strict=True):
        for flag, strategy in _FLAG_OF.items():
            row[flag] = strategy in each.menu
        for name in _COPIED:
            row[name] = getattr(each, name)
        row["value_range"] = each.value_high - each.value_low
        row["outside"] = each.outside_option
        row["budget"] = np.inf if each.budget is None else each.budget
        row["efficient"] = each.efficient_ring
        row["learner"] = LEARNERS.index(each.learner)
        row["factor_step"] = (1.0 - each.lowest_factor) / (each.factors - 1)
        row["ring"] = rings if "collude" in each.menu else -1
        rings += "collude" in each.menu
    return table


def _mechanism_records(mechanisms: Mechanisms, parameters: StrategicParameters) -> NDArray[np.void]:
    """Return the mechanisms as the kernels read them, fines in units of value, shape (B,)."""
    table = np.zeros(len(mechanisms), MECHANISM)
    for name, column in _COLUMN_OF.items():
        table[name] = getattr(mechanisms, column)
    table["shill_fine"] = parameters.fine_unit * mechanisms.shill_penalty
    table["withdrawal_fine"] = parameters.fine_unit * mechanisms.withdrawal_penalty
    table["collusion_fine"] = parameters.collusion_fine_unit * mechanisms.collusion_penalty
    return table
