"""What mechanisms would earn from here: exact credit for one decision of an episode."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from daedalus.design.env import Episodes
from daedalus.design.search.lookahead import in_parts, play_futures
from daedalus.market.mechanism import Mechanisms
from daedalus.market.outcome import Outcome
from daedalus.market.seeds import market_seeds


def fork_rewards(
    episode: Episodes, mechanisms: Mechanisms, futures: int = 8, horizon: int = 1, seed: int = 0
) -> NDArray[np.float64]:
    """Play every mechanism in futures of one episode, which stays as it is.

    All mechanisms share the futures, so their rewards differ by the mechanisms and not by the
    draws.

    Args:
        episode: One paused episode.
        mechanisms: K mechanisms. Each stays in force; a malformed one earns 0.
        futures: Number of futures. With 0 there is one: the future that the episode itself has, so
            that a horizon of 1 tells the reward of the next step.
        horizon: Steps of each future, which the episode must have left.
        seed: Seed of the futures, 0 or more.

    Returns:
        Mean reward over the steps and the futures, shape (K,).

    Raises:
        ValueError: There are several episodes, or a number is out of range.
    """
    _check(episode, mechanisms, futures, horizon)
    seeds = market_seeds(seed, "fork/futures", futures)
    parts = in_parts(np.arange(len(mechanisms)), max(1, futures))
    found = [_rewards(episode, mechanisms.take(part), seeds, horizon) for part in parts]
    return np.concatenate(found)


def _rewards(
    episode: Episodes, mechanisms: Mechanisms, seeds: NDArray[np.uint64], horizon: int
) -> NDArray[np.float64]:
    """Return the mean reward of each mechanism; without seeds in the episode's own future."""
    rows = np.zeros(len(mechanisms), np.int64)
    if len(seeds):
        shared = np.broadcast_to(seeds, (len(rows), len(seeds)))
        outcome = play_futures(episode, rows, mechanisms, shared, horizon)
    else:
        copies = episode.fork(rows)
        played = [copies.step(mechanisms).scored.records for _ in range(horizon)]
        outcome = Outcome(np.concatenate(played, axis=1), copies.state.units)
    rewards = episode.env.reward.of_mechanisms(outcome)
    return np.asarray(rewards.reshape(len(rows), -1).mean(axis=1))


def _check(episode: Episodes, mechanisms: Mechanisms, futures: int, horizon: int) -> None:
    """Refuse what cannot be played.

    Raises:
        ValueError: There are several episodes, or a number is out of range.
    """
    if len(episode) != 1:
        raise ValueError(f"episode: {len(episode)} episodes; give one")
    if not len(mechanisms):
        raise ValueError("mechanisms: none; give at least one")
    if futures < 0:
        raise ValueError(f"futures: {futures}; give 0 for the episode's own future, or more")
    left = steps_left(episode)
    if not left:
        raise ValueError(f"horizon: {horizon}; the episode has ended, so reset first")
    if not 1 <= horizon <= left:
        raise ValueError(f"horizon: {horizon}; give 1 to {left}, the steps that are left")


def steps_left(episode: Episodes) -> int:
    """Return the number of steps that one episode has left, 0 if it has ended."""
    if episode.done[0]:
        return 0
    return int(episode.env.settings.episode_length - episode.steps[0])
