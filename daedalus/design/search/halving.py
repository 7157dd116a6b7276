"""Successive halving: many candidates on few episodes, then few candidates on many."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Scores = Callable[[NDArray[np.intp], int], NDArray[np.float64]]
"""(Numbers of C candidates, episodes) to their scores, shape (C,)."""


@dataclass(frozen=True)
class Rung:
    """One rung of the halving.

    Attributes:
        candidates: Numbers of the C candidates, best first.
        scores: Their scores, in the same order, shape (C,).
        episodes: Episodes behind each score.
    """

    candidates: NDArray[np.intp]
    scores: NDArray[np.float64]
    episodes: int


def successive_halving(count: int, score: Scores, episodes: int, keep: int) -> Iterator[Rung]:
    """Yield the rungs of the halving until one candidate is left (Karnin, Koren & Somekh 2013).

    Args:
        count: Number of candidates in the first rung.
        score: Scores candidates, which are numbered from 0.
        episodes: Episodes behind each score in the first rung. Each rung multiplies them by
            ``keep``.
        keep: One of this many candidates survives a rung; at least 2.
    """
    alive = np.arange(count)
    while True:
        scores = score(alive, episodes)
        order = np.argsort(-scores, kind="stable")
        yield Rung(alive[order], scores[order], episodes)
        if len(alive) == 1:
            return
        alive = alive[order[: survivors(len(order), keep)]]
        episodes *= keep


def survivors(count: int, keep: int) -> int:
    """Return how many of ``count`` candidates survive a rung."""
    return max(1, count // keep)
