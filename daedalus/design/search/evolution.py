"""Differential evolution over mechanisms, with SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from daedalus.design.env import DesignEnv
from daedalus.design.search.budgets import EvolutionBudget
from daedalus.design.search.objective import EpisodeObjective
from daedalus.market.allowed import Allowed, Between
from daedalus.market.goal import Goal, column
from daedalus.market.mechanism import FIELDS, Mechanism, Mechanisms
from daedalus.market.seeds import generator
from daedalus.runs.phases import SEARCH, phase

_PURPOSE = "evolution"


@phase(SEARCH)
def evolve(env: DesignEnv, budget: EvolutionBudget, seed: int) -> Mechanism:
    """Return the best mechanism that evolution finds among those that the goal of ``env`` allows.

    It treats words and flags as integers.
    """
    score, goal = EpisodeObjective([env], seed, _PURPOSE), env.goal
    axes = [goal.values(name) for name in FIELDS]

    def loss(points: Any, /) -> Any:  # (fields, B) to (B,), a shape that SciPy's stubs lack
        return -score(_mechanisms(points, goal), budget.episodes)

    found = scipy.optimize.differential_evolution(
        loss,
        scipy.optimize.Bounds(*np.array([_bounds(each) for each in axes]).T),
        integrality=[not isinstance(each, Between) for each in axes],
        maxiter=budget.generations,
        popsize=budget.population,
        polish=False,
        tol=0.0,
        updating="deferred",
        vectorized=True,
        rng=generator(seed, _PURPOSE),
    )
    return goal.nearest(_mechanisms(found.x[:, None], goal).rounded())[0]


def _bounds(allowed: Allowed) -> tuple[float, float]:
    return allowed if isinstance(allowed, Between) else (0, len(allowed) - 1)


def _mechanisms(points: NDArray[np.float64], goal: Goal) -> Mechanisms:
    """Return the mechanisms of points, shape (fields, B): numbers, or places of allowed values."""
    columns: dict[str, Any] = dict(zip(FIELDS, points, strict=True))
    for name, point in columns.items():
        if not isinstance(allowed := goal.values(name), Between):
            columns[name] = column(name, allowed)[point.round().astype(np.int64)]
    return Mechanisms(**columns)
