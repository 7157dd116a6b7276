"""Compare the designer under study with the baselines."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from daedalus.config import Config
from daedalus.designers.base import Designer
from daedalus.env import DesignEnv
from daedalus.evaluation.episodes import compare, episode_means
from daedalus.evaluation.figures import metric_panels, reward_boxplot
from daedalus.evaluation.report import Report
from daedalus.evaluation.statistics import all_differences, summarise
from experiments.build import make_designer, make_env, tracked


def main(config: Config, out: Path) -> None:
    """Play every designer on the same markets; write tables and figures to ``out``."""
    env = make_env(config)
    extra = {}
    name, baselines = config.designer.name, config.evaluation.baselines
    if baselines.get(name) != config.designer:
        shown = f"{name}_changed" if name in baselines else name
        extra[shown] = make_designer(config.designer, env, config.seed)
    with tracked(config, out) as (_, report):
        compare_designers(config, env, report, extra)


def compare_designers(
    config: Config, env: DesignEnv, report: Report, extra: dict[str, Designer]
) -> pd.DataFrame:
    """Play the baselines and ``extra`` on paired markets, report, and return the summary."""
    designers: dict[str, Designer] = {
        name: make_designer(baseline, env, config.seed)
        for name, baseline in config.evaluation.baselines.items()
    }
    frames = comparison(config, env, designers | extra, list(designers))
    for name, frame in frames.items():
        report.table(frame, name)
    report.show(frames["differences"], "paired differences")
    report.show(
        frames["summary"].drop(columns=["std", "collusion_signal", "revenue", "revenue_share"]),
        "reward by episode",
    )
    title = f"{config.market.name} market, {config.population.name}"
    report.figure(reward_boxplot(frames["episodes"], title), "boxplot")
    report.figure(metric_panels(frames["episodes"]), "metrics")
    return frames["summary"]


def comparison(
    config: Config, env: DesignEnv, designers: dict[str, Designer], references: list[str]
) -> dict[str, pd.DataFrame]:
    """Play designers on paired markets.

    Args:
        config: How many episodes, which seed and what intervals.
        env: Where they play.
        designers: Who plays, by the name that tables show.
        references: Whom the others are compared with, at least one of them.

    Returns:
        Tables by name: ``steps``, ``episodes``, ``summary`` and ``differences``, see
        ``compare``, ``episode_means``, ``summarise`` and ``all_differences``.
    """
    settings, seed = config.evaluation, config.seed
    steps = compare(env, designers, settings.episodes, seed)
    episodes = episode_means(steps)
    return {
        "steps": steps,
        "episodes": episodes,
        "summary": summarise(episodes, settings, seed),
        "differences": all_differences(episodes, references, settings, seed),
    }
