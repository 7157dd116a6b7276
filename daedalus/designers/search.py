"""The best fixed mechanism: random search with successive halving over the simulator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from daedalus.designers.base import DesignerSettings
from daedalus.designers.random import random_mechanisms
from daedalus.market.mechanism import Mechanism, Mechanisms

Score = Callable[[Mechanisms, int], NDArray[np.float64]]
"""(B mechanisms, number of shared episodes) to mean scores of shape (B,)."""


@dataclass
class SearchDesigner(DesignerSettings):
    """Budget of the search; the designer then proposes what it found.

    Each rung scores the surviving candidates on ``keep`` times as many episodes as the one before
    and keeps one in ``keep`` (Jamieson & Talwalkar 2016; Karnin, Koren & Somekh 2013).

    Attributes:
        candidates: Random mechanisms in the first rung.
        episodes: Episodes each is scored on in the first rung.
        keep: Of how many candidates one survives a rung, at least 2.
    """

    candidates: int = 1024
    episodes: int = 8
    keep: int = 4

    def __post_init__(self) -> None:
        for name, least in (("candidates", 1), ("episodes", 1), ("keep", 2)):
            if getattr(self, name) < least:
                raise ValueError(f"{name}: {getattr(self, name)}; give an integer from {least} up")


@dataclass(frozen=True)
class Rung:
    """One rung of the search: what was scored, on how many episodes, and how it did."""

    mechanisms: Mechanisms
    scores: NDArray[np.float64]
    episodes: int


def successive_halving(
    settings: SearchDesigner, score: Score, rng: np.random.Generator
) -> tuple[Mechanism, list[Rung]]:
    """Search for the mechanism with the highest score.

    Returns:
        The winner, and the rungs with their candidates sorted from best to worst.
    """
    candidates = random_mechanisms(settings.candidates, rng)
    episodes = settings.episodes
    rungs: list[Rung] = []
    while True:
        scores = score(candidates, episodes)
        order = np.argsort(-scores, kind="stable")
        rungs.append(Rung(candidates.take(order), scores[order], episodes))
        if len(candidates) == 1:
            return candidates[0], rungs
        candidates = candidates.take(order[: max(1, len(order) // settings.keep)])
        episodes *= settings.keep
