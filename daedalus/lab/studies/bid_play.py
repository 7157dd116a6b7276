"""Bids of simulated sales whose values are known: equilibria, a clock, and jump bids."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import integrate

from daedalus.lab.theory.distributions import Numbers

_OPENING = (0.1, 0.5)  # first bids of a sale with jump bids, as shares of the values
_NEAR = 1e-7  # distance from the rest point at which the path of two groups starts


def jump_bids(values: Numbers, increment: float, jump: float, rng: np.random.Generator) -> Numbers:
    """Return the last bids of ascending sales whose bidders raise by more than they need.

    Each bidder opens with a tenth to a half of its value. Then one who is not ahead and can beat
    the price by the increment is drawn, and raises. It goes on until nobody can. So nobody bids
    above its value or lets another win at a price that it would beat, as Haile & Tamer (2003)
    assume, and most last bids lie below values.

    Args:
        values: Values, shape (sales, bidders).
        increment: Least step, as a share of the price.
        jump: Largest share of what is left below its value by which a bidder raises further.
        rng: Source of chance.
    """
    bids, rows = values * rng.uniform(*_OPENING, values.shape), np.arange(len(values))
    ahead, price = bids.argmax(axis=1), bids.max(axis=1)
    while True:
        least = price * (1.0 + increment)
        able = values >= least[:, None]
        able[rows, ahead] = False
        open_ = able.any(axis=1)
        if not open_.any():
            return bids
        chosen = np.where(able, rng.random(values.shape), -1.0).argmax(axis=1)
        room = values[rows, chosen] - least
        raised = least + jump * rng.random(len(values)) * room
        bids[rows[open_], chosen[open_]] = raised[open_]
        ahead, price = np.where(open_, chosen, ahead), np.where(open_, raised, price)


class Group(NamedTuple):
    """Bidders of one kind: F(v) = (v/h)^k from 0 to h.

    Attributes:
        bidders: How many there are.
        power: The power k. The best of k even values has it.
        highest: The highest value h.
    """

    bidders: int
    power: float = 1.0
    highest: float = 1.0


class Curves(NamedTuple):
    """An equilibrium of a first-price sale to two groups.

    Attributes:
        bids: Bids, rising from 0, shape (B,).
        values: Values at which bidders of each group bid them, shape (2, B).
    """

    bids: Numbers
    values: Numbers

    def bids_of(self, group: int, values: Numbers) -> Numbers:
        """Return the bids of a group, of the same shape as the values."""
        return np.interp(values, self.values[group], self.bids)


def two_groups(first: Group, second: Group) -> Curves:
    """Return the equilibrium of a first-price sale to two groups, without a reserve.

    With x the value over the bid of each bidder and t the logarithm of the bid, best replies to
    the others' bids give d ln x_i/dt = (sum_j 1/(x_j - 1)/(n - 1) - 1/(x_i - 1))/k_i - 1 (Lebrun
    1999). At 0 it starts from the rest point of that. It leaves it along its one unstable direction
    and ends where both highest values have the same bid. Scales are free, so that bid gives them.

    Args:
        first: A group.
        second: Another one, of another power or highest value.
    """
    counts, powers = (np.array([first[at], second[at]], np.float64) for at in (0, 1))
    rest = 1.0 + 1.0 / (counts @ powers - powers)
    target = np.log(second.highest / first.highest)

    def slope(_: float, logs: Numbers) -> Numbers:
        room = 1.0 / np.expm1(logs)
        return np.asarray((counts @ room / (counts.sum() - 1.0) - room) / powers - 1.0)

    def left(_: float, logs: Numbers) -> float:
        return float(logs[1] - logs[0] - target)

    left.terminal = True  # type: ignore[attr-defined]  # as solve_ivp wants it
    start = np.log(rest)
    away = _unstable(lambda logs: slope(0.0, logs), start)
    away *= np.sign(target - (start[1] - start[0])) * np.sign(away[1] - away[0])
    found = integrate.solve_ivp(
        slope, (0.0, 50.0), start + _NEAR * away, events=left, max_step=0.01, rtol=1e-9, atol=1e-12
    )
    bids = np.exp(found.t - found.t[-1] - found.y[0, -1]) * first.highest
    bids = np.concatenate([[0.0], bids])
    return Curves(bids, np.hstack([np.zeros((2, 1)), np.exp(found.y) * bids[1:]]))


def _unstable(slope: Callable[[Numbers], Numbers], rest: Numbers) -> Numbers:
    """Return the direction in which a system of two equations leaves its rest point fastest."""
    step = 1e-6
    sides = [(slope(rest + each) - slope(rest - each)) / (2 * step) for each in step * np.eye(2)]
    rates, directions = np.linalg.eig(np.array(sides).T)
    return np.asarray(directions[:, np.argmax(rates.real)].real)
