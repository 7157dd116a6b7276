"""Market states in mid-episode: what prompts describe, and where rules are compared."""

from __future__ import annotations

import numpy as np

from daedalus.designers.base import Designer
from daedalus.designers.random import random_mechanisms
from daedalus.env import DesignEnv
from daedalus.market.mechanism import Mechanisms
from daedalus.market.outcome import Observation
from daedalus.market.seeds import generator, market_seeds

_KEEP_PROBABILITY = 0.7


class Wanderer:
    """Draws rules at random and keeps most of them from one step to the next.

    Under uniformly random rules a market tells little of who is in it: most reserves and fines
    keep nearly everybody out. ``rules`` are therefore better ones to draw from.

    Args:
        rules: Mechanisms to draw from; None draws uniformly from all that are valid.
    """

    def __init__(self, rules: Mechanisms | None = None) -> None:
        self._rules = rules

    def propose(self, observations: Observation, rng: np.random.Generator) -> Mechanisms:
        """Return the rules in force, changed at random; all are drawn before the first step."""
        count = len(observations)
        if not observations.round_number.any():
            return self.draw(count, rng)
        changing = np.flatnonzero(rng.random(count) > _KEEP_PROBABILITY)
        return observations.mechanisms.replace(changing, self.draw(len(changing), rng))

    def draw(self, count: int, rng: np.random.Generator) -> Mechanisms:
        """Return ``count`` fresh mechanisms."""
        if self._rules is None:
            return random_mechanisms(count, rng)
        return self._rules.take(rng.integers(len(self._rules), size=count))


class Explorer:
    """Proposes what a designer does, but now and then what a wanderer would draw.

    Args:
        designer: Who is followed.
        rules: What is drawn instead.
        probability: How often, 0 to 1.
    """

    def __init__(self, designer: Designer, rules: Mechanisms, probability: float) -> None:
        self._designer = designer
        self._wanderer = Wanderer(rules)
        self._probability = probability

    def propose(self, observations: Observation, rng: np.random.Generator) -> Mechanisms:
        """Return the designer's mechanisms, some of them replaced."""
        exploring = np.flatnonzero(rng.random(len(observations)) < self._probability)
        drawn = self._wanderer.draw(len(exploring), rng)
        return self._designer.propose(observations, rng).replace(exploring, drawn)


def mid_episode_states(
    env: DesignEnv,
    count: int,
    seed: int,
    purpose: str,
    horizon: int = 1,
    designer: Designer | None = None,
) -> DesignEnv:
    """Play ``count`` episodes each to a random step.

    Args:
        env: An environment, whose own episodes are left alone.
        count: Number of states.
        seed: What the states depend on.
        purpose: What they are for; another purpose, other states.
        horizon: Steps that must be left in each episode.
        designer: Who sets the rules until then; None is a ``Wanderer`` among all that are valid.

    Returns:
        ``count`` paused episodes, their steps uniform from 0 to the last that leaves the horizon.

    Raises:
        ValueError: The horizon is longer than an episode.
    """
    last = env.settings.episode_length - horizon
    if last < 0:
        raise ValueError(f"horizon: {horizon}; an episode has {env.settings.episode_length} steps")
    designer = designer or Wanderer()
    rng = generator(seed, f"states/{purpose}")
    states = DesignEnv(env.market, env.settings)
    states.reset(market_seeds(seed, f"states/{purpose}", count))
    stops = rng.integers(0, last + 1, size=count)
    for step in range(last):
        proposals = designer.propose(states.observe(), rng)
        rows = np.flatnonzero(stops > step)
        moving = states.fork(rows)
        moving.advance(proposals.take(rows))
        states.put(rows, moving)
    return states
