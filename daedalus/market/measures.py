"""Numba kernels of the measures that both markets report."""

from __future__ import annotations

import math

import numpy as np

from daedalus.market.jit.compilation import Flags, Floats, Integers, kernel

RECENT_ROUNDS = 5
"""Rounds that the ring buffers of welfare and participation hold. Kernels take this constant and
not the buffer's length, because the remainder of a division by a constant is fast."""
_TABLE_SIZE = 1024
_LOGARITHMS = np.array([0.0] + [math.log2(n) for n in range(1, _TABLE_SIZE)])
_COUNT_LOG_COUNT = np.arange(_TABLE_SIZE) * _LOGARITHMS


@kernel
def _count_log_count(count: int) -> float:
    """Return count * log2(count), from a table while the count is small: logarithms are slow."""
    return _COUNT_LOG_COUNT[count] if count < _TABLE_SIZE else count * math.log2(count)


@kernel
def _entropy_bits(wins: Integers) -> float:
    """Return the entropy of the win counts in bits."""
    total, weighted = 0, 0.0
    for i in range(len(wins)):
        total += wins[i]
        weighted += _count_log_count(wins[i])
    return (_count_log_count(total) - weighted) / total if total > 0 else 0.0


@kernel
def evenness(wins: Integers, n: int) -> float:
    """Return the entropy of the win counts of n bidders over its maximum log n, in [0, 1].

    ``n`` is at least 2 and below 1,024.
    """
    most: float = _LOGARITHMS[n]
    return min(_entropy_bits(wins) / most, 1.0)  # rounding may exceed 1


@kernel
def collusion_signal(bids: Floats, present: Flags, wins: Integers, n: int) -> float:
    """Return the mean of two signs of collusion, in [0, 1]: similar bids and evenly shared wins.

    Args:
        bids: All bids, also those under false names.
        present: Which of them count.
        wins: Win counts of the n bidders, and zeros.
        n: Number of bidders.
    """
    count, total, squares = 0, 0.0, 0.0
    for i in range(len(bids)):
        if present[i] and bids[i] > 0.0:
            count += 1
            total += bids[i]
    if count < 2:
        return 0.0
    mean = total / count
    for i in range(len(bids)):
        if present[i] and bids[i] > 0.0:
            squares += (bids[i] - mean) ** 2
    variation = math.sqrt(squares / count) / mean
    return 0.5 * (max(0.0, 1.0 - 3.0 * variation) + evenness(wins, n))


@kernel
def before(slot: int, length: int) -> int:
    """Return the slot before one of a ring buffer, without a division."""
    return (slot if slot > 0 else length) - 1


@kernel
def stability(past: Floats, played: int, welfare: float) -> float:
    """Return 1 - 3 standard deviations of the last five welfare values, at least 0.

    Args:
        past: Ring buffer of welfare, shape (5,); round r is in slot r mod 5.
        played: Rounds played before this one; 1 is returned while there are fewer than four.
        welfare: That of this round.
    """
    if played < 4:
        return 1.0
    slot = played % RECENT_ROUNDS
    total, squares = welfare, 0.0
    for _ in range(4):
        slot = before(slot, RECENT_ROUNDS)
        total += past[slot]
    mean, slot = total / 5.0, played % RECENT_ROUNDS
    for _ in range(4):
        slot = before(slot, RECENT_ROUNDS)
        squares += (past[slot] - mean) ** 2
    squares += (welfare - mean) ** 2
    return max(0.0, 1.0 - 3.0 * math.sqrt(squares / 5.0))


@kernel
def normalised_gini(amounts: Floats, order: Integers) -> float:
    """Return the Gini coefficient over (n - 1) / n: 1 if one bidder has all, 0 if none has any.

    Args:
        amounts: At least 0, shape (n,).
        order: A permutation, shape (n,), sorted by amount in place. Little changes from round to
            round, so that the insertion sort is nearly linear.
    """
    n = len(amounts)
    total, weighted = 0.0, 0.0
    for i in range(1, n):
        mine = order[i]
        place = i
        while place > 0 and amounts[order[place - 1]] > amounts[mine]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = mine
    for i in range(n):
        total += amounts[order[i]]
        weighted += (2 * i - n + 1) * amounts[order[i]]
    return min(max(weighted / ((n - 1) * total), 0.0), 1.0) if total > 0.0 else 0.0
