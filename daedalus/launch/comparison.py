"""Designers on paired markets: the tables, figures and answers that a run keeps of them."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from daedalus.design.designers.build import build_all
from daedalus.design.env import DesignEnv, Designer
from daedalus.evaluation.answer_log import AnswerLog, refusals
from daedalus.evaluation.episodes import compare, episode_means
from daedalus.evaluation.run_report import Report
from daedalus.evaluation.statistics import all_differences, summarise
from daedalus.launch.config.task_parts import Contest
from daedalus.launch.from_config import make_context


def compare_designers(
    config: Contest, env: DesignEnv, report: Report, extra: dict[str, Designer]
) -> pd.DataFrame:
    """Play the baselines and ``extra`` on paired markets; report, and return the summary."""
    context = make_context(config, env, population=config.population.name)
    designers = build_all(config.evaluation.baselines, context)
    log = AnswerLog(config.population.name)
    frames = comparison(config, env, designers | extra, list(designers), log)
    keep_answers([log], report)
    for name, frame in frames.items():
        report.table(frame, name)
    title = f"paired differences over the episodes of seed {config.seed} alone"
    report.show(frames["differences"], title)
    report.show(
        frames["summary"].drop(columns=["std", "collusion_signal", "revenue", "revenue_share"]),
        "reward by episode",
    )
    from daedalus.evaluation.figures import metric_panels, reward_boxplot  # slow to import

    title = f"{config.market.name} market, {config.population.name}"
    report.figure(reward_boxplot(frames["episodes"], title), "boxplot")
    report.figure(metric_panels(frames["episodes"]), "metrics")
    return frames["summary"]


def comparison(
    config: Contest,
    env: DesignEnv,
    designers: dict[str, Designer],
    references: list[str],
    answers: AnswerLog | None = None,
) -> dict[str, pd.DataFrame]:
    """Play designers on paired markets.

    Args:
        config: Number of episodes, seed and intervals.
        env: The market that they play.
        designers: Designers, by their names in tables.
        references: Names of the designers that all are compared with, at least one.
        answers: Notes what language models write; None keeps nothing.

    Returns:
        Tables by name: ``steps``, ``episodes``, ``summary`` and ``differences``. See
        ``compare``, ``episode_means``, ``summarise`` and ``all_differences``.
    """
    settings, seed = config.evaluation, config.seed
    steps = compare(env, designers, settings.episodes, seed, answers)
    episodes = episode_means(steps)
    return {
        "steps": steps,
        "episodes": episodes,
        "summary": summarise(episodes, settings, seed),
        "differences": all_differences(episodes, references, settings, seed),
    }


def keep_answers(logs: Sequence[AnswerLog], report: Report) -> None:
    """Write a sample of the answers and counts of them; say why answers were refused.

    Without any answer there are no files.
    """
    counts = pd.concat([log.counts() for log in logs], ignore_index=True)
    if counts.empty:
        return
    path = report.lines([row for log in logs for row in log.sample], "answers")
    report.table(counts, "answers")
    for sentence in refusals(counts):
        report.say(f"{sentence}; {path} shows answers, and answers.csv counts all reasons")
