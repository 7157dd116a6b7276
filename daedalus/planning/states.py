"""Market states in mid-episode: what prompts describe and completions are scored in."""

from __future__ import annotations

import numpy as np

from daedalus.designers.random import random_mechanisms
from daedalus.env import DesignEnv
from daedalus.market.mechanism import Mechanisms
from daedalus.market.seeds import generator, market_seeds

_KEEP_PROBABILITY = 0.7


def mid_episode_states(
    env: DesignEnv,
    count: int,
    seed: int,
    purpose: str,
    horizon: int = 1,
    rules: Mechanisms | None = None,
) -> DesignEnv:
    """Play ``count`` episodes each to a random step, under random rules that change now and then.

    Under uniformly random rules a market tells little of who is in it: most reserves and fines
    keep nearly everybody out. ``rules`` are therefore better ones to draw from.

    Args:
        env: An environment, whose own episodes are left alone.
        count: Number of states.
        seed: What the states depend on.
        purpose: What they are for; another purpose, other states.
        horizon: Steps that must be left in each episode.
        rules: Mechanisms to draw from; None draws uniformly from all that are valid.

    Returns:
        ``count`` paused episodes, their steps uniform from 0 to the last that leaves the horizon.

    Raises:
        ValueError: The horizon is longer than an episode.
    """
    last = env.settings.episode_length - horizon
    if last < 0:
        raise ValueError(f"horizon: {horizon}; an episode has {env.settings.episode_length} steps")
    rng = generator(seed, f"states/{purpose}")
    states = DesignEnv(env.market, env.settings)
    states.reset(market_seeds(seed, f"states/{purpose}", count))
    stops = rng.integers(0, last + 1, size=count)
    playing = _drawn(rules, count, rng)
    for step in range(last):
        rows = np.flatnonzero(stops > step)
        moving = states.fork(rows)
        moving.advance(playing.take(rows))
        states.put(rows, moving)
        changing = np.flatnonzero(rng.random(count) > _KEEP_PROBABILITY)
        playing = playing.replace(changing, _drawn(rules, len(changing), rng))
    return states


def _drawn(rules: Mechanisms | None, count: int, rng: np.random.Generator) -> Mechanisms:
    if rules is None:
        return random_mechanisms(count, rng)
    return rules.take(rng.integers(len(rules), size=count))
