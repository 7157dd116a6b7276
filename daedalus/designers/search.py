"""The best fixed mechanism: successive halving of random ones, then one field at a time."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from daedalus.designers.base import DesignerSettings, require_at_least
from daedalus.designers.random import random_mechanisms
from daedalus.market.mechanism import CHOICES, FIELDS, FLAGS, RANGES, Mechanism, Mechanisms

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
        sweeps: How often at most fields are then tried one by one, for each auction type.
        sweep_episodes: Episodes behind each comparison of a sweep.
    """

    candidates: int = 1024
    episodes: int = 8
    keep: int = 4
    sweeps: int = 3
    sweep_episodes: int = 256

    def __post_init__(self) -> None:
        require_at_least(0, self, "sweeps")
        require_at_least(1, self, "candidates", "episodes", "sweep_episodes")
        require_at_least(2, self, "keep")


LEVELS: dict[str, tuple[Any, ...]] = (
    dict(CHOICES)
    | {name: (False, True) for name in FLAGS}
    | {name: (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0) for name in RANGES}
    | {"reserve_price": tuple(round(0.1 * step, 1) for step in range(10))}
)
"""Settings of each field that a sweep tries."""


def variants(mechanism: Mechanism, name: str) -> list[Mechanism]:
    """Return the mechanism with one field at each of its ``LEVELS``, in order."""
    return [dataclasses.replace(mechanism, **{name: level}) for level in LEVELS[name]]


def best_fixed(
    settings: SearchDesigner, score: Score, rng: np.random.Generator
) -> tuple[Mechanism, list[Rung]]:
    """Search for the mechanism with the highest score: halving, then sweeps.

    Sweeps start from the best candidate of each auction type, since a change of format pays only
    together with changes of other fields.

    Returns:
        The winner, and the rungs of the halving.
    """
    best, rungs = successive_halving(settings, score, rng)
    if settings.sweeps == 0:
        return best, rungs
    starts = _first_of_each_type([rung.mechanisms for rung in rungs[::-1]])
    finalists = [best, *_swept(starts, score, settings.sweeps, settings.sweep_episodes)]
    scores = score(Mechanisms.stack(finalists), 8 * settings.sweep_episodes)
    return finalists[int(np.argmax(scores))], rungs


def best_for_all(
    candidates: list[Mechanism], score: Score, sweeps: int, episodes: int
) -> Mechanism:
    """Return the mechanism with the highest score after sweeps from the best of each auction type.

    Args:
        candidates: At least one mechanism.
        score: What is to be good on the whole, as ``score_everywhere``.
        sweeps: See ``sweep``.
        episodes: Episodes behind each comparison of a sweep; the last has four times as many.
    """
    pool = Mechanisms.stack(candidates)
    order = np.argsort(-score(pool, episodes), kind="stable")
    finalists = _swept(_first_of_each_type([pool.take(order)]), score, sweeps, episodes)
    return finalists[int(np.argmax(score(Mechanisms.stack(finalists), 4 * episodes)))]


def _first_of_each_type(pools: list[Mechanisms]) -> list[Mechanism]:
    """Return, for each auction type, the first mechanism of the first pool that has one."""
    found: dict[int, Mechanism] = {}
    for pool in pools:
        kinds, first = np.unique(pool.auction_type, return_index=True)
        for kind, row in zip(kinds, first, strict=True):
            found.setdefault(int(kind), pool[int(row)])
    return [found[kind] for kind in sorted(found)]


def _swept(starts: list[Mechanism], score: Score, sweeps: int, episodes: int) -> list[Mechanism]:
    return [sweep(start, score, sweeps, episodes) for start in starts]


def sweep(mechanism: Mechanism, score: Score, sweeps: int, episodes: int) -> Mechanism:
    """Set one field after the other to its best level, until none changes or ``sweeps`` times."""
    for _ in range(sweeps):
        before = mechanism
        for name in FIELDS:
            candidates = [mechanism, *variants(mechanism, name)]
            scores = score(Mechanisms.stack(candidates), episodes)
            mechanism = candidates[int(np.argmax(scores))]
        if mechanism == before:
            break
    return mechanism


@dataclass(frozen=True)
class Rung:
    """One rung of the search: what was scored, on how many episodes, and how it did."""

    mechanisms: Mechanisms
    scores: NDArray[np.float64]
    episodes: int


def successive_halving(
    settings: SearchDesigner, score: Score, rng: np.random.Generator
) -> tuple[Mechanism, list[Rung]]:
    """Search by successive halving for the mechanism with the highest score.

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
