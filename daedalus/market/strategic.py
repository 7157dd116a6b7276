"""The strategic market: bidders who learn, rings, shill bidders, and a cost for each setting."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import astuple, dataclass, fields

import numpy as np
from numpy.typing import NDArray

from daedalus.market.history import HISTORY_LENGTH
from daedalus.market.interface import Unmasked
from daedalus.market.jit.threads import on_threads
from daedalus.market.kernels.bidding import fill_values
from daedalus.market.kernels.records import BIDDER, RING, TYPE
from daedalus.market.kernels.strategic import play_rounds
from daedalus.market.learners import GIVEN, first_tables, table_width
from daedalus.market.lineup import Lineup, draw_lineups
from daedalus.market.measures import RECENT_ROUNDS
from daedalus.market.mechanism import Mechanisms
from daedalus.market.observation import PROXIES, Observed
from daedalus.market.outcome import ROUND_FIELDS, Outcome
from daedalus.market.parameters import StrategicParameters
from daedalus.market.population import LEARNERS, BidderType, Population
from daedalus.market.proxies import observe
from daedalus.market.state import MarketState, check_play
from daedalus.market.value_distribution import write_knots
from daedalus.market.views import Player

_PARAMETERS = np.dtype([(each.name, np.float64) for each in fields(StrategicParameters)])
_FLAG_OF = {"opts_out": "opt_out", "shades": "shade", "withdraws": "withdraw", "shills": "shill"}
_COPIED = (
    "demand factors highest_factor hedge_rate hedge_share exploration exploration_decay discount "
    "recalls_win"
).split()
_KEPT_TRAITS = "value_low outside_option budget discretion expected_surplus learning_rate".split()
_SIGHTED = np.array(
    [
        PROXIES.index(name)
        for name in ("active_count", "bid_mean", "bid_std", "dropout_rate", "budget_exhaustion")
    ]
)


@dataclass
class StrategicState(MarketState):
    """State of B strategic markets: ``MarketState`` and these arrays; G is the number of rings.

    An episode may have fewer bidders than the n seats. Then the records of the others mean nothing.

    ``history`` holds the auctioneer's own records of the rounds, computed from bids, names, prices
    and deliveries. Records that depend on values are in the ``Outcome`` alone. ``active`` marks the
    bidders that bid in the last round; ``wins`` counts units delivered.

    Attributes:
        bidders: One record for each bidder, dtype ``BIDDER``, shape (B, n), see below.
        rings: One record for each ring, dtype ``RING``, shape (B, G). ``gain`` is the gain of a
            member from a round of collusion. ``punished`` is the number of rounds for which the
            ring must still compete.
        tables: Weights of the bidders that learn by Hedge, action values of the Q-learners, and
            bids of the seats to which they are given, see ``learners.py``, shape (B, n, W); W is 0
            if there are no such bidders.
        sightings: The auctioneer's decayed means, shape (B, 5): number of names that bid, mean and
            standard deviation of their bids, share of bidders absent, share absent who had won
            before.
        second_bids: Last round's bids for a second unit, shape (B, n).
        alias_bids: Last round's bids under false names, shape (B, n).
        expected_price: The price that shill bidders expect, shape (B,).
        welfare: Ring buffer of the last five W, shape (B, 5); round r is in slot r mod 5.
        seen_welfare: The same of the W in the auctioneer's records.

    The record of a bidder holds:
        kind: its type
        won_last: whether it received a unit in the last round; only for Q-learners that recall it
        value_low: lower end of its values
        value_range: upper end of its values less the lower
        outside_option: surplus that a unit from elsewhere would give it
        budget: the most that it can pay in the episode
        discretion: share of the collusion screens' power that its ring evades
        expected_surplus: the surplus that it expects from entry
        learning_rate: weight of a round in what it learns
        rivals_seen: share of sales with a rival above the reserve
        rivals_distance: mean log distance of the best rival value from the top;
            rivals_seen / rivals_distance is the number of rivals that it expects
        reduction_gain: its gain in uniform-price sales if it offers one unit less
        shill_gain: its gain from a false name
        spent: its payments so far
        pacing: factor by which it scales bids down to save budget
        surplus: its decayed net surplus
        units_won: its decayed number of units delivered
    """

    bidders: NDArray[np.void]
    rings: NDArray[np.void]
    tables: NDArray[np.float64]
    sightings: NDArray[np.float64]
    second_bids: NDArray[np.float64]
    alias_bids: NDArray[np.float64]
    expected_price: NDArray[np.float64]
    welfare: NDArray[np.float64]
    seen_welfare: NDArray[np.float64]

    @property
    def over(self) -> NDArray[np.bool_]:
        """Return False for each market, shape (B,): an absent bidder may return."""
        return np.zeros(len(self), np.bool_)


class StrategicMarket:
    """The strategic market, which sells K units a round.

    Args:
        population: The bidders, and the number of units. Of several populations, which may differ
            in size, each gets an equal part of the batch: the first episodes have the first
            population, and so on. Each episode has the numbers that it has with its population
            alone.
        parameters: Constants of the market.
        external: Names of the types whose bids are not the market's own: before each round someone
            writes them into ``state.tables``, as ``python_bidders.py`` does.

    Raises:
        ValueError: There is no population, or their stages differ.
    """

    def __init__(
        self,
        population: Population | Sequence[Population],
        parameters: StrategicParameters | None = None,
        external: Collection[str] = (),
    ) -> None:
        several = [population] if isinstance(population, Population) else list(population)
        if len({each.stage for each in several}) != 1:
            raise ValueError("populations: give at least one, and all of the same stage")
        self.population = several[0]
        self.players: Mapping[str, Player] = {}
        self.parameters = parameters or StrategicParameters()
        self._constants = np.array([astuple(self.parameters)], _PARAMETERS)
        self._populations = several
        types = [list(each.types.values()) for each in several]
        self._bidder_types = [each for some in types for each in some]
        self._types = np.concatenate([type_columns(each) for each in types])  # rings from 0 in each
        self._types["learner"][[name in external for each in several for name in each.types]] = (
            GIVEN
        )
        self._width = table_width(self._bidder_types, bool(external))
        self._seats = max(each.most_bidders for each in several)
        self._rings = int(self._types["ring"].max()) + 1

    def reset(self, seeds: NDArray[np.uint64]) -> StrategicState:
        """Return B fresh markets before their first round, one for each seed (uint64)."""
        seeds, batch = np.asarray(seeds, np.uint64), len(seeds)
        lineup = draw_lineups(self._populations, seeds)
        rings = np.zeros((batch, self._rings), RING)
        rings["gain"] = self.parameters.ring_prior
        surplus = lineup.traits["expected_surplus"]
        return StrategicState(
            **MarketState.common(seeds, lineup.bidders, lineup.units, self._seats),
            bidders=_fresh_bidders(lineup, self.parameters),
            rings=rings,
            tables=first_tables(self._bidder_types, lineup.kinds, surplus, self._width),
            sightings=np.zeros((batch, len(_SIGHTED))),
            second_bids=np.zeros((batch, self._seats)),
            alias_bids=np.zeros((batch, self._seats)),
            expected_price=np.full(batch, self.parameters.price_prior),
            welfare=np.zeros((batch, RECENT_ROUNDS)),
            seen_welfare=np.zeros((batch, RECENT_ROUNDS)),
        )

    def observe(self, state: MarketState) -> Observed:
        """Return what the auctioneer sees of each market.

        Proxies of bids and absences are decayed means over rounds. They count false names as
        bidders, because the auctioneer cannot tell them apart.
        """
        assert isinstance(state, StrategicState)
        observed = observe(state)
        observed.proxies[:, _SIGHTED] = state.sightings
        return observed

    def unmask(self, state: MarketState) -> list[Unmasked]:
        """Return the hidden side of the n bidders of the first market."""
        assert isinstance(state, StrategicState)
        names, present = list(self.population.types), int(state.sizes[0])
        bidders = state.bidders[0, :present]
        hidden = zip(
            bidders["kind"],
            state.alias_bids[0, :present].tolist(),
            self._last_values(state),
            bidders["spent"].tolist(),
            strict=True,
        )
        return [
            Unmasked(names[kind], tuple(self._bidder_types[kind].menu), *numbers)
            for kind, *numbers in hidden
        ]

    def draw_values(self, state: StrategicState, rounds: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return what a first and a second unit are worth to each bidder in one round.

        The kernel draws the same values when it plays the round; the state does not keep them.

        ``rounds`` are the numbers of the rounds, counted from 0, shape (B,).

        Returns:
            Values from 0 to 1, shape (B, n, 2); 0 where a bidder has no use for a second unit.
        """
        values = np.zeros((*state.bidders.shape, 2))
        fill_values(
            self._types, state.bidders, state.sizes, state.units, state.seeds, rounds, values
        )
        return values

    def _last_values(self, state: StrategicState) -> list[float]:
        """Return what a first unit was worth in the last round, in the first market."""
        first = state.fork(np.zeros(1, np.int64))
        present, last = int(first.sizes[0]), first.rounds - 1
        if last[0] < 0:
            return [0.0] * present
        values: list[float] = self.draw_values(first, last)[0, :present, 0].tolist()
        return values

    def check(self, state: MarketState, mechanisms: Mechanisms, rounds: int) -> None:
        """Check what ``play`` is given.

        Raises:
            ValueError: The state is of another market, or sizes do not match.
        """
        if not isinstance(state, StrategicState):
            raise ValueError(f"state: a {type(state).__name__}; reset this market for a state")
        known = state.bidders["kind"] < len(self._types)
        shapes = state.rings.shape[1], state.tables.shape[2]
        if shapes != (self._rings, self._width) or not known.all():
            raise ValueError("state: it has other bidder types; reset this market for a state")
        check_play(state, mechanisms, rounds, self._seats)

    def play(self, state: MarketState, mechanisms: Mechanisms, rounds: int) -> Outcome:
        """Play rounds in every market, see ``Market.play``."""
        self.check(state, mechanisms, rounds)
        assert isinstance(state, StrategicState)
        records = np.empty((len(state), rounds, len(ROUND_FIELDS)))
        accounts = np.empty((len(state), min(rounds, HISTORY_LENGTH), len(ROUND_FIELDS)))
        batch = (
            mechanisms.rows,
            state.seeds,
            state.sizes,
            state.units,
            state.rounds,
            state.bidders,
            state.rings,
            state.tables,
            state.expected_price,
            state.welfare,
            state.seen_welfare,
            state.wins,
            state.prices,
            state.sightings,
            state.previous_bids,
            state.bids,
            state.second_bids,
            state.alias_bids,
            state.active,
            records,
            accounts,
        )
        on_threads(play_rounds, (self._constants, self._types), batch)
        state.history = state.history.then(accounts)
        return Outcome(records, state.units)


def _fresh_bidders(lineup: Lineup, parameters: StrategicParameters) -> NDArray[np.void]:
    """Return the records of bidders before their first round, shape (B, n)."""
    bidders = np.zeros(lineup.kinds.shape, BIDDER)
    bidders["kind"] = lineup.kinds
    for name in _KEPT_TRAITS:
        bidders[name] = lineup.traits[name]
    bidders["value_range"] = lineup.traits["value_high"] - lineup.traits["value_low"]
    bidders["rivals_seen"] = 1.0
    bidders["rivals_distance"] = 1.0 / lineup.traits["rivals"]
    bidders["reduction_gain"] = -parameters.reduction_prior
    bidders["shill_gain"] = parameters.shill_prior
    return bidders


def type_columns(types: list[BidderType]) -> NDArray[np.void]:
    """Return the bidder types as the kernels read them, shape (T,)."""
    table = np.zeros(len(types), TYPE)
    rings = 0
    for row, each in zip(table, types, strict=True):
        for flag, strategy in _FLAG_OF.items():
            row[flag] = strategy in each.menu
        for name in _COPIED:
            row[name] = getattr(each, name)
        row["efficient"] = each.efficient_ring
        row["learner"] = LEARNERS.index(each.learner)
        row["factor_step"] = (each.highest_factor - each.lowest_factor) / (each.factors - 1)
        row["ring"] = rings if "collude" in each.menu else -1
        write_knots(each.values, row)
        rings += "collude" in each.menu
    return table
