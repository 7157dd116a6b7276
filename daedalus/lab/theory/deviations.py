"""What a bidder or a ring gains by the best bids against truthful rivals, in one sale of K units.

Take a bidder with values v_1 >= v_2 for a first and a second unit, that bids b_1 >= b_2. W_j(x) is
the probability that fewer than K - j + 1 rival bids exceed x, so that a bid of x wins unit j. With
r the reserve, the expected surplus is a sum over its units of

    (v_j - b_j) W_j(b_j) + the integral of p_j from r to b_j,

where p_j is 0 in first price, W_j in VCG and j W_j - (j-1) W_(j-1) in a uniform-price sale (by
parts from Krishna 2009, chapters 12 and 13). Each bid is so chosen alone. In VCG, and for the first
unit of a uniform-price sale, the best one is the value.

A ring is a bidder with all values of its members. It bids under its members' names, and members
pass units to each other. In VCG a name that wins d units pays the d highest losing bids of others.
So whatever the others bid, a ring pays least if its d highest bids have one name, the next d
another, and so on. Then q = (j-1) // d full names are above b_j. A losing b_j raises what each of
them pays, so p_j is (q+1) W_j - q W_(j-d). With d = 1 this is the uniform price.

Means are integrals over the values between the knots. They are exact up to rounding where the best
bid is smooth there. A bid is sought over a grid and then refined. ``error`` bounds what any other
bid can gain more: W rises, so between two bids of the grid no payoff exceeds (v - lower bid)
W(higher bid) and the like. The best b_2, chosen alone, may exceed the best b_1. What this adds is
measured on drawn values and taken off, and ``error`` has two of its standard errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from daedalus.lab.theory.distributions import Numbers
from daedalus.lab.theory.formats import (
    pays_one_price,
    pays_own_bid,
    require_format,
)
from daedalus.lab.theory.sales import Bidder, area_up_to, counted, knots_of, nodes
from daedalus.market.seeds import generator

GRID = 1000
"""Steps of the grid of bids, beside the knots."""

_STEP = 1e-30j
_FEW = 60  # intervals that are worth many nodes
_HALVINGS = 55
_EVEN = 201
_DRAWS, _EXCESS_GRID = 1000, 500


class Gain(NamedTuple):
    """Surpluses, in units of value.

    Attributes:
        best: Mean surplus of the best bids, each bidder or ring knowing its own values alone.
        truthful: Mean surplus of its values as bids.
        worst: The largest difference of the two over some 200 values of each unit or more; with
            several units in first price an upper bound, as bids may then rise from unit to unit.
        error: What better bids than those found can add at most, summed over units.
    """

    best: float
    truthful: float
    worst: float
    error: float


@dataclass(frozen=True)
class Contest:
    """A sale, seen by a bidder or a ring.

    Attributes:
        auction_type: One of ``FORMATS_WITH_THEORY``.
        reserve: Lowest bid that competes.
        units: Supply K.
        rivals: The others, who bid their values.
        bids_of_name: Number of units d that each name may bid for; it counts in VCG alone.

    Raises:
        CannotRunError: The theory of the format is not known.
    """

    auction_type: str
    reserve: float
    units: int
    rivals: Sequence[Bidder]
    bids_of_name: int = 2

    def __post_init__(self) -> None:
        require_format(self.auction_type)

    def gain(self, members: Sequence[Bidder], units: int) -> Gain:
        """Return what the best bids of a bidder, or of a ring of members, gain.

        Args:
            members: The bidder, or the members.
            units: Number of units J that they can use, at most K.
        """
        parts = [self._gain(members, unit) for unit in range(1, units + 1)]
        found = Gain(*(float(sum(column)) for column in zip(*parts, strict=True)))
        if all(self._truth_is_best(unit) for unit in range(1, units + 1)):
            return found  # values fall, and so do these bids
        excess, error = self._excess(members, units)
        return found._replace(best=found.best - excess, error=found.error + error)

    def _excess(self, members: Sequence[Bidder], units: int) -> tuple[float, float]:
        """Return what bids gain if they need not fall from unit to unit, and its error.

        The values are drawn, and the bids are those of a grid.
        """
        rng = generator(0, "theory/deviations")
        drawn = [each.values.quantile(rng.random((_DRAWS, each.demand))) for each in members]
        values = np.sort(np.concatenate(drawn, axis=1))[:, ::-1]
        if values.max() <= self.reserve:
            return 0.0, 0.0
        grid = np.linspace(self.reserve, values.max(), _EXCESS_GRID)
        wins, free = self.wins(grid), np.zeros(_DRAWS)
        falling = np.zeros((_DRAWS, _EXCESS_GRID + 1))  # the first bid is none
        for unit in range(units, 0, -1):
            tried = (values[:, unit - 1, None] - grid) * wins[unit - 1] + self._areas(grid, unit)
            tried = np.pad(tried, ((0, 0), (1, 0)))
            free += tried.max(axis=1)
            falling = np.maximum.accumulate(tried + falling, axis=1)
        excess = free - falling[:, -1]
        return float(excess.mean()), float(2.0 * excess.std() / _DRAWS**0.5)

    def surplus(self, values: Numbers, bids: Numbers, unit: int) -> Numbers:
        """Return the expected surplus of bids for the j-th unit, shape (X,); 0 below the reserve.

        Args:
            values: Values of the unit, shape (X,).
            bids: Bids, shape (X,).
            unit: Its number j, 1 to K.
        """
        found = (values - bids) * self.wins(bids)[unit - 1] + self._areas(bids, unit)
        return np.asarray(np.where(bids >= self.reserve, found, 0.0))

    def wins(self, bids: Numbers, step: complex = 0.0) -> NDArray[Any]:
        """Return the probabilities W_1, ..., W_K that bids win, shape (K, X).

        Args:
            bids: Bids, shape (X,).
            step: An imaginary step for derivatives, see ``Bidder.counts``.
        """
        fewer = counted(self.rivals, bids, self.units, step)[:-1]
        return np.asarray(np.cumsum(fewer, axis=0)[::-1])

    def _gain(self, members: Sequence[Bidder], unit: int) -> tuple[float, float, float, float]:
        """Return the numbers of ``Gain`` for one unit."""
        knots = knots_of([*members, *self.rivals], self.reserve)
        knots = knots[knots <= max(each.values.highest for each in members)]
        if len(knots) < 2:
            return 0.0, 0.0, 0.0, 0.0
        breaks = np.union1d(knots, self._turns(knots, unit))
        places, weights = nodes(breaks, 40 if len(breaks) < _FEW else 8)
        lowest = max(knots[0], min(each.values.lowest for each in members))
        even = np.linspace(lowest, knots[-1], _EVEN)  # for the worst alone
        values = np.concatenate([places.ravel(), even])
        fewer = counted(members, values, unit, _STEP)[:unit].sum(axis=0)
        density = fewer.imag / abs(_STEP)
        mass = density * np.concatenate([weights.ravel(), np.zeros(_EVEN)])
        truthful = self.surplus(values, values, unit)
        best, error = self._best(values, knots, unit)
        best = np.maximum(best, truthful)
        may_be = np.any([each.values.may_be(values) for each in members], axis=0)
        worst = float((best - truthful)[may_be].max())
        return float(best @ mass), float(truthful @ mass), worst, error

    def _best(self, values: Numbers, knots: Numbers, unit: int) -> tuple[Numbers, float]:
        """Return the surplus of the best bid for each value, shape (X,), and the error."""
        grid = np.union1d(knots, np.linspace(knots[0], knots[-1], GRID + 1))
        wins, areas = self.wins(grid), self._areas(grid, unit)
        tried = (values[:, None] - grid) * wins[unit - 1] + areas
        at = tried.argmax(axis=1)
        low, high = grid[np.maximum(at - 1, 0)], grid[np.minimum(at + 1, len(grid) - 1)]
        for _ in range(_HALVINGS):
            middle = (low + high) / 2.0
            rises = self._slope(values, middle, unit) > 0.0
            low, high = np.where(rises, middle, low), np.where(rises, high, middle)
        refined = self.surplus(values, (low + high) / 2.0, unit)
        best = np.maximum(np.maximum(tried.max(axis=1), refined), 0.0)
        if self._truth_is_best(unit):
            return best, 0.0
        rents = np.diff(grid) * np.maximum(self._rent(wins[:, 1:], wins[:, :-1], unit), 0.0)
        bound = (values[:, None] - grid[:-1]) * wins[unit - 1, 1:] + areas[:-1] + rents
        return best, float(np.maximum(bound.max(axis=1) - best, 0.0).max())

    def _truth_is_best(self, unit: int) -> bool:
        return not pays_own_bid(self.auction_type) and self._names_above(unit) == 0

    def _names_above(self, unit: int) -> int:
        """Return the number q of names whose bids are all above the j-th."""
        return (unit - 1) // self._together

    @property
    def _together(self) -> int:
        """Return the number d of bids that do not raise each other's price."""
        return 1 if pays_one_price(self.auction_type) else self.bids_of_name

    def _rent(self, wins: Numbers, less: Numbers, unit: int) -> Numbers:
        """Return p_j, shape (X,), where W_j is taken from ``wins`` and W_(j-d) from ``less``."""
        if pays_own_bid(self.auction_type):
            return np.zeros(wins.shape[1:])
        above = self._names_above(unit)
        if above == 0:
            return np.asarray(wins[unit - 1])
        raised = above * less[unit - 1 - self._together]
        return np.asarray((above + 1) * wins[unit - 1] - raised)

    def _areas(self, bids: Numbers, unit: int) -> Numbers:
        """Return the integrals of p_j from the reserve to bids, shape (X,)."""

        def rent(at: Numbers) -> Numbers:
            wins = self.wins(at)
            return self._rent(wins, wins, unit)

        if pays_own_bid(self.auction_type):
            return np.zeros(len(bids))
        degree = sum(each.demand for each in self.rivals)
        return area_up_to(rent, bids, knots_of(self.rivals, self.reserve), degree)

    def _slope(self, values: Numbers, bids: Numbers, unit: int) -> Numbers:
        """Return the derivative of the surplus in the bid, shape (X,)."""
        wins = self.wins(bids, _STEP)
        chance, density = wins[unit - 1].real, wins[unit - 1].imag / abs(_STEP)
        rent = self._rent(wins.real, wins.real, unit)
        return np.asarray((values - bids) * density - chance + rent)

    def _turns(self, knots: Numbers, unit: int) -> Numbers:
        """Return values between the knots at which the best bid may cross a knot."""
        bids = np.concatenate([knots, np.nextafter(knots[1:], 0.0)])  # both sides of each
        wins = self.wins(bids, _STEP)
        density = wins[unit - 1].imag / abs(_STEP)
        shade = wins[unit - 1].real - self._rent(wins.real, wins.real, unit)
        turns = bids + np.divide(shade, density, out=np.zeros_like(shade), where=density > 0.0)
        return np.asarray(turns[(turns > knots[0]) & (turns < knots[-1])])
