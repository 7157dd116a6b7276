"""What a mechanism is worth under a brief: its rules, its objective, and the score of both."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from daedalus.design.briefs.brief import Brief
from daedalus.design.env import DesignEnv
from daedalus.design.rewards.terms import MARKET_TERMS, mean_over_rounds
from daedalus.market.goal import Goal
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.seeds import market_seeds

TERMS = tuple(MARKET_TERMS)
EPISODES = 64
"""Futures on which briefs are scored and floors are checked."""
PURPOSE, SEED = "briefs", 0
"""They key these futures, whatever the seed of the run. A search and training play others."""
_CHUNK = 32_768  # episodes played at once


@dataclass(frozen=True)
class Verdict:
    """What a mechanism comes to under a brief.

    Attributes:
        broken: What it breaks, in words: rules of fields, and floors.
        objective: Mean of the brief's reward over the futures.
        score: 0 if a rule is broken or chance does better, else the objective between the brief's
            ends; NaN without ends.
    """

    broken: tuple[str, ...]
    objective: float
    score: float

    @property
    def keeps_rules(self) -> bool:
        """Return whether no rule is broken."""
        return not self.broken

    @property
    def reward(self) -> float:
        """Return the score; without ends the objective, or 0 if a rule is broken."""
        if math.isfinite(self.score):
            return self.score
        return self.objective if self.keeps_rules else 0.0


NO_MECHANISM = Verdict(("no valid mechanism",), math.nan, 0.0)
"""What an answer comes to that holds no mechanism."""


def mean_terms(
    env: DesignEnv, mechanisms: Mechanisms, episodes: int, seed: int, purpose: str = PURPOSE
) -> NDArray[np.float64]:
    """Play each of B mechanisms in the same whole episodes; the environment's reward is not used.

    Returns:
        Mean of each of ``TERMS`` over steps and episodes, shape (B, T).
    """
    seeds = market_seeds(seed, purpose, episodes)
    at_once = max(1, _CHUNK // episodes)
    chunks = [
        mechanisms.take(np.arange(start, min(start + at_once, len(mechanisms))))
        for start in range(0, len(mechanisms), at_once)
    ]
    return np.concatenate([_chunk_terms(env, each, seeds) for each in chunks])


def _chunk_terms(
    env: DesignEnv, mechanisms: Mechanisms, seeds: NDArray[np.uint64]
) -> NDArray[np.float64]:
    pairs = np.arange(len(mechanisms) * len(seeds))
    played = mechanisms.take(pairs // len(seeds))
    episodes = env.reset(seeds[pairs % len(seeds)])
    total = np.zeros((len(pairs), len(TERMS)))
    while not episodes.done.all():
        scored = episodes.step(played).scored
        total += np.stack([mean_over_rounds(name, scored) for name in TERMS], axis=1)
    means = total / np.maximum(episodes.steps, 1)[:, None]
    return np.asarray(means.reshape(len(mechanisms), len(seeds), -1).mean(axis=1))


def objective(terms: NDArray[np.float64], reward: Mapping[str, float]) -> NDArray[np.float64]:
    """Return the weighted sum of terms, shape (B,); ``terms`` has the shape (B, T)."""
    weights = np.array([reward.get(name, 0.0) for name in TERMS])
    return np.asarray(terms @ weights)


def shortfall(
    terms: NDArray[np.float64], floors: Mapping[str, float], margin: float = 0.0
) -> NDArray[np.float64]:
    """Return by how much means fall short of floors, in sum, shape (B,); 0 if they do not.

    Args:
        terms: Means of ``TERMS``, shape (B, T).
        floors: Least means by term.
        margin: What is added to each floor.
    """
    total = np.zeros(len(terms))
    for name, least in floors.items():
        total += np.maximum(0.0, least + margin - terms[:, TERMS.index(name)])
    return total


def judge(brief: Brief, mechanism: Mechanism, env: DesignEnv) -> Verdict:
    """Return what a mechanism comes to under a brief, in the market of the brief's bidders."""
    terms = mean_terms(env, Mechanisms.stack([mechanism]), EPISODES, SEED)
    return verdict(brief, mechanism, terms[0])


def verdict(brief: Brief, mechanism: Mechanism, terms: NDArray[np.float64]) -> Verdict:
    """Return what a mechanism comes to whose mean terms are known, shape (T,)."""
    broken = broken_rules(brief, mechanism, terms)
    reached = float(objective(terms[None], brief.reward)[0])
    if brief.scale is None:
        return Verdict(broken, reached, float("nan"))
    floor, ceiling = brief.scale.floor, brief.scale.ceiling
    score = 0.0 if broken else max(0.0, (reached - floor) / (ceiling - floor))
    return Verdict(broken, reached, score)


def broken_rules(brief: Brief, mechanism: Mechanism, terms: NDArray[np.float64]) -> tuple[str, ...]:
    """Return the rules of a brief that a mechanism breaks, each as a short text.

    Args:
        brief: Its fields and floors are the rules.
        mechanism: What is set.
        terms: Its means of ``TERMS``, shape (T,).
    """
    fields = [
        f"{name}: {getattr(mechanism, name)}"
        for name, allowed in brief.allowed.items()
        if not Goal({}, {name: allowed}).admits(mechanism)
    ]
    under = [
        f"{name}: {terms[TERMS.index(name)]:.3f} under {least:g}"
        for name, least in brief.floors.items()
        if terms[TERMS.index(name)] < least
    ]
    return (*fields, *under)
