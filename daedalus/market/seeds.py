"""Random numbers of a run: one integer seed, and a separate stream for each purpose."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

EPISODE_SEEDS = 2**53
"""Number of seeds of a single episode, from 0; every JSON reader keeps them exactly."""


def _sequence(seed: int, purpose: str, *indices: int) -> np.random.SeedSequence:
    if seed < 0:
        raise ValueError(f"seed: {seed} is negative; give an integer from 0 up")
    return np.random.SeedSequence(seed, spawn_key=(zlib.crc32(purpose.encode()), *indices))


def market_seeds(seed: int, purpose: str, count: int, *indices: int) -> NDArray[np.uint64]:
    """Return ``count`` market seeds (uint64) that depend only on the arguments.

    A call for m seeds returns the first m of a call for n seeds. Runs of different sizes so start
    with the same markets.
    """
    words = _sequence(seed, purpose, *indices).generate_state(count, np.uint64)
    return words.astype(np.uint64)


def episode_seed(seed: object) -> int:
    """Return the seed of a single episode as Python's integer.

    Raises:
        ValueError: It is no integer from 0 to ``EPISODE_SEEDS`` - 1.
    """
    whole = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    if not (whole and 0 <= seed < EPISODE_SEEDS):  # type: ignore[operator]  # an integer
        raise ValueError(f"seed: {seed!r}; give an integer from 0 to {EPISODE_SEEDS - 1}")
    return int(seed)  # type: ignore[call-overload,no-any-return]  # an integer


def episode_seeds(seeds: Sequence[int]) -> NDArray[np.uint64]:
    """Return the market seed of each single episode: in Python, in Gymnasium and in the service.

    Raises:
        ValueError: One is no ``episode_seed``.
    """
    return np.concatenate([market_seeds(episode_seed(seed), "service", 1) for seed in seeds])


def generator(seed: int, purpose: str, *indices: int) -> np.random.Generator:
    """Return a fresh numpy generator that depends only on the arguments."""
    return np.random.default_rng(_sequence(seed, purpose, *indices))
