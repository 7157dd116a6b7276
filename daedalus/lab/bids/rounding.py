"""Bids that were rounded: the step of a log, or its number of significant digits.

Bids are above 0, of shape (L,).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from daedalus.lab.theory.distributions import Numbers

COARSE = 0.05
"""Share of the deviation of log bids from which a step moves the best reserve by 2 %."""

_ENOUGH = 0.95  # share of bids that are multiples, from which the step is one
_NEAR = 1e-4  # of a step: what floating point may be off
_FINEST = 1e-9  # of the typical bid: below, every number is a multiple
_GOLDEN = 0.6180339887498949
_MANTISSAS = (5.0, 2.5, 2.0, 1.0)
_DIGITS = range(1, 7)


def step_of(bids: Numbers) -> float | None:
    """Return the largest step of which at least 95 % of the bids are multiples.

    Steps are 1, 2, 2.5 and 5 times a power of ten. Whether a step matters depends on how far bids
    lie apart, see ``relative_step``. None if bids have more than nine digits.
    """
    usual, widest = float(np.median(bids)), float(np.log10(bids.max()))
    for power in range(int(np.floor(widest)), int(np.floor(np.log10(_FINEST * usual))), -1):
        for mantissa in _MANTISSAS:
            step = float(f"{mantissa}e{power}")
            if _are_multiples(bids / step).mean() >= _ENOUGH:
                return step
    return None


def digits_of(bids: Numbers) -> int | None:
    """Return the fewest significant digits, up to six, that at least 95 % of the bids have.

    Args:
        bids: Bids above 0, shape (L,).

    Returns:
        The number of digits, or None if they have more.
    """
    units = 10.0 ** np.floor(np.log10(bids) + 1e-12)
    for digits in _DIGITS:
        if _are_multiples(bids / units * 10.0 ** (digits - 1)).mean() >= _ENOUGH:
            return digits
    return None


def relative_step(bids: Numbers) -> float:
    """Return the step at the typical bid as a share of this bid; 0 if bids are not rounded.

    It is that of ``step_of`` or of ``digits_of``, whichever is coarser.
    """
    return float(np.median(2.0 * half_steps(bids) / bids))


def half_steps(bids: Numbers) -> Numbers:
    """Return half the step to which each bid was rounded, in its money, shape (L,); 0 if to none.

    The few bids that are no multiples of the step have none, so half a step is less than the bid.
    """
    step, digits = step_of(bids), digits_of(bids)
    steps = np.full(len(bids), 0.0 if step is None else step)
    if digits is not None:
        own = 10.0 ** (np.floor(np.log10(bids) + 1e-12) + 1 - digits)
        steps = own if np.median(own / bids) > np.median(steps / bids) else steps
    ratios = np.divide(bids, steps, out=np.zeros(len(bids)), where=steps > 0)
    return np.where(_are_multiples(ratios), 0.5 * steps, 0.0)


def spread(bids: Numbers, half: Numbers) -> Numbers:
    """Return bids spread evenly over their steps: equal bids at the fractions of the golden ratio.

    These are even for any number of bids, and have nothing to do with the order of the sales.

    Args:
        bids: Bids above 0, shape (L,).
        half: Half the step of each, shape (L,).
    """
    _, same = np.unique(bids, return_inverse=True)
    order = np.argsort(same, kind="stable")
    rank = np.empty(len(bids))
    rank[order] = np.arange(len(bids)) - np.searchsorted(same[order], same[order])
    return np.asarray(bids + half * (2.0 * ((rank + 1.0) * _GOLDEN % 1.0) - 1.0))


def _are_multiples(ratios: Numbers) -> NDArray[np.bool_]:
    nearest = np.rint(ratios)
    return np.asarray((abs(ratios - nearest) < _NEAR) & (nearest > 0))
