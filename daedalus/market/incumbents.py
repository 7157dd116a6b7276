"""The mechanism that is in force before a designer takes over a market."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from daedalus.market.mechanism import Mechanisms


def draw_incumbents(mechanisms: Mechanisms, seeds: NDArray[np.uint64]) -> Mechanisms:
    """Return the incumbent of each episode, drawn evenly by the episode's seed alone.

    Args:
        mechanisms: The incumbents, at least one.
        seeds: Market seeds, shape (B,).
    """
    from daedalus.market.draws import INCUMBENT, episode_draws  # imports numba, which is slow

    draws = episode_draws(np.asarray(seeds, np.uint64), INCUMBENT)[:, 0]
    return mechanisms.take((draws * len(mechanisms)).astype(np.int64))
