"""Episodes in closed loop. All designers play the same markets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from daedalus.checks import doing
from daedalus.env import DesignEnv, Designer
from daedalus.evaluation.answers import AnswerLog
from daedalus.market.mechanism import CHOICES, FIELDS, Mechanisms
from daedalus.market.outcome import Outcome
from daedalus.market.seeds import generator, market_seeds
from daedalus.rewards.stack import RewardStack
from daedalus.runs.phases import EVALUATION, phase

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

Note = Callable[[int, NDArray[np.integer[Any]]], None]
"""Is told the step and the number of each episode after a proposal; -1 for those that ended."""


def play_episodes(
    env: DesignEnv,
    designer: Designer,
    seeds: NDArray[np.uint64],
    rng: np.random.Generator,
    stack: RewardStack | None = None,
    note: Note | None = None,
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
        note: Is called after each proposal; None notes nothing.

    Returns:
        One row for each episode and step, sorted by both: ``episode`` (0 to E - 1), ``step`` (from
        1), ``METRICS``, and the eleven fields of the proposal. ``reward`` is the step's reward in
        [0, 1], the mean R of its scored rounds. The market metrics are means over the same rounds:
        ``welfare``, ``fairness``, ``participation``, ``stability``, ``collusion_signal`` (all in
        [0, 1]), ``revenue`` (units of value in a round) and ``revenue_share`` (of the value
        delivered). With several scored rounds the product of the mean factors differs a little from
        the mean of the products. ``valid`` is whether the proposal was well formed. After a
        malformed proposal no round is played: rewards are 0, and market metrics and fields are NaN.

    Raises:
        ValueError: No market had a bidder left before the first step.
    """
    steps = [
        rows
        for first in range(0, len(seeds), AT_ONCE)
        for rows in _play_piece(
            env, designer, seeds[first : first + AT_ONCE], first, rng, stack, note
        )
    ]
    if not steps:
        raise ValueError(f"none of {len(seeds)} markets has a bidder left after its warm-up")
    table = pd.concat(steps, ignore_index=True)
    columns = ["episode", "step", *_metrics_of(table), *FIELDS]
    return table.sort_values(["episode", "step"], ignore_index=True)[columns]


def _play_piece(
    env: DesignEnv,
    designer: Designer,
    seeds: NDArray[np.uint64],
    first: int,
    rng: np.random.Generator,
    stack: RewardStack | None,
    note: Note | None,
) -> Iterator[pd.DataFrame]:
    """Play some episodes at once, numbered from ``first``; yield the rows of each step."""
    observation = env.reset(seeds)
    while not env.done.all():
        running, episodes = ~env.done, first + np.arange(len(seeds))
        mechanisms = designer.propose(observation, rng)
        result = env.step(mechanisms)
        scored = env.scored(result.outcome)
        metrics = {"reward": result.reward, **_metrics(scored)}
        metrics["valid"] = ~mechanisms.malformed
        if stack is not None and not stack.is_composite:
            metrics[OBJECTIVE] = stack.of_mechanisms(scored)
        rows = {"episode": episodes, "step": env.steps, **metrics, **written_fields(mechanisms)}
        if note is not None:
            note(int(env.steps.max()), np.where(running, episodes, -1))
        yield pd.DataFrame(rows)[running]
        observation = result.observation


@phase(EVALUATION)
def compare(
    env: DesignEnv,
    designers: Mapping[str, Designer],
    episodes: int,
    seed: int,
    stack: RewardStack | None = None,
    answers: AnswerLog | None = None,
) -> pd.DataFrame:
    """Let each designer play the same markets, so that differences are paired by episode.

    Args:
        env: The environment that they play.
        designers: Designers by the name that tables show.
        episodes: Number of episodes of each.
        seed: Seed of the run. Markets and designers have separate random streams.
        stack: The reward that the designers were made for, see ``play_episodes``.
        answers: Notes what language models write; None keeps nothing.

    Returns:
        The rows of ``play_episodes`` for each designer in turn, with the column ``designer`` first.
    """
    seeds = market_seeds(seed, "evaluation", episodes)
    frames = []
    progress = track(designers.items(), "designers", console=Console(stderr=True), transient=True)
    for name, designer in progress:
        note = None if answers is None else partial(answers.add, name, designer)
        rng = generator(seed, f"designer/{name}")
        with doing(f"designer {name} failed"):
            steps = play_episodes(env, designer, seeds, rng, stack, note)
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


def written_fields(mechanisms: Mechanisms) -> dict[str, NDArray[Any]]:
    """Return the eleven fields as tables show them, each of shape (B,); NaN where malformed."""
    columns = {name: getattr(mechanisms, name) for name in FIELDS}
    for name, words in CHOICES.items():
        columns[name] = np.array(words, object)[columns[name]]
    if mechanisms.malformed.any():
        for name, column in columns.items():
            kind = np.float64 if column.dtype == np.float64 else object
            columns[name] = column.astype(kind)  # a copy
            columns[name][mechanisms.malformed] = np.nan
    return columns


def _metrics(scored: Outcome) -> dict[str, NDArray[Any]]:
    """Return the market metrics of each episode, as means over the scored rounds."""
    columns = {
        "welfare": scored.welfare,
        "fairness": scored.fairness,
        "participation": scored.participation,
        "stability": scored.stability,
        "collusion_signal": scored.field("collusion_signal"),
        "revenue": scored.field("revenue"),
        "revenue_share": scored.field("revenue_share"),
    }
    return {name: each.mean(axis=1) for name, each in columns.items()}
