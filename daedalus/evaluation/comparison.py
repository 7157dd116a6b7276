"""Designers on paired markets: the tables of a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from daedalus.design.env import DesignEnv, Designer
from daedalus.evaluation.answer_log import AnswerLog
from daedalus.evaluation.episodes import compare, episode_means
from daedalus.evaluation.settings import EvaluationSettings
from daedalus.evaluation.statistics import all_differences, summarise


def comparison(
    env: DesignEnv,
    designers: Mapping[str, Designer],
    references: Sequence[str],
    settings: EvaluationSettings,
    seed: int,
    answers: AnswerLog | None = None,
) -> dict[str, pd.DataFrame]:
    """Play designers on paired markets.

    Args:
        env: The market that they play.
        designers: Designers, by their names in tables.
        references: Names of the designers that all are compared with, at least one.
        settings: Number of episodes, and their intervals.
        seed: Seed of the run.
        answers: Notes what language models write; None keeps nothing.

    Returns:
        Tables by name: ``steps``, ``episodes``, ``summary`` and ``differences``. See
        ``compare``, ``episode_means``, ``summarise`` and ``all_differences``.
    """
    steps = compare(env, designers, settings.episodes, seed, answers)
    episodes = episode_means(steps)
    return {
        "steps": steps,
        "episodes": episodes,
        "summary": summarise(episodes, settings, seed),
        "differences": all_differences(episodes, references, settings, seed),
    }
