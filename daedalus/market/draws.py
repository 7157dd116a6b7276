"""Counter-based uniform draws.

A draw is a pure function of seed, round, owner and purpose. SplitMix64's finaliser (Steele, Lea &
Flood 2014, variant 13 of Stafford's mixers) hashes a counter, so draws need no state, no order and
no lock. An episode comes out the same alone, in a batch, or on any number of threads.

The counter of a draw is 8 · owner + purpose. Owners are numbered from 0. Purposes come in banks of
eight. Two banks may not overlap: no two pairs of owner and purpose have one counter.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from daedalus.market.jit.compilation import Floats, cached_kernel, kernel
from daedalus.market.population import MAX_BIDDERS
from daedalus.market.ranges import SIZES

_WEYL = np.uint64(0x9E3779B97F4A7C15)
_MULTIPLIER_1 = np.uint64(0xBF58476D1CE4E5B9)
_MULTIPLIER_2 = np.uint64(0x94D049BB133111EB)
_SHIFT_30, _SHIFT_27, _SHIFT_31 = np.uint64(30), np.uint64(27), np.uint64(31)
_SHIFT_11 = np.uint64(11)
_BANK_SIZE = 8
_UNIT = 2.0**-53

# Rounds of the strategic market. A bidder has two banks and one for its learned choices.
_BIDDER, _SECOND, _RING, _LEARNER, _TIE = (_BANK_SIZE * bank for bank in (0, 64, 160, 192, 256))
VALUE_ONE, VALUE_TWO, ENTRY, DEMAND_REDUCTION, SHOCK = range(_BIDDER, _BIDDER + 5)
(
    LEADER_LOT, COVER_BID, SHILL, SHILL_BID, COLLUSION_SCREEN, SHILL_SCREEN, READING_ERROR,
) = range(_SECOND, _SECOND + 7)  # fmt: skip
COLLUSION, BREAKDOWN = range(_RING + 5, _RING + 7)
LEARNED_CHOICE, EXPLORATION = range(_LEARNER, _LEARNER + 2)
TIE = _TIE + 7

# Rounds of the classic market.
CLASSIC_VALUE, CLASSIC_POLICY, CLASSIC_RISK, CLASSIC_BID = range(4)

# Before the first round: which bidder is of which type, how it differs from its type, and what
# the episode draws: traits of types, in the order of ``ranges.TRAITS``, sizes, and its incumbent.
COMPOSITION_ROUND, TRAITS_ROUND, VARIATION_ROUND = -1, -2, -3
GAMMA_RADIUS, GAMMA_ANGLE, GAMMA_ACCEPTANCE, GAMMA_BOOST, SOLE_TYPE = range(5)
GAMMA_TRIES = 64
LEARNING_RATE_TRAIT, RIVALS_TRAIT = range(2)
FIRST_SIZE = _BANK_SIZE * MAX_BIDDERS
INCUMBENT = FIRST_SIZE + len(SIZES)


@kernel
def _mix(word: np.uint64) -> np.uint64:
    word = (word ^ (word >> _SHIFT_30)) * _MULTIPLIER_1
    word = (word ^ (word >> _SHIFT_27)) * _MULTIPLIER_2
    return word ^ (word >> _SHIFT_31)


@kernel
def round_key(seed: np.uint64, round_number: int) -> np.uint64:
    """Return the key from which one episode draws in one round."""
    return _mix(_mix(seed + _WEYL) + np.uint64(round_number) * _WEYL)


@kernel
def uniform(key: np.uint64, owner: int, purpose: int) -> float:
    """Return the draw of ``owner`` for ``purpose`` under a round key, in [0, 1)."""
    counter = np.uint64(owner) * np.uint64(_BANK_SIZE) + np.uint64(purpose) + np.uint64(1)
    return float(_mix(key + counter * _WEYL) >> _SHIFT_11) * _UNIT


@cached_kernel
def _fill_draws(seeds: NDArray[np.uint64], round_number: int, purpose: int, draws: Floats) -> None:
    """Fill the draws of each owner, shape (B, owners)."""
    for e in range(len(seeds)):
        key = round_key(seeds[e], round_number)
        for owner in range(draws.shape[1]):
            draws[e, owner] = uniform(key, owner, purpose)


def episode_draws(seeds: NDArray[np.uint64], purpose: int, owners: int = 1) -> NDArray[np.float64]:
    """Return draws of each episode before its first round, shape (B, owners), in [0, 1).

    ``purpose`` is one of the rounds "variation".
    """
    return round_draws(seeds, VARIATION_ROUND, purpose, owners)


def round_draws(
    seeds: NDArray[np.uint64], round_number: int, purpose: int, owners: int
) -> NDArray[np.float64]:
    """Return the draws that the kernels make in one round, shape (B, owners), in [0, 1)."""
    draws = np.empty((len(seeds), owners))
    _fill_draws(seeds, round_number, purpose, draws)
    return draws
