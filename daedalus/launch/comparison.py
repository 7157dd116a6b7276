"""Designers on paired markets: the tables, figures and answers that a run keeps of them."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from daedalus.design.designers.base import DesignerContext
from daedalus.design.designers.build import build_all
from daedalus.design.env import Designer
from daedalus.evaluation.answer_log import AnswerLog, refusals
from daedalus.evaluation.comparison import comparison
from daedalus.evaluation.run_report import Report
from daedalus.evaluation.settings import EvaluationSettings


def compare_designers(
    settings: EvaluationSettings,
    context: DesignerContext,
    report: Report,
    extra: dict[str, Designer],
) -> pd.DataFrame:
    """Play the baselines and ``extra`` on paired markets; report, and return the summary.

    Args:
        settings: The baselines, the number of episodes and their intervals.
        context: What baselines are built from, and the named population that all play.
        report: Receives tables and figures.
        extra: Other designers, by their names in tables.
    """
    env, population = context.env, context.population
    assert population is not None
    baselines = build_all(settings.baselines, context)
    log = AnswerLog(population)
    frames = comparison(env, baselines | extra, list(baselines), settings, context.seed, log)
    keep_answers([log], report)
    for name, frame in frames.items():
        report.table(frame, name)
    title = f"paired differences over the episodes of seed {context.seed} alone"
    report.show(frames["differences"], title)
    report.show(
        frames["summary"].drop(columns=["std", "collusion_signal", "revenue", "revenue_share"]),
        "reward by episode",
    )
    from daedalus.evaluation.figures import metric_panels, reward_boxplot  # slow to import

    title = f"{env.settings.name} market, {population}"
    boxplot = reward_boxplot(frames["episodes"], title)
    panels = metric_panels(frames["episodes"])
    report.figure(boxplot, "boxplot")
    report.figure(panels, "metrics")
    return frames["summary"]


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
