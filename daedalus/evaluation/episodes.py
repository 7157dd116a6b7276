"""Episodes in closed loop, on the same markets for everybody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from daedalus.designers.base import Designer
from daedalus.env import DesignEnv, StepResult
from daedalus.market.mechanism import Mechanisms
from daedalus.market.outcome import Outcome
from daedalus.market.seeds import generator, market_seeds

METRICS = (
    "reward",
    "welfare",
    "fairness",
    "participation",
    "stability",
    "collusion_signal",
    "revenue",
    "revenue_share",
    "valid",
)
"""What is recorded of a step, see ``play_episodes``."""

_CHUNK = 65_536  # episodes played at once, about half a gigabyte


def play_episodes(
    env: DesignEnv, designer: Designer, seeds: NDArray[np.uint64], rng: np.random.Generator
) -> pd.DataFrame:
    """Let a designer play one episode for each seed, all side by side, to the end.

    Args:
        env: Where it plays; what it held before is lost.
        designer: Who proposes the mechanisms.
        seeds: Market seeds, uint64, shape (E,).
        rng: The designer's own randomness.

    Returns:
        One row for each episode and step until the episode ended, sorted by both: ``episode`` (0
        to E - 1), ``step`` (from 1), and ``METRICS``. ``reward`` is the step's reward in [0, 1];
        ``welfare``, ``fairness``, ``participation``, ``stability``, ``collusion_signal`` (all in
        [0, 1]), ``revenue`` (units of value) and ``revenue_share`` (of the value delivered) are
        those of the step's last round; ``valid`` is whether the proposal was well formed. A
        malformed step moved no market: its reward is 0 and its market metrics are NaN.

    Raises:
        ValueError: Every market was empty before the first step.
    """
    observation = env.reset(seeds)
    steps: list[pd.DataFrame] = []
    while not env.done.all():
        running = np.flatnonzero(~env.done)
        mechanisms = designer.propose(observation, rng)
        result = env.step(mechanisms)
        steps.append(_step_rows(result, mechanisms).assign(step=env.steps).iloc[running])
        observation = result.observation
    if not steps:
        raise ValueError(f"none of {len(seeds)} markets has a bidder left after its warm-up")
    rows = pd.concat(steps).rename_axis("episode").reset_index()
    return rows.sort_values(["episode", "step"], ignore_index=True)[["episode", "step", *METRICS]]


def compare(
    env: DesignEnv, designers: Mapping[str, Designer], episodes: int, seed: int
) -> pd.DataFrame:
    """Let every designer play the same markets, so that differences are paired by episode.

    Args:
        env: Where they play.
        designers: Designers by the name that tables show.
        episodes: Episodes of each.
        seed: Seed of the run; markets and designers draw from separate streams below it.

    Returns:
        The rows of ``play_episodes`` for each designer in turn, with the column ``designer`` first.
    """
    seeds = market_seeds(seed, "evaluation", episodes)
    frames = []
    progress = track(designers.items(), "designers", console=Console(stderr=True), transient=True)
    for name, designer in progress:
        steps = play_episodes(env, designer, seeds, generator(seed, f"designer/{name}"))
        steps.insert(0, "designer", name)
        frames.append(steps)
    return pd.concat(frames, ignore_index=True)


def episode_means(steps: pd.DataFrame) -> pd.DataFrame:
    """Average the rows of ``compare`` over the steps of each episode.

    Returns:
        One row for each designer and episode: ``designer``, ``episode`` and ``METRICS``. ``valid``
        becomes the share of well-formed proposals. Market metrics average the steps in which the
        market moved, and are NaN if there were none.
    """
    by_episode = steps.groupby(["designer", "episode"], sort=False, as_index=False)
    return by_episode[list(METRICS)].mean()


def score_mechanisms(
    env: DesignEnv, mechanisms: Mechanisms, episodes: int, seed: int, purpose: str = "search"
) -> NDArray[np.float64]:
    """Return the means over episodes of ``episode_scores``, shape (B,), in [0, 1].

    ``partial(score_mechanisms, env, seed=seed)`` is the ``Score`` of ``successive_halving``.
    """
    scores = episode_scores(env, mechanisms, episodes, seed, purpose)
    means: NDArray[np.float64] = scores.mean(axis=1)
    return means


def score_everywhere(
    envs: Sequence[DesignEnv],
    mechanisms: Mechanisms,
    episodes: int,
    seed: int,
    purpose: str = "search",
) -> NDArray[np.float64]:
    """Return the mean of ``score_mechanisms`` over environments, shape (B,), in [0, 1]."""
    scores = [score_mechanisms(each, mechanisms, episodes, seed, purpose) for each in envs]
    mean: NDArray[np.float64] = np.mean(scores, axis=0)
    return mean


def episode_scores(
    env: DesignEnv, mechanisms: Mechanisms, episodes: int, seed: int, purpose: str
) -> NDArray[np.float64]:
    """Score fixed mechanisms, each kept up over the same whole episodes.

    Args:
        env: Where they are played; what it held before is lost.
        mechanisms: B mechanisms.
        episodes: Episodes E of each, shared by all.
        seed: Seed of the run.
        purpose: Keys the markets. Those of ``"search"`` are not those of ``compare``, whose
            ``"evaluation"`` a search must not see.

    Returns:
        Reward averaged over an episode's steps, shape (B, E), in [0, 1].
    """
    seeds = market_seeds(seed, purpose, episodes)
    scores = np.empty(len(mechanisms) * episodes)
    for start in range(0, len(scores), _CHUNK):
        pairs = np.arange(start, min(start + _CHUNK, len(scores)))
        chunk = mechanisms.take(pairs // episodes)
        scores[pairs] = _mean_rewards(env, chunk, seeds[pairs % episodes])
    return scores.reshape(len(mechanisms), episodes)


def _mean_rewards(
    env: DesignEnv, mechanisms: Mechanisms, seeds: NDArray[np.uint64]
) -> NDArray[np.float64]:
    """Return each episode's mean reward over its steps under its mechanism, shape (E,)."""
    env.reset(seeds)
    total = np.zeros(len(seeds))
    while not env.done.all():
        total += env.step(mechanisms).reward
    mean: NDArray[np.float64] = total / np.maximum(env.steps, 1)
    return mean


def _step_rows(result: StepResult, mechanisms: Mechanisms) -> pd.DataFrame:
    """Return one row of ``METRICS`` for each episode of the batch."""
    last = Outcome(result.outcome.records[:, -1:])
    columns = {
        "welfare": last.welfare,
        "fairness": last.fairness,
        "participation": last.participation,
        "stability": last.stability,
        "collusion_signal": last.field("collusion_signal"),
        "revenue": last.field("revenue"),
        "revenue_share": last.field("revenue_share"),
    }
    rows = {name: np.where(result.played, each[:, 0], np.nan) for name, each in columns.items()}
    return pd.DataFrame({"reward": result.reward, **rows, "valid": ~mechanisms.malformed})
