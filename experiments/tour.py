"""Measure each stop of the guided tour: the cost of the attack and the gain of the remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from daedalus.design.env import DesignEnv, Episodes
from daedalus.design.search.objective import episode_scores
from daedalus.evaluation.settings import EvaluationSettings
from daedalus.evaluation.statistics import estimate
from daedalus.launch.config.tasks import Tour
from daedalus.launch.tracked import tracked
from daedalus.market.mechanism import Mechanisms
from daedalus.market.seeds import generator, market_seeds
from daedalus.service.page.page_messages import TourStop
from daedalus.service.page.tour import STOPS


def main(config: Tour, out: Path) -> None:
    """Score both mechanisms of each stop on the same markets, and play each stop as a visitor."""
    market, evaluation = config.market, config.evaluation

    def env_of(name: str) -> DesignEnv:  # judged by R
        return DesignEnv.of(market, config.populations[name].in_market(market.name))

    rows = [measure(stop, env_of(stop.population), evaluation, config.seed) for stop in STOPS]
    table = pd.DataFrame(rows)
    with tracked(config, out) as (_, report):
        title = (
            "mean R; gain: the remedy halfway through an episode, on the stop's seed; its "
            "quartiles are over seeds, and no interval"
        )
        report.table(table, "summary", title)


def measure(
    stop: TourStop, env: DesignEnv, settings: EvaluationSettings, seed: int
) -> dict[str, str | float]:
    """Return the row of a stop.

    Returns:
        - ``stop`` and the ``changed`` fields.
        - Mean R of whole episodes under each mechanism, ``hurt`` and ``fixed``, and the mean
          paired ``difference`` with its interval.
        - ``gain``: what changing the mechanism halfway gains on the stop's own seed.
        - ``gain_first_quartile`` and ``gain_third_quartile``: those of this gain over seeds from 0,
          which are no interval of it.
        - ``over_staying``: the gain on the stop's seed over not changing the mechanism.
    """
    hurt, fixed = scores(stop, env, settings.episodes, seed)
    gains = switch_gains(stop, env, range(settings.episodes))[0]
    own, over_staying = switch_gains(stop, env, [stop.seed])
    rng = generator(seed, f"bootstrap/{stop.name}")
    difference = estimate("difference", [fixed - hurt], np.mean, settings, rng)
    return {
        "stop": stop.name,
        "changed": ", ".join(stop.changed),
        "hurt": hurt.mean(),
        "fixed": fixed.mean(),
        **difference,
        "gain": own[0],
        "gain_first_quartile": np.quantile(gains, 0.25),
        "gain_third_quartile": np.quantile(gains, 0.75),
        "over_staying": over_staying[0],
    }


def scores(stop: TourStop, env: DesignEnv, episodes: int, seed: int) -> NDArray[np.float64]:
    """Return paired R of whole episodes under the stop's two mechanisms, shape (2, episodes)."""
    mechanisms = Mechanisms.stack([stop.hurt.to_mechanism(), stop.fixed.to_mechanism()])
    return episode_scores(env, mechanisms, episodes, seed, "tour")


def switch_gains(
    stop: TourStop, env: DesignEnv, seeds: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Play the first half of episodes under ``stop.hurt`` and the second under ``stop.fixed``.

    The S seeds are as visitors give them to the service.

    Returns:
        Mean R of the second half, minus that of the first half; and minus that of a second half
        under ``stop.hurt``. Both have shape (S,).
    """
    markets = np.concatenate([market_seeds(seed, "service", 1) for seed in seeds])
    half = env.settings.episode_length // 2
    hurt, fixed = (
        Mechanisms.repeat(each.to_mechanism(), len(markets)) for each in (stop.hurt, stop.fixed)
    )
    episodes = env.reset(markets)
    first = _mean_r(episodes, hurt, half)
    stayed = _mean_r(episodes.fork(np.arange(len(markets))), hurt, half)
    mended = _mean_r(episodes, fixed, half)
    return mended - first, mended - stayed


def _mean_r(episodes: Episodes, mechanisms: Mechanisms, steps: int) -> NDArray[np.float64]:
    rewards = [episodes.step(mechanisms).composite for _ in range(steps)]
    return np.asarray(np.mean(rewards, axis=0), dtype=np.float64)
