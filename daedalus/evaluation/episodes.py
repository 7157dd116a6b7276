"""Episodes in closed loop. All designers play the same markets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from tqdm import tqdm

from daedalus.checks import CannotRunError, doing
from daedalus.design.designers.submission import SubmissionDesigner
from daedalus.design.env import DesignEnv, Designer, Episodes
from daedalus.evaluation.answer_log import AnswerLog
from daedalus.market.mechanism import CHOICES, FIELDS, Mechanisms
from daedalus.market.outcome import Outcome
from daedalus.market.seeds import generator, market_seeds
from daedalus.runs.phases import EVALUATION, phase

_OF_MARKET = "welfare fairness participation stability collusion_signal revenue revenue_share"
METRICS = ("reward", *_OF_MARKET.split(), "valid")
"""Metrics of a step, see ``play_episodes``."""

AT_ONCE = 50_000
"""Most episodes that are played side by side."""

COMPOSITE = "composite"
"""Column of R, if designers are compared by another reward."""

Note = Callable[[int, NDArray[np.integer[Any]]], None]
"""Is told the step and the number of each episode after a proposal; -1 for those that ended."""


def play_episodes(
    env: DesignEnv,
    designer: Designer,
    seeds: NDArray[np.uint64],
    rng: np.random.Generator,
    note: Note | None = None,
) -> pd.DataFrame:
    """Let a designer play one episode for each seed, side by side, to the end.

    More than ``AT_ONCE`` episodes are played in pieces, so that memory is bounded. The designer
    draws for one piece after the other.

    Args:
        env: The environment that it plays. If its reward is not R alone, the column ``COMPOSITE``
            holds R.
        designer: Proposes the mechanisms.
        seeds: Market seeds, uint64, shape (E,).
        rng: Random numbers of the designer.
        note: Is called after each proposal; None notes nothing.

    Returns:
        One row for each episode and step, sorted by both: ``episode`` (0 to E - 1), ``step`` (from
        1), ``METRICS``, and the eleven fields of the proposal. ``reward`` is the step's reward by
        the environment, from its scored rounds; R is in [0, 1]. The market metrics are means over
        the same rounds: ``welfare``, ``fairness``, ``participation``, ``stability``,
        ``collusion_signal`` (all in [0, 1]), ``revenue`` (units of value in a round) and
        ``revenue_share`` (of the value delivered). With several scored rounds the product of the
        mean factors differs a little from the mean of the products. ``valid`` is whether the
        proposal was well formed. After a malformed proposal no round is played: rewards are 0, and
        market metrics and fields are NaN.

    Raises:
        ValueError: No market had a bidder left before the first step.
    """
    steps = [
        rows
        for first in range(0, len(seeds), AT_ONCE)
        for rows in _play_piece(
            env.reset(seeds[first : first + AT_ONCE]), first, designer, rng, note
        )
    ]
    if not steps:
        raise ValueError(f"none of {len(seeds)} markets has a bidder left after its warm-up")
    table = pd.concat(steps, ignore_index=True)
    columns = ["episode", "step", *_metrics_of(table), *FIELDS]
    return table.sort_values(["episode", "step"], ignore_index=True)[columns]


def _play_piece(
    episodes: Episodes,
    first: int,
    designer: Designer,
    rng: np.random.Generator,
    note: Note | None,
) -> Iterator[pd.DataFrame]:
    """Play episodes to the end, numbered from ``first``; yield the rows of each step."""
    numbers = first + np.arange(len(episodes))
    for observation, mechanisms, result in episodes.play(designer, rng):
        steps = observation.round_number + 1
        metrics = {"reward": result.reward, **_metrics(result.scored)}
        metrics["valid"] = ~mechanisms.malformed
        if not episodes.env.reward.is_composite:
            metrics[COMPOSITE] = result.composite
        rows = {"episode": numbers, "step": steps, **metrics, **written_fields(mechanisms)}
        if note is not None:
            note(int(steps.max()), np.where(result.running, numbers, -1))
        yield pd.DataFrame(rows)[result.running]


@phase(EVALUATION)
def compare(
    env: DesignEnv,
    designers: Mapping[str, Designer],
    episodes: int,
    seed: int,
    answers: AnswerLog | None = None,
) -> pd.DataFrame:
    """Let each designer play the same markets, so that differences are paired by episode.

    Args:
        env: The environment that they play, see ``play_episodes``.
        designers: Designers by the name that tables show.
        episodes: Number of episodes of each.
        seed: Seed of the run. Markets and designers have separate random streams.
        answers: Notes what language models write; None keeps nothing.

    Returns:
        The rows of ``play_episodes`` for each designer in turn, with the column ``designer`` first.

    Raises:
        CannotRunError: A submission is to play more than ``AT_ONCE`` episodes.
    """
    for name, designer in designers.items():
        if episodes > AT_ONCE and isinstance(designer, SubmissionDesigner):
            raise CannotRunError(
                f"evaluation.episodes: {episodes}; the submission {name} plays at most {AT_ONCE}"
            )
    seeds = market_seeds(seed, "evaluation", episodes)
    frames = []
    for name, designer in tqdm(designers.items(), "designers", leave=False, disable=None):
        note = None if answers is None else partial(answers.add, name, designer)
        rng = generator(seed, f"designer/{name}")
        with doing(f"designer {name} failed"):
            steps = play_episodes(env, designer, seeds, rng, note)
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
    """Return the metrics of a table: ``METRICS``, and ``COMPOSITE`` if it has this column."""
    return [*METRICS, *({COMPOSITE} & set(table))]


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
    return {name: scored.field(name).mean(axis=1) for name in _OF_MARKET.split()}
