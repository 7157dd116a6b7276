"""The repeated auction of papers on Q-learners: one unit, bidders who all value it at 1.

It is a replication beside the market, which has entry, costs and many formats. The draws are those
of numpy's generators.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from daedalus.market.seeds import generator

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Learners(NamedTuple):
    """Q-learners of one repeated auction. The defaults are those of Banchio & Skrzypacz 2022.

    Their schedule of exploration is not theirs: here it falls from 1. Four others gave .22 to .27
    in first price, and one that falls faster .49.

    Attributes:
        bids: Bids among which they choose, rising, at most 1, shape (A,).
        bidders: Number of bidders n.
        rate: Step of the learning, alpha.
        discount: Weight of the next round, gamma.
        softmax: Whether they explore by a softmax of their values. Otherwise they take any bid with
            the probability of exploration.
        exploration: Probability of exploration in the first round, or temperature of the softmax.
        decay: Rate at which it falls: after t rounds it is multiplied by exp(-decay t).
        least_exploration: It falls no further than to this.
        payoffs_known: Whether they learn what each bid would have earned. Otherwise they learn
            what their own bid earned.
        recall_price: Whether their state is the highest bid of the last round. Otherwise they have
            one state alone.
    """

    bids: Floats
    bidders: int = 2
    rate: float = 0.05
    discount: float = 0.99
    softmax: bool = False
    exploration: float = 1.0
    decay: float = 5e-5
    least_exploration: float = 0.0
    payoffs_known: bool = False
    recall_price: bool = False


def published(payoffs_known: bool = False) -> Learners:
    """Return the two learners of Banchio & Skrzypacz 2022, with 19 bids from 0.05 to 0.95.

    If payoffs are known, they learn the lowest bid that would have won, and so what each bid would
    have earned.
    """
    return Learners(np.arange(1, 20) / 20.0, payoffs_known=payoffs_known)


def play_repeated(
    learners: Learners, auction_type: str, rounds: int, points: int, seed: int, *indices: int
) -> tuple[Floats, Floats]:
    """Play one repeated auction.

    Args:
        learners: The bidders. Their first values are drawn from 0 to 1.
        auction_type: ``first_price`` or ``second_price``.
        rounds: Number of rounds R, a multiple of ``points``.
        points: Number of stretches P over which means are taken.
        seed: Seed of the run.
        indices: What tells this auction from others of the run.

    Returns:
        Mean revenue and mean winning bid of each stretch, each of shape (P,), in units of value.

    Raises:
        ValueError: There is no such format, or the rounds do not divide.
    """
    if auction_type not in ("first_price", "second_price"):
        raise ValueError(f"auction_type: {auction_type!r}; choose first_price or second_price")
    if points < 1 or rounds % points:
        raise ValueError(f"points: {points}; give a divisor of the {rounds} rounds")
    rng = generator(seed, "repeated auction", *indices)
    states = len(learners.bids) if learners.recall_price else 1
    values = rng.random((learners.bidders, states, len(learners.bids)))
    totals = np.zeros((2, points))
    _play(rng, auction_type == "first_price", learners, values, rounds, totals)
    revenue, winning = totals * points / rounds
    return revenue, winning


@njit(cache=True, error_model="numpy")
def _choose(rng: np.random.Generator, row: Floats, softmax: bool, heat: float) -> int:
    """Return the bid that a learner makes, by its number."""
    count = len(row)
    if not softmax:
        if rng.random() < heat:
            return int(rng.random() * count)
        return int(np.argmax(row))
    best, total = row.max(), 0.0
    for bid in range(count):
        total += math.exp((row[bid] - best) / heat)
    left = rng.random() * total
    for bid in range(count - 1):
        left -= math.exp((row[bid] - best) / heat)
        if left < 0.0:
            return bid
    return count - 1


@njit(cache=True, error_model="numpy")
def _sell(rng: np.random.Generator, chosen: Integers) -> tuple[int, int]:
    """Return who wins, by lot among the highest bids, and the highest bid of the others."""
    winner, tied, second = 0, 1, -1
    for i in range(1, len(chosen)):
        if chosen[i] > chosen[winner]:
            second, winner, tied = chosen[winner], i, 1
        elif chosen[i] == chosen[winner]:
            second, tied = chosen[i], tied + 1
            if rng.random() * tied < 1.0:
                winner = i
        elif chosen[i] > second:
            second = chosen[i]
    return winner, second


@njit(cache=True, error_model="numpy")
def _learn_all(
    learners: Learners, first: bool, row: Floats, chosen: Integers, i: int, best: float
) -> None:
    """Let a learner learn what each of its bids would have earned, ties shared, in place."""
    bids, rival, tied = learners.bids, -1, 0
    for j in range(len(chosen)):
        if j != i and chosen[j] > rival:
            rival, tied = chosen[j], 1
        elif j != i and chosen[j] == rival:
            tied += 1
    for bid in range(len(bids)):
        earned = 0.0
        if bid >= rival:
            price = bids[bid] if first else bids[rival]
            earned = (1.0 - price) / (1.0 + tied if bid == rival else 1.0)
        row[bid] += learners.rate * (earned + learners.discount * best - row[bid])


@njit(cache=True, error_model="numpy")
def _play(
    rng: np.random.Generator, first: bool, learners: Learners, values: Any, rounds: int, totals: Any
) -> None:
    """Play all rounds; add revenue and winning bid of each stretch to ``totals``, shape (2, P)."""
    bids, n, points, state = learners.bids, len(values), totals.shape[1], 0
    chosen = np.zeros(n, np.int64)
    for t in range(rounds):
        heat = max(learners.exploration * math.exp(-learners.decay * t), learners.least_exploration)
        for i in range(n):
            chosen[i] = _choose(rng, values[i, state], learners.softmax, heat)
        winner, second = _sell(rng, chosen)
        price = bids[chosen[winner]] if first else bids[second]
        totals[0, t * points // rounds] += price
        totals[1, t * points // rounds] += bids[chosen[winner]]
        following = chosen[winner] if learners.recall_price else 0
        for i in range(n):
            best = values[i, following].max()
            if learners.payoffs_known:
                _learn_all(learners, first, values[i, state], chosen, i, best)
            else:
                earned = 1.0 - price if i == winner else 0.0
                old = values[i, state, chosen[i]]
                gained = earned + learners.discount * best - old
                values[i, state, chosen[i]] += learners.rate * gained
        state = following
