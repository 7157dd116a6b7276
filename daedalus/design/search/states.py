"""Market states in mid-episode: prompts describe them, and searches compare mechanisms in them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from daedalus.design.env import DesignEnv, Designer, Episodes
from daedalus.design.search.space import random_allowed
from daedalus.market.goal import nearest_allowed
from daedalus.market.mechanism import Mechanisms
from daedalus.market.observation import Observation
from daedalus.market.seeds import generator, market_seeds

_KEEP_PROBABILITY = 0.7


class RandomWalkDesigner:
    """Draws mechanisms at random and keeps most of them from one step to the next.

    Under uniformly random mechanisms a market says little about its population: most reserves and
    fines keep nearly all bidders out. A portfolio of better mechanisms to draw from avoids this.
    """

    def __init__(self, portfolio: Mechanisms | None = None) -> None:
        self._portfolio = portfolio

    def propose(self, observations: Observation, rng: np.random.Generator) -> Mechanisms:
        """Return the mechanisms in force, some redrawn; all are drawn before the first step."""
        count = len(observations)
        if not observations.round_number.any():
            return self.draw(observations, np.arange(count), rng)
        changing = np.flatnonzero(rng.random(count) > _KEEP_PROBABILITY)
        drawn = self.draw(observations, changing, rng)
        kept = nearest_allowed(observations.mechanisms, observations.goals)
        return kept.replace(changing, drawn)

    def draw(
        self, observations: Observation, rows: NDArray[np.intp], rng: np.random.Generator
    ) -> Mechanisms:
        """Return fresh mechanisms for some rows of the observed markets, in order."""
        goals = observations.goals[rows] if len(observations.goals) else observations.goals
        if self._portfolio is None:
            return random_allowed(len(rows), rng, goals)
        drawn = self._portfolio.take(rng.integers(len(self._portfolio), size=len(rows)))
        return nearest_allowed(drawn, goals)


class EpsilonGreedyExplorer:
    """Follows a designer, and with some probability plays one of the portfolio's mechanisms."""

    def __init__(self, designer: Designer, portfolio: Mechanisms, probability: float) -> None:
        self._designer = designer
        self._random_walk = RandomWalkDesigner(portfolio)
        self._probability = probability

    def propose(self, observations: Observation, rng: np.random.Generator) -> Mechanisms:
        """Return the designer's mechanisms, some of them replaced."""
        exploring = np.flatnonzero(rng.random(len(observations)) < self._probability)
        drawn = self._random_walk.draw(observations, exploring, rng)
        return self._designer.propose(observations, rng).replace(exploring, drawn)


def mid_episode_states(
    env: DesignEnv,
    count: int,
    seed: int,
    purpose: str,
    horizon: int = 1,
    designer: Designer | None = None,
    goals: NDArray[np.object_] | None = None,
) -> Episodes:
    """Play ``count`` episodes, each to a random step.

    Args:
        env: The environment.
        count: Number of states.
        seed: Seed of the states.
        purpose: Keys the states; another purpose gives other states.
        horizon: Steps that must be left in each episode.
        designer: Sets the mechanisms until then; None is a ``RandomWalkDesigner`` over all valid
            mechanisms.
        goals: The goal of each episode, shape (count,); None is that of the environment.

    Returns:
        ``count`` paused episodes. Their steps are uniform from 0 to the last step that leaves the
        horizon.

    Raises:
        ValueError: The horizon is longer than an episode.
    """
    last = env.settings.episode_length - horizon
    if last < 0:
        raise ValueError(f"horizon: {horizon}; an episode has {env.settings.episode_length} steps")
    designer = designer or RandomWalkDesigner()
    rng = generator(seed, f"states/{purpose}")
    seeds = market_seeds(seed, f"states/{purpose}", count)
    states = replace(env.reset(seeds), goals=goals)
    stops = rng.integers(0, last + 1, size=count)
    for step in range(last):
        proposals = designer.propose(states.observe(), rng)
        rows = np.flatnonzero(stops > step)
        moving = states.fork(rows)
        moving.step(proposals.take(rows))
        states.put(rows, moving)
    return states
