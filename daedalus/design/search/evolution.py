"""Differential evolution over mechanisms, with SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, differential_evolution

from daedalus.design.env import DesignEnv
from daedalus.design.search.budgets import EvolutionBudget
from daedalus.design.search.objective import EpisodeObjective
from daedalus.market.mechanism import CHOICES, FIELDS, FLAGS, RANGES, Mechanism, Mechanisms
from daedalus.market.seeds import generator
from daedalus.runs.phases import SEARCH, phase

_PURPOSE = "evolution"


@phase(SEARCH)
def evolve(env: DesignEnv, budget: EvolutionBudget, seed: int) -> Mechanism:
    """Return the best mechanism that evolution finds. It treats words and flags as integers.

    Args:
        env: Where mechanisms are played.
        budget: Size of a generation, number of generations, episodes behind each score.
        seed: Seed of the run.
    """
    score = EpisodeObjective([env], seed, _PURPOSE)

    def loss(points: Any, /) -> Any:  # (fields, B) to (B,), a shape that SciPy's stubs lack
        return -score(_mechanisms(points), budget.episodes)

    found = differential_evolution(
        loss,
        Bounds(*np.array([_bounds(name) for name in FIELDS]).T),
        integrality=[name not in RANGES for name in FIELDS],
        maxiter=budget.generations,
        popsize=budget.population,
        polish=False,
        tol=0.0,
        updating="deferred",
        vectorized=True,
        rng=generator(seed, _PURPOSE),
    )
    return _mechanisms(found.x[:, None]).rounded()[0]


def _bounds(name: str) -> tuple[float, float]:
    return RANGES[name] if name in RANGES else (0, len(CHOICES.get(name, (False, True))) - 1)


def _mechanisms(points: NDArray[np.float64]) -> Mechanisms:
    """Return the mechanisms of points, shape (fields, B)."""
    columns: dict[str, Any] = dict(zip(FIELDS, points, strict=True))
    for name in FLAGS:
        columns[name] = columns[name] > 0.5
    return Mechanisms(**columns)
