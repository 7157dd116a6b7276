"""Evolutionary search over mechanisms: differential evolution with SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, differential_evolution

from daedalus.designers.planner import EvolutionSettings
from daedalus.env import DesignEnv
from daedalus.evaluation.episodes import score_mechanisms
from daedalus.market.mechanism import CHOICES, FIELDS, FLAGS, RANGES, Mechanism, Mechanisms
from daedalus.market.seeds import generator


def evolve(env: DesignEnv, settings: EvolutionSettings, seed: int) -> Mechanism:
    """Return the fittest mechanism: words and flags are integers, the rest is continuous.

    Args:
        env: Where they are played; what it held before is lost.
        settings: Budget.
        seed: Seed of the run; markets are those of a search.
    """

    def loss(points: Any, /) -> Any:  # (fields, B) to (B,), which SciPy's stubs do not know
        rules = _mechanisms(points)
        return -score_mechanisms(env, rules, settings.episodes, seed, "evolution")

    found = differential_evolution(
        loss,
        Bounds(*np.array([_bounds(name) for name in FIELDS]).T),
        integrality=[name not in RANGES for name in FIELDS],
        maxiter=settings.generations,
        popsize=settings.population,
        polish=False,
        tol=0.0,
        updating="deferred",
        vectorized=True,
        rng=generator(seed, "evolution"),
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
