"""Lessons of many objectives: the best mechanism of the portfolio for each prompt's own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from daedalus.design.env import DesignEnv
from daedalus.design.rewards.objectives import Objectives
from daedalus.design.rewards.stack import RewardStack
from daedalus.design.search.objective import episode_scores
from daedalus.market.mechanism import Mechanism, Mechanisms

_EPISODES = 256


def best_known(
    env: DesignEnv, portfolio: Mechanisms, goals: NDArray[np.object_], seed: int
) -> list[Mechanism]:
    """Return the mechanism of the portfolio that earns most by each of B goals.

    Args:
        env: Where the mechanisms are played, each for the same whole episodes.
        portfolio: M mechanisms.
        goals: B goals, which name the same terms in the same order.
        seed: Seed of the episodes.
    """
    objectives = Objectives.of(goals)
    worth = objectives.weights @ _terms(env, portfolio, objectives.terms, seed)
    return [portfolio[int(each)] for each in worth.argmax(axis=1)]


def _terms(
    env: DesignEnv, portfolio: Mechanisms, terms: tuple[str, ...], seed: int
) -> NDArray[np.float64]:
    """Return the mean of T terms under each of M mechanisms, shape (T, M)."""
    alone = [replace(env, reward=RewardStack({name: 1.0})) for name in terms]
    played = [episode_scores(each, portfolio, _EPISODES, seed, "objectives") for each in alone]
    return np.stack([each.mean(axis=1) for each in played])
