"""Bidders that are written in Python, and the strategic market that plays them.

A player takes the seats of one type of bidders. In each round the market shows it a ``View`` for
each seat, takes its bids, and lets the kernel of the strategic market play the round with them. So
rules, records and observations are the same, and so is the play of all other bidders.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from daedalus.market.draws import LEARNED_CHOICE, round_draws
from daedalus.market.history import HISTORY_LENGTH
from daedalus.market.learners import BID_ONE, BID_TWO, NET
from daedalus.market.literals import Strategy
from daedalus.market.mechanism import Mechanisms, shown
from daedalus.market.outcome import ROUND_FIELDS, Outcome
from daedalus.market.parameters import StrategicParameters
from daedalus.market.population import BidderType, Population
from daedalus.market.state import MarketState
from daedalus.market.strategic import StrategicMarket, StrategicState
from daedalus.market.views import (
    DISCLOSURES,
    HIGHEST_BID,
    PLAYED,
    Disclosed,
    Player,
    Preparing,
    View,
    disclosed,
    past_round_of,
)

_Seat = tuple[int, Player, View]
"""A market, who bids in one of its seats, and what that bidder knows."""


@dataclass
class PlayedState(StrategicState):
    """State of B markets with players: ``StrategicState`` and what the views show of the past.

    Attributes:
        played: What the bidders did in the last rounds, dtype ``PLAYED``, shape (B, 20, n); round r
            is in slot r mod 20.
        disclosures: What was disclosed of these rounds, in the order of ``DISCLOSURES``, shape
            (B, 20, 4).
    """

    played: NDArray[np.void]
    disclosures: NDArray[np.bool_]


class PlayedMarket(StrategicMarket):
    """The strategic market with players in the seats of some types.

    A player decides on entry and bids once it knows its values. In place of its type's menu it does
    what it likes, but it belongs to no ring and bids under no false name. The type's values,
    demand, budget and withdrawals bind it as they bind others. The budget caps its bids, and it
    paces them itself.

    Args:
        population: The bidders.
        players: Who bids for which type, by the type's name. Types without a player play as
            they do in ``StrategicMarket``.
        parameters: Constants of the market.

    Raises:
        ValueError: There is no player, a name is no type of the population, or a player cannot
            bid.
    """

    def __init__(
        self,
        population: Population,
        players: Mapping[str, Player],
        parameters: StrategicParameters | None = None,
    ) -> None:
        if not players:
            raise ValueError("players: none; give one by the name of its type")
        for name, player in players.items():
            if name not in population.types:
                raise ValueError(
                    f"players: {name!r} is no type of the population; "
                    f"choose from {', '.join(population.types)}"
                )
            _check_player(name, player)
        types = {
            name: _without_strategies(each) if name in players else each
            for name, each in population.types.items()
        }
        super().__init__(replace(population, types=types), parameters, tuple(players))
        self.players = dict(players)
        self._names = list(types)

    def reset(self, seeds: NDArray[np.uint64]) -> PlayedState:
        """Return B fresh markets before their first round, one for each seed (uint64)."""
        fresh = super().reset(seeds)
        batch, seats = fresh.bids.shape
        return PlayedState(
            **vars(fresh),
            played=np.zeros((batch, HISTORY_LENGTH, seats), PLAYED),
            disclosures=np.zeros((batch, HISTORY_LENGTH, len(DISCLOSURES)), np.bool_),
        )

    def play(self, state: MarketState, mechanisms: Mechanisms, rounds: int) -> Outcome:
        """Play rounds in every market, see ``Market.play``.

        Raises:
            ValueError: Sizes do not match, or a player made a bid that is none. The state is as it
                was before.
        """
        if not isinstance(state, PlayedState):
            raise ValueError(f"state: a {type(state).__name__}; reset this market for a state")
        self.check(state, mechanisms, rounds)
        everyone = np.arange(len(state))
        moving = state.fork(everyone)
        records = np.empty((len(state), rounds, len(ROUND_FIELDS)))
        for r in range(rounds):
            records[:, r] = self._play_round(moving, mechanisms)[:, 0]
        state.put(everyone, moving)
        return Outcome(records, state.units)

    def _play_round(self, state: PlayedState, mechanisms: Mechanisms) -> NDArray[np.float64]:
        """Ask all players, then play one round; return its records, shape (B, 1, 10)."""
        values = self.draw_values(state, state.rounds)
        self._ask(state, mechanisms, values)
        before = state.wins.copy(), state.bidders["spent"].copy()
        slots = np.arange(len(state)), state.rounds % HISTORY_LENGTH
        records = super().play(state, mechanisms, 1).records
        state.played[slots] = _what_was_done(state, values, *before)
        state.disclosures[slots] = np.stack(
            [getattr(mechanisms, name) for name in DISCLOSURES], axis=1
        )
        return records

    def _ask(self, state: PlayedState, mechanisms: Mechanisms, values: NDArray[np.float64]) -> None:
        """Write the players' bids into the state's tables."""
        seats = self._prepared(self._asked_seats(state, mechanisms, values))
        for e, player, view in seats:
            bids = _checked(player.bid(view), view)
            state.tables[e, view.bidder, [BID_ONE, BID_TWO]] = bids

    def _prepared(self, seats: Iterator[_Seat]) -> Iterable[_Seat]:
        """Return the seats once all players that prepare and have seats have seen their views."""
        preparing = [each for each in self.players.values() if isinstance(each, Preparing)]
        if not preparing:
            return seats  # one at a time, because the views of a large batch take much memory
        listed = list(seats)
        for player in {id(each): each for each in preparing}.values():
            views = [view for _, each, view in listed if each is player]
            if views:
                player.prepare(views)
        return listed

    def _asked_seats(
        self, state: PlayedState, mechanisms: Mechanisms, values: NDArray[np.float64]
    ) -> Iterator[_Seat]:
        """Yield what the bidder of each seat of a player knows before a round."""
        for e in range(len(state)):
            kinds = state.bidders["kind"][e, : state.sizes[e]].tolist()
            rules, past = _known_rules(mechanisms, e), _past(state, e)
            draws = _draws_to_mix(state, e)
            for i, kind in enumerate(kinds):
                player = self.players.get(self._names[kind])
                if player is not None:
                    view = self._view(state, e, i, values[e, i], rules, draws[i], past)
                    yield e, player, view

    def _view(
        self,
        state: PlayedState,
        e: int,
        i: int,
        values: NDArray[np.float64],
        rules: dict[str, object],
        draw: float,
        past: Sequence[tuple[NDArray[np.void], Disclosed]],
    ) -> View:
        """Return what bidder i of market e knows before a round."""
        bidder, units = state.bidders[e, i], int(state.units[e])
        low, kind = float(bidder["value_low"]), int(bidder["kind"])
        wanted = min(self._bidder_types[kind].demand, units)
        return View(
            type=self._names[kind],
            bidder=i,
            bidders=int(state.sizes[e]),
            units=units,
            round=int(state.rounds[e]),
            values=tuple(values[:wanted].tolist()),
            value_range=(low, low + float(bidder["value_range"])),
            money=max(float(bidder["budget"] - bidder["spent"]), 0.0),
            draw=draw,
            rules=dict(rules),
            past=tuple(past_round_of(i, wanted, *each) for each in past),
        )


def _check_player(name: str, player: object) -> None:
    """Refuse what is no object with a method ``bid``."""
    if isinstance(player, type):
        kind = player.__name__
        raise ValueError(f"players.{name}: {kind} is a class; give an object, {kind}()")
    if not callable(getattr(player, "bid", None)):
        kind = type(player).__name__
        raise ValueError(f"players.{name}: a {kind} has no method bid(view); add one")


def _without_strategies(each: BidderType) -> BidderType:
    """Return a type whose bidders only withdraw, if they do, and do not learn."""
    menu: list[Strategy] = [strategy for strategy in each.menu if strategy == "withdraw"]
    return replace(each, menu=menu, learner="gradient")


def _known_rules(mechanisms: Mechanisms, e: int) -> dict[str, object]:
    """Return the fields of mechanism e by name, as bidders know them."""
    rules: dict[str, object] = mechanisms[e].to_dict()
    if not rules["reveal_reserve"]:
        rules["reserve_price"] = None
    return rules


def _past(state: PlayedState, e: int) -> list[tuple[NDArray[np.void], Disclosed]]:
    """Return what bidders did in the last rounds of market e, oldest first, and were told of it."""
    done, n = int(state.rounds[e]), state.sizes[e]
    slots = [r % HISTORY_LENGTH for r in range(max(done - HISTORY_LENGTH, 0), done)]
    played, prices = state.played[e, :, :n], state.prices[e].tolist()
    return [(played[s], disclosed(played[s], prices[s], state.disclosures[e, s])) for s in slots]


def _draws_to_mix(state: PlayedState, e: int) -> list[float]:
    """Return a draw for each bidder of market e, for its next round."""
    seed, n = state.seeds[e : e + 1], int(state.sizes[e])
    draws: list[float] = round_draws(seed, int(state.rounds[e]), LEARNED_CHOICE, n)[0].tolist()
    return draws


def _what_was_done(
    state: PlayedState,
    values: NDArray[np.float64],
    wins: NDArray[np.int64],
    spent: NDArray[np.float64],
) -> NDArray[np.void]:
    """Return what the bidders did in the last round, dtype ``PLAYED``, shape (B, n).

    Args:
        state: The markets after the round.
        values: Of the round, shape (B, n, 2).
        wins: Units won before it, shape (B, n).
        spent: Payments before it, shape (B, n).
    """
    played = np.zeros(state.bids.shape, PLAYED)
    played["value_one"], played["value_two"] = values[..., 0], values[..., 1]
    played["one"], played["two"] = state.bids, state.second_bids
    played["alias"] = state.alias_bids
    played["units"], played["paid"] = state.wins - wins, state.bidders["spent"] - spent
    played["net"] = state.tables[..., NET]
    return played


def _checked(answer: object, view: View) -> tuple[float, float]:
    """Return the bids for a first and a second unit.

    Raises:
        ValueError: The answer is no bid; the message names the bidder.
    """
    said = f"players.{view.type}: bidder {view.bidder} bid {shown(answer)}; give"
    wanted = len(view.values)
    try:
        bids = np.atleast_1d(np.asarray(answer, np.float64))
    except (TypeError, ValueError):
        raise ValueError(f"{said} a number, or a list of at most {wanted}") from None
    if bids.ndim != 1 or not 1 <= len(bids) <= wanted:
        units = "one number: it can use one unit" if wanted == 1 else "one number or two"
        raise ValueError(f"{said} {units}")
    if not ((bids >= 0.0) & (bids <= HIGHEST_BID)).all():
        raise ValueError(f"{said} numbers from 0, to stay out, to {HIGHEST_BID:g}")
    one, two = float(bids[0]), float(bids[1]) if len(bids) == 2 else 0.0
    if two > one:
        raise ValueError(f"{said} the higher bid first")
    return one, two
