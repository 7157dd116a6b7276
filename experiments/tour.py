"""Measure every stop of the guided tour: the cost of the attack, and the gain from the change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from daedalus.config import Config
from daedalus.env import DesignEnv
from daedalus.evaluation.settings import EvaluationSettings
from daedalus.evaluation.statistics import bootstrap_interval
from daedalus.market.mechanism import Mechanisms
from daedalus.market.seeds import generator, market_seeds
from daedalus.rewards.stack import RewardStack
from daedalus.search.objective import episode_scores
from daedalus.service.page.tour import STOPS, Stop
from experiments.build import make_envs, tracked


def main(config: Config, out: Path) -> None:
    """Score both mechanisms of every stop on the same markets, and play the stop like a visitor."""
    envs = make_envs(config)
    rows = [measure(stop, envs[stop.population], config.evaluation, config.seed) for stop in STOPS]
    table = pd.DataFrame(rows)
    with tracked(config, out) as (_, report):
        report.table(table, "summary")
        report.show(table, "mean R; gain: change half-way, with quartiles over seeds")


def measure(
    stop: Stop, env: DesignEnv, settings: EvaluationSettings, seed: int
) -> dict[str, str | float]:
    """Return a stop's row of the table.

    Returns:
        The names ``stop`` and ``changed``. Mean R of whole episodes under either mechanism
        (``hurt``, ``fixed``), and their mean paired ``difference`` with its interval. The
        ``gain`` of a change half-way on the stop's own seed, and its quartiles over the seeds from
        0 (``gain_low``, ``gain_high``). The gain ``over_staying``, compared with no change.
    """
    hurt, fixed = scores(stop, env, settings.episodes, seed)
    gains = switch_gains(stop, env, range(settings.episodes))[0]
    own, over_staying = switch_gains(stop, env, [stop.seed])
    rng = generator(seed, f"bootstrap/{stop.name}")
    low, high = bootstrap_interval([fixed - hurt], np.mean, settings, rng)
    return {
        "stop": stop.name,
        "changed": ", ".join(stop.changed),
        "hurt": hurt.mean(),
        "fixed": fixed.mean(),
        "difference": (fixed - hurt).mean(),
        "difference_low": low,
        "difference_high": high,
        "gain": own[0],
        "gain_low": np.quantile(gains, 0.25),
        "gain_high": np.quantile(gains, 0.75),
        "over_staying": over_staying[0],
    }


def scores(stop: Stop, env: DesignEnv, episodes: int, seed: int) -> NDArray[np.float64]:
    """Return R of whole episodes under the stop's two mechanisms, paired, shape (2, episodes)."""
    mechanisms = Mechanisms.stack([stop.hurt, stop.fixed])
    return episode_scores(env, RewardStack(), mechanisms, episodes, seed, "tour")


def switch_gains(
    stop: Stop, env: DesignEnv, seeds: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Play the first half of each episode under ``hurt``, and the second half under ``fixed``.

    Args:
        stop: The stop that is played.
        env: Where it is played; its episodes are replaced.
        seeds: S seeds, as visitors give them to the service.

    Returns:
        Mean R of the second half minus that of the first, and minus that of a second half under
        ``hurt``, both of shape (S,).
    """
    markets = np.concatenate([market_seeds(seed, "service", 1) for seed in seeds])
    half = env.settings.episode_length // 2
    hurt, fixed = (Mechanisms.repeat(each, len(markets)) for each in (stop.hurt, stop.fixed))
    env.reset(markets)
    first = _mean_reward(env, hurt, half)
    stayed = _mean_reward(env.fork(np.arange(len(markets))), hurt, half)
    changed = _mean_reward(env, fixed, half)
    return changed - first, changed - stayed


def _mean_reward(env: DesignEnv, mechanisms: Mechanisms, steps: int) -> NDArray[np.float64]:
    rewards = [env.step(mechanisms).reward for _ in range(steps)]
    return np.asarray(np.mean(rewards, axis=0), dtype=np.float64)
