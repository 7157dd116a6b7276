"""Counter-based uniform draws: each a pure function of (seed, round, bidder, purpose).

SplitMix64's finaliser (Steele, Lea & Flood 2014, variant 13 of Stafford's mixers) hashes the
counters, so draws need no state, no order and no lock: an episode comes out the same alone, in a
batch, or on any number of threads.
"""

from __future__ import annotations

import numpy as np

from daedalus.market.compilation import inlined_kernel

_WEYL = np.uint64(0x9E3779B97F4A7C15)
_MULTIPLIER_1 = np.uint64(0xBF58476D1CE4E5B9)
_MULTIPLIER_2 = np.uint64(0x94D049BB133111EB)
_SHIFT_30, _SHIFT_27, _SHIFT_31 = np.uint64(30), np.uint64(27), np.uint64(31)
_SHIFT_11 = np.uint64(11)
_PURPOSES = np.uint64(8)
_UNIT = 2.0**-53


@inlined_kernel
def _mix(word: np.uint64) -> np.uint64:
    word = (word ^ (word >> _SHIFT_30)) * _MULTIPLIER_1
    word = (word ^ (word >> _SHIFT_27)) * _MULTIPLIER_2
    return word ^ (word >> _SHIFT_31)


@inlined_kernel
def round_key(seed: np.uint64, round_number: int) -> np.uint64:
    """Return the key from which one episode draws in one round."""
    return _mix(_mix(seed + _WEYL) + np.uint64(round_number) * _WEYL)


@inlined_kernel
def uniform(key: np.uint64, bidder: int, purpose: int) -> float:
    """Return the draw of ``bidder`` for ``purpose`` (0 to 7) under a round key, in [0, 1)."""
    counter = np.uint64(bidder) * _PURPOSES + np.uint64(purpose) + np.uint64(1)
    return float(_mix(key + counter * _WEYL) >> _SHIFT_11) * _UNIT
