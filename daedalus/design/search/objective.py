"""What a search maximises: the mean reward of mechanisms that are played for whole episodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from daedalus.design.env import DesignEnv
from daedalus.market.mechanism import Mechanisms
from daedalus.market.seeds import market_seeds

_CHUNK = 65_536  # episodes played at once, about half a gigabyte


Objective = Callable[[Mechanisms, int], NDArray[np.float64]]
"""Maps B mechanisms and a number of episodes to mean scores, shape (B,). All mechanisms play the
same episodes."""


@dataclass(frozen=True)
class EpisodeObjective:
    """Mean reward over whole episodes, averaged over environments.

    Attributes:
        envs: Environments to play in, at least one. Each pays its own reward.
        seed: Seed of the run.
        purpose: Keys the markets. A search must not see the markets of ``"evaluation"``.
    """

    envs: Sequence[DesignEnv]
    seed: int
    purpose: str = "search"

    def __call__(self, mechanisms: Mechanisms, episodes: int, /) -> NDArray[np.float64]:
        """Return the mean reward of each of B mechanisms, shape (B,)."""
        scores = [
            episode_scores(each, mechanisms, episodes, self.seed, self.purpose)
            for each in self.envs
        ]
        means = [each.mean(axis=1) for each in scores]
        return np.asarray(np.mean(means, axis=0), dtype=np.float64)


def episode_scores(
    env: DesignEnv, mechanisms: Mechanisms, episodes: int, seed: int, purpose: str
) -> NDArray[np.float64]:
    """Return the reward of each of B mechanisms in each of the same E episodes, shape (B, E).

    A mechanism is in force for whole episodes. The reward is a mean over their steps.
    """
    seeds = market_seeds(seed, purpose, episodes)
    scores = np.empty(len(mechanisms) * episodes)
    for start in range(0, len(scores), _CHUNK):
        pairs = np.arange(start, min(start + _CHUNK, len(scores)))
        chunk = mechanisms.take(pairs // episodes)
        scores[pairs] = env.reset(seeds[pairs % episodes]).mean_rewards(chunk)
    return scores.reshape(len(mechanisms), episodes)
