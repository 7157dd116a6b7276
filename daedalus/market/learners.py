"""Bidders who learn which share of their values to bid: Hedge shaders and Q-learners.

Both choose from a grid of factors. Between rounds they keep one row of numbers each, in a table of
shape (n, W). The row of a Hedge shader holds the weight of each factor. The row of a Q-learner
holds its values Q[state, action]. The state is whether it won in the last round, if it recalls it.
The actions are the factors and, last, to stay out. A seat whose bids are given has a row too: its
bids for a first and a second unit, and its surplus of the last round.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from daedalus.market.auction import surplus_of_bids
from daedalus.market.jit.compilation import Floats, Record, kernel
from daedalus.market.population import BidderType

FITTED, HEDGE, Q_LEARNER, GIVEN = range(4)
"""How a type learns to shade, in the order of ``LEARNERS``; or its bids are given.

``FITTED`` is ``learner: gradient``, a name that settings, frozen populations and commands keep. It
fits how strong its rivals are to the bids that it had to beat, by censored likelihood
(``_learn_rivals`` of kernels/learning.py), and takes no gradient of that likelihood.
"""

BID_ONE, BID_TWO, NET = range(3)
"""Places in the row of a seat whose bids are given."""

_GIVEN_WIDTH = 3

_ROW_LENGTH: dict[str, Callable[[int], int]] = {
    "gradient": lambda factors: 0,
    "hedge": lambda factors: factors,
    "q": lambda factors: 2 * (factors + 1),
}


def table_width(types: Sequence[BidderType], external: bool) -> int:
    """Return W, the longest row that a bidder of these types needs; 0 if none keeps a row.

    ``external`` says whether somebody else gives the bids of some seats.
    """
    longest = max(_ROW_LENGTH[each.learner](each.factors) for each in types)
    return max(longest, _GIVEN_WIDTH * external)


def first_tables(
    types: Sequence[BidderType],
    kinds: NDArray[np.integer],
    expected_surplus: NDArray[np.float64],
    width: int,
) -> NDArray[np.float64]:
    """Return the row that each bidder starts from, shape (B, n, W).

    Weights are equal. Values are those of gaining ``expected_surplus`` in every round for ever;
    staying out gains it from the next round on. These values are high: an action that gains less
    makes the others worth a try (optimistic initial values, Sutton & Barto 2018, §2.6).

    Args:
        types: T types of bidders.
        kinds: Type of each bidder, shape (B, n).
        expected_surplus: Surplus that each bidder expects from a round, shape (B, n).
        width: W, from ``table_width``.
    """
    tables = np.zeros((*kinds.shape, width))
    for t, each in enumerate(types):
        if each.learner == "hedge":
            tables[kinds == t, : each.factors] = 1.0 / each.factors
        elif each.learner == "q":
            actions = each.factors + 1
            values = expected_surplus[kinds == t] / (1.0 - each.discount)
            rows = np.tile(values[:, None], 2 * actions)
            rows[:, each.factors :: actions] *= each.discount
            tables[kinds == t, : 2 * actions] = rows
    return tables


@kernel
def factor(t: Record, choice: int) -> float:
    """Return the share of its values that a bidder of type ``t`` offers; choice 0 is most."""
    share: float = max(t.highest_factor - choice * t.factor_step, 0.0)
    return share


@kernel
def _best(values: Floats, first: int, count: int) -> int:
    """Return which of ``count`` values from the place ``first`` is the highest, counted from 0."""
    best = 0
    for choice in range(1, count):
        if values[first + choice] > values[first + best]:
            best = choice
    return best


@kernel
def draw_choice(weights: Floats, draw: float) -> int:
    """Return an index with the probability that ``weights``, which sum to 1, give it."""
    for choice in range(len(weights) - 1):
        draw -= weights[choice]
        if draw < 0.0:
            return choice
    return len(weights) - 1


@kernel
def multiply_weights(weights: Floats, payoffs: Floats, rate: float, share: float) -> None:
    """Multiply the weights by exp(rate · payoff), then pool a share of them, in place.

    Hedge (Freund & Schapire 1997) with the fixed share of Herbster & Warmuth (1998), which keeps
    every choice possible if the mechanism changes.
    """
    best = payoffs[_best(payoffs, 0, len(weights))]
    total = 0.0
    for choice in range(len(weights)):
        weights[choice] *= math.exp(rate * (payoffs[choice] - best))
        total += weights[choice]
    for choice in range(len(weights)):
        weights[choice] = (1.0 - share) * weights[choice] / total + share / len(weights)


@kernel
def forgone_payoffs(
    t: Record,
    auction_format: int,
    value_one: float,
    value_two: float,
    scale: float,
    purse: float,
    lowest: float,
    above: float,
    lost: int,
    payoffs: Floats,
) -> None:
    """Fill ``payoffs`` with what each factor would have earned, as far as a bidder can tell.

    Args:
        t: Its type.
        auction_format: The sale's format.
        value_one: Its value of a first unit.
        value_two: Its value of a second unit.
        scale: What it divides its bids by to save budget.
        purse: What it can pay.
        lowest: What it believes that it had to bid for a unit.
        above: What it believes that it had to bid for a second.
        lost: The choice that lost, or -1 if it did not lose. Lower bids would have lost too.
        payoffs: Filled in place, shape (G,).
    """
    for choice in range(t.factors):
        share = factor(t, choice)
        bid_one = min(share * value_one / scale, purse)
        bid_two = min(share * value_two / scale, purse - bid_one)
        payoffs[choice] = surplus_of_bids(
            auction_format, value_one, value_two, bid_one, bid_two, lowest, above
        )
        if 0 <= lost <= choice:
            payoffs[choice] = 0.0


@kernel
def exploration(t: Record, number: int) -> float:
    """Return the probability that a Q-learner of type ``t`` explores after ``number`` rounds."""
    probability: float = t.exploration
    if t.exploration_decay > 0.0:
        probability *= math.exp(-t.exploration_decay * number)
    return probability


@kernel
def choose_action(t: Record, table: Floats, won_last: int, exploring: bool, draw: float) -> int:
    """Return a Q-learner's action: any one if it explores, otherwise the best.

    Of equally good actions it takes the most truthful one.

    Args:
        t: Its type.
        table: Its row.
        won_last: Its state.
        exploring: Whether it explores.
        draw: A uniform draw, which chooses the action if it explores.
    """
    actions = t.factors + t.opts_out
    if exploring:
        return int(draw * actions)
    return _best(table, won_last * (t.factors + 1), actions)


@kernel
def learn_value(
    t: Record, rate: float, table: Floats, won_last: int, action: int, reward: float, won: int
) -> None:
    """Take one step of Q-learning (Watkins & Dayan 1992) in place.

    Q[s, a] moves by ``rate`` of the way to r + ``discount`` max Q[s', .], the maximum
    over what its menu allows.
    """
    following = won * (t.factors + 1)
    best = table[following + _best(table, following, t.factors + t.opts_out)]
    place = won_last * (t.factors + 1) + action
    table[place] += rate * (reward + t.discount * best - table[place])
