"""Signal and noise of training rewards: forked states against the published recipe."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from daedalus.design.env import DesignEnv, Episodes
from daedalus.design.search.space import random_mechanisms
from daedalus.design.search.states import mid_episode_states
from daedalus.market.mechanism import Mechanisms
from daedalus.market.seeds import generator, market_seeds
from daedalus.training.sources.market_reward import MarketReward

Rewards = Callable[[int], NDArray[np.float64]]
"""Takes the number of a draw; returns the rewards of all groups, shape (groups, group size)."""

PUBLISHED = "new stage-0 market each"
NEW_MARKET = "new market each"
SHARED_MARKET = "one new market for a group"
"""Common random numbers without forks: each group begins one episode anew."""
OWN_FUTURE = "forked state, own future"


def shared_futures(count: int) -> str:
    """Return the name of the recipe that shares ``count`` futures in a group."""
    return f"forked state, {count} shared"


def reward_recipes(
    env: DesignEnv, stage0: DesignEnv, groups: int, group_size: int, seed: int
) -> dict[str, Rewards]:
    """Return ways to reward the same random mechanisms, one group for each mid-episode state.

    Args:
        env: Environment of the states.
        stage0: Environment that the recipe of the published system resets for each completion.
        groups: Number of states.
        group_size: Number of mechanisms in each state.
        seed: Seed of states and mechanisms.
    """
    states = mid_episode_states(env, groups, seed, "signal")
    mechanisms = random_mechanisms(groups * group_size, generator(seed, "signal"))
    rows = np.repeat(np.arange(groups), group_size)
    shape = (groups, group_size)

    each = np.arange(len(rows))
    first_steps = {
        PUBLISHED: _first_steps(stage0, mechanisms, each, seed, "published", shape),
        NEW_MARKET: _first_steps(env, mechanisms, each, seed, "new market", shape),
        SHARED_MARKET: _first_steps(env, mechanisms, rows, seed, "shared market", shape),
    }
    own = _in_futures(states.fork(rows), mechanisms, each, 1, seed, shape)
    shared = {
        shared_futures(count): _in_futures(states, mechanisms, rows, count, seed, shape)
        for count in (1, 8, 64)
    }
    return {**first_steps, OWN_FUTURE: own, **shared}


def _first_steps(
    env: DesignEnv,
    mechanisms: Mechanisms,
    markets: NDArray[np.int64],
    seed: int,
    purpose: str,
    shape: tuple[int, int],
) -> Rewards:
    """Return rewards of first steps; ``markets`` has the number of each mechanism's new market."""

    def rewards(draw: int) -> NDArray[np.float64]:
        seeds = market_seeds(seed, purpose, int(markets.max()) + 1, draw)[markets]
        return env.reset(seeds).step(mechanisms).reward.reshape(shape)

    return rewards


def _in_futures(
    states: Episodes,
    mechanisms: Mechanisms,
    rows: NDArray[np.int64],
    futures: int,
    seed: int,
    shape: tuple[int, int],
) -> Rewards:
    reward = MarketReward(states, futures, horizon=1, seed=seed)
    numbers = rows.tolist()
    return lambda draw: reward.score_mechanisms(mechanisms, numbers, draw).reshape(shape)


def signal_to_noise(recipes: dict[str, Rewards], draws: int) -> pd.DataFrame:
    """Measure each recipe over independent draws.

    GRPO learns from advantages, which are rewards minus the mean of their group. The signal is the
    variance of the expected advantage over mechanisms. The noise is the variance over draws around
    it. The truth is the expected advantage under the last recipe.

    Returns:
        One row for each recipe: name of the ``reward``; variances of ``signal`` and ``noise``,
        their ratio ``signal_to_noise``; and ``correlation`` of a single draw with the truth.
    """
    samples = {name: np.stack([draw(i) for i in range(draws)]) for name, draw in recipes.items()}
    centred = {name: each - each.mean(axis=2, keepdims=True) for name, each in samples.items()}
    truth = list(centred.values())[-1].mean(axis=0)
    return pd.DataFrame([_row(name, each, truth) for name, each in centred.items()])


def _row(
    name: str, centred: NDArray[np.float64], truth: NDArray[np.float64]
) -> dict[str, str | float]:
    noise = float(centred.var(axis=0, ddof=1).mean())
    signal = float(centred.mean(axis=0).var()) - noise / len(centred)
    draws = centred.reshape(len(centred), -1)
    correlations = [np.corrcoef(draw, truth.ravel())[0, 1] for draw in draws]
    return {
        "reward": name,
        "signal": signal,
        "noise": noise,
        "signal_to_noise": signal / noise,
        "correlation": float(np.mean(correlations)),
    }
