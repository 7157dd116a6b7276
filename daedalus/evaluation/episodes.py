"""Episodes in closed loop. All designers play the same markets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from daedalus.checks import doing
from daedalus.env import DesignEnv, Designer, StepResult
from daedalus.market.mechanism import Mechanisms
from daedalus.market.outcome import Outcome
from daedalus.market.seeds import generator, market_seeds
from daedalus.phases import EVALUATION, phase
from daedalus.rewards.stack import RewardStack

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
"""Metrics of a step, see ``play_episodes``."""

AT_ONCE = 50_000
"""Most episodes that are played side by side."""

OBJECTIVE = "objective"
"""Column of the reward that designers were made for, if this is not R alone."""


def play_episodes(
    env: DesignEnv,
    designer: Designer,
    seeds: NDArray[np.uint64],
    rng: np.random.Generator,
    stack: RewardStack | None = None,
) -> pd.DataFrame:
    """Let a designer play one episode for each seed, side by side, to the end.

    More than ``AT_ONCE`` episodes are played in pieces, so that memory is bounded. The designer
    draws for one piece after the other.

    Args:
        env: The environment that it plays. The episodes that it held are lost.
        designer: Proposes the mechanisms.
        seeds: Market seeds, uint64, shape (E,).
        rng: Random numbers of the designer.
        stack: The reward that the designer was made for. If it is not R alone, the column
            ``OBJECTIVE`` holds it.

    Returns:
        One row for each episode and step, sorted by both: ``episode`` (0 to E - 1), ``step`` (from
        1), and ``METRICS``. ``reward`` is the step's reward in [0, 1]. The market metrics are those
        of the step's last round: ``welfare``, ``fairness``, ``participation``, ``stability``,
        ``collusion_signal`` (all in [0, 1]), ``revenue`` (units of value) and ``revenue_share`` (of
        the value delivered). ``valid`` is whether the proposal was well formed. After a malformed
        proposal no round is played: rewards are 0 and market metrics are NaN.

    Raises:
        ValueError: No market had a bidder left before the first step.
    """
    steps = [
        rows
        for first in range(0, len(seeds), AT_ONCE)
        for rows in _play_piece(env, designer, seeds[first : first + AT_ONCE], first, rng, stack)
    ]
    if not steps:
        raise ValueError(f"none of {len(seeds)} markets has a bidder left after its warm-up")
    table = pd.concat(steps, ignore_index=True)
    columns = ["episode", "step", *_metrics_of(table)]
    return table.sort_values(["episode", "step"], ignore_index=True)[columns]


def _play_piece(
    env: DesignEnv,
    designer: Designer,
    seeds: NDArray[np.uint64],
    first: int,
    rng: np.random.Generator,
    stack: RewardStack | None,
) -> Iterator[pd.DataFrame]:
    """Play some episodes at once, numbered from ``first``; yield the rows of each step."""
    observation = env.reset(seeds)
    while not env.done.all():
        running = np.flatnonzero(~env.done)
        mechanisms = designer.propose(observation, rng)
        result = env.step(mechanisms)
        rows = _step_rows(result, mechanisms)
        if stack is not None and not stack.is_composite:
            total = stack.of_mechanisms(env.scored(result.outcome))
            rows[OBJECTIVE] = np.where(result.played, total, 0.0)
        yield rows.assign(step=env.steps, episode=first + np.arange(len(rows))).iloc[running]
        observation = result.observation


@phase(EVALUATION)
def compare(
    env: DesignEnv,
    designers: Mapping[str, Designer],
    episodes: int,
    seed: int,
    stack: RewardStack | None = None,
) -> pd.DataFrame:
    """Let each designer play the same markets, so that differences are paired by episode.

    Args:
        env: The environment that they play.
        designers: Designers by the name that tables show.
        episodes: Number of episodes of each.
        seed: Seed of the run. Markets and designers have separate random streams.
        stack: The reward that the designers were made for, see ``play_episodes``.

    Returns:
        The rows of ``play_episodes`` for each designer in turn, with the column ``designer`` first.
    """
    seeds = market_seeds(seed, "evaluation", episodes)
    frames = []
    progress = track(designers.items(), "designers", console=Console(stderr=True), transient=True)
    for name, designer in progress:
        with doing(f"designer {name} failed"):
            steps = play_episodes(env, designer, seeds, generator(seed, f"designer/{name}"), stack)
        steps.insert(0, "designer", name)
        frames.append(steps)
    return pd.concat(frames, ignore_index=True)


def episode_means(steps: pd.DataFrame) -> pd.DataFrame:
    """Average the rows of ``compare`` over the steps of each episode.

    Returns:
        One row for each designer and episode: ``designer``, ``episode`` and ``METRICS``. ``valid``
        is the share of well-formed proposals. Market metrics are means over the steps that were
        played, and NaN if there were none.
    """
    by_episode = steps.groupby(["designer", "episode"], sort=False, as_index=False)
    return by_episode[_metrics_of(steps)].mean()


def _metrics_of(table: pd.DataFrame) -> list[str]:
    """Return the metrics of a table: ``METRICS``, and ``OBJECTIVE`` if it has this column."""
    return [*METRICS, *({OBJECTIVE} & set(table))]


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
