"""The market of the published system with all its rules; see docs/classic-market.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from daedalus.market.interface import Unmasked
from daedalus.market.jit.threads import on_threads
from daedalus.market.kernels.classic import BIDDER, SEAT, play_rounds
from daedalus.market.measures import RECENT_ROUNDS
from daedalus.market.mechanism import Mechanisms
from daedalus.market.observation import Observed
from daedalus.market.outcome import ROUND_FIELDS, Outcome
from daedalus.market.proxies import observe
from daedalus.market.seat_plan import SeatPlan
from daedalus.market.state import MarketState, check_play
from daedalus.market.value_distribution import write_knots
from daedalus.market.views import Player


@dataclass
class ClassicState(MarketState):
    """State of B classic markets: ``MarketState`` and these arrays.

    Attributes:
        bidders: One record for each bidder, dtype ``BIDDER``, shape (B, n), see below.
        welfare: Ring buffer of the last five W, shape (B, 5); round r is in slot r mod 5.
        participation: The same of P.

    The record of a bidder holds:
        value: value of the unit to it
        surplus: its surplus from its last win
        budget: money that an exploiter has left
        disappointment: a dropout's running sum; the bidder leaves below minus its threshold
        turn: 1 if it is a colluder's turn to win, else 0
    """

    bidders: NDArray[np.void]
    welfare: NDArray[np.float64]
    participation: NDArray[np.float64]


class ClassicMarket:
    """The market of the published system, which sells one unit a round."""

    def __init__(self, population: SeatPlan) -> None:
        self.population = population
        self.players: Mapping[str, Player] = {}
        self._seats = np.zeros(population.bidders, SEAT)
        self._seats["kind"] = population.kinds()
        self._seats["value_low"] = population.column("value_low")
        value_high = population.column("value_high")
        self._seats["value_range"] = value_high - self._seats["value_low"]
        self._seats["threshold"] = population.column("threshold")
        for seat, name in zip(self._seats, population.seat_groups(), strict=True):
            write_knots(population.groups[name].values, seat)
        self._budget = population.column("budget")
        self._seats["partner"], self._first_turn = _colluder_pairs(population)

    def reset(self, seeds: NDArray[np.uint64]) -> ClassicState:
        """Return B fresh markets before their first round, one for each seed (uint64)."""
        shape = (len(seeds), self.population.bidders)
        bidders = np.zeros(shape, BIDDER)
        bidders["budget"], bidders["turn"] = self._budget, self._first_turn
        return ClassicState(
            **MarketState.common(seeds, np.full(*shape), np.ones(shape[0], np.int64), shape[1]),
            bidders=bidders,
            welfare=np.zeros((shape[0], RECENT_ROUNDS)),
            participation=np.zeros((shape[0], RECENT_ROUNDS)),
        )

    def observe(self, state: MarketState) -> Observed:
        """Return what the auctioneer sees of each market."""
        return observe(state)

    def unmask(self, state: MarketState) -> list[Unmasked]:
        """Return the hidden side of the n bidders of the first market."""
        assert isinstance(state, ClassicState)
        groups = self.population.groups
        values = np.where(state.bids[0] > 0.0, state.bidders["value"][0], 0.0).tolist()
        return [
            Unmasked(name, (groups[name].kind,), 0.0, value, np.nan)
            for name, value in zip(self.population.seat_groups(), values, strict=True)
        ]

    def play(self, state: MarketState, mechanisms: Mechanisms, rounds: int) -> Outcome:
        """Play rounds in every market, see ``Market.play``."""
        if not isinstance(state, ClassicState):
            raise ValueError(f"state: a {type(state).__name__}; reset this market for a state")
        check_play(state, mechanisms, rounds, self.population.bidders)
        records = np.empty((len(state), rounds, len(ROUND_FIELDS)))
        batch = (
            mechanisms.rows,
            state.seeds,
            state.rounds,
            state.active,
            state.bids,
            state.previous_bids,
            state.wins,
            state.prices,
            state.welfare,
            state.participation,
            state.bidders,
            records,
        )
        on_threads(play_rounds, (self._seats,), batch)
        state.history = state.history.then(records)
        return Outcome(records, state.units)


def _colluder_pairs(population: SeatPlan) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return each seat's partner (itself if it has none) and whether it has the first turn."""
    partner = np.arange(population.bidders)
    first_turn = np.zeros(population.bidders, np.bool_)
    for group in population.groups.values():
        if group.kind != "colluder":
            continue
        leader, follower = group.seats
        partner[leader], partner[follower] = follower, leader
        first_turn[leader] = True
    return partner, first_turn
