"""Best replies in the repeated market, whose bidders learn, collude and walk away.

Rounds are played and their bids are recorded. Each sale is then cleared anew, with one bidder's bid
replaced by its best reply to the bids that others made. These stay as they were, and fines, costs
of entry and budgets do not count. Money is in units of value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from daedalus.lab.theory.distributions import Distribution, Numbers
from daedalus.lab.theory.formats import pays_own_bid, require_format
from daedalus.market.auction import clear_sales
from daedalus.market.draws import VALUE_ONE, round_draws
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.seeds import market_seeds
from daedalus.market.strategic import StrategicMarket

_BIDS = np.arange(201) / 200

LEARNING_ROUNDS, ROUNDS = 500, 100


@dataclass(frozen=True)
class Recorded:
    """Bids for one unit in S rounds of E markets.

    Attributes:
        mechanism: The mechanism that was in force.
        units: Supply K.
        levels: Levels of the bidders' values in their distributions, shape (E S, n).
        bids: Their bids, 0 for none, shape (E S, n).
        aliases: Bids under false names, shape (E S, n).
        markets: Number of markets E.

    Raises:
        CannotRunError: The theory of the format is not known. The best bid might then exceed the
            value.
    """

    mechanism: Mechanism
    units: int
    levels: Numbers
    bids: Numbers
    aliases: Numbers
    markets: int

    def __post_init__(self) -> None:
        require_format(self.mechanism.auction_type)


def record(market: StrategicMarket, mechanism: Mechanism, markets: int, seed: int) -> Recorded:
    """Let bidders learn for ``LEARNING_ROUNDS``, and record the bids of the next ``ROUNDS``.

    Args:
        market: The market; each of its bidders wants one unit.
        mechanism: The mechanism, in force in all rounds.
        markets: Number of markets E.
        seed: Seed of the run.
    """
    state = market.reset(market_seeds(seed, "theory/hindsight", markets))
    repeated = Mechanisms.repeat(mechanism, markets)
    market.play(state, repeated, LEARNING_ROUNDS)
    rounds = list[tuple[Numbers, Numbers, Numbers]]()
    for _ in range(ROUNDS):
        number = int(state.rounds[0])
        levels = round_draws(state.seeds, number, VALUE_ONE, state.bids.shape[1])
        market.play(state, repeated, 1)
        rounds.append((levels, state.bids.copy(), state.alias_bids.copy()))
    levels, bids, aliases = np.array(rounds).transpose(1, 2, 0, 3).reshape(3, -1, levels.shape[1])
    return Recorded(mechanism, int(state.units[0]), levels, bids, aliases, markets)


class Reply(NamedTuple):
    """What a bidder earns in a round, in the mean over rounds and markets.

    Attributes:
        gain: What its best reply, a bid for each value, earns more than the bids that it made; at
            least 0.
        surplus: What the bids that it made earn.
    """

    gain: float
    surplus: float


def best_reply(recorded: Recorded, seat: int, values: Distribution) -> Reply:
    """Return what a bidder leaves unused against the bids that others made.

    The best reply is chosen on one half of the markets and played in the other, and the other way
    round. So what it earns is not flattered by the choice.

    Args:
        recorded: The rounds, of two markets or more.
        seat: The bidder, by number.
        values: The distribution of its values.
    """
    value = values.quantile(recorded.levels[:, seat])
    half = recorded.markets // 2 * (len(value) // recorded.markets)
    first = np.arange(len(value)) < half
    beaten, reply = _to_beat(recorded, seat), np.zeros_like(value)
    for chosen in (first, ~first):
        reply[~chosen] = _best_bids(recorded.mechanism, value[~chosen], beaten[chosen])
    made = _surplus(recorded, seat, value, recorded.bids[:, seat]).mean()
    best = _surplus(recorded, seat, value, reply).mean()
    return Reply(float(max(best - made, 0.0)), float(made))


def _to_beat(recorded: Recorded, seat: int) -> Numbers:
    """Return the bid or reserve that a bidder has to beat for a unit, shape (E S,)."""
    others = np.concatenate([np.delete(recorded.bids, seat, axis=1), recorded.aliases], axis=1)
    others = np.pad(others, ((0, 0), (0, recorded.units)))
    highest = -np.sort(-others, axis=1)[:, recorded.units - 1]
    return np.asarray(np.maximum(highest, recorded.mechanism.reserve_price))


def _best_bids(mechanism: Mechanism, values: Numbers, beaten: Numbers) -> Numbers:
    """Return the best bid of each value against a sample of bids to beat, shape (V,)."""
    if not pays_own_bid(mechanism.auction_type):
        return values  # of one unit
    grid = np.union1d(_BIDS, mechanism.reserve_price)
    chances = np.searchsorted(np.sort(beaten), grid, side="right") / len(beaten)
    return np.asarray(grid[((values[:, None] - grid) * chances).argmax(axis=1)])


def _surplus(recorded: Recorded, seat: int, value: Numbers, bids: Numbers) -> Numbers:
    """Return the surplus of a bidder's bids against the recorded ones of others, shape (E S,)."""
    offers, aliases = recorded.bids.copy(), recorded.aliases.copy()
    offers[:, seat], aliases[:, seat] = bids, 0.0
    rules = recorded.mechanism
    sold = clear_sales(offers, rules.auction_type, recorded.units, rules.reserve_price, aliases)
    return np.asarray(value * sold.won[:, seat] - sold.paid[:, seat])
