"""Every designer in populations that none was trained on, between random and a planner."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from daedalus.config import Config
from daedalus.designers.base import Designer
from daedalus.designers.fixed import FixedDesigner
from daedalus.designers.planner import PlannerSettings
from daedalus.designers.search import SearchDesigner
from daedalus.evaluation.episodes import compare, episode_means
from daedalus.evaluation.leaderboard import REFERENCES, aggregate, normalise
from daedalus.evaluation.leaderboard_figures import leaderboard_figures
from experiments.build import make_designer, make_env, make_envs, make_portfolio, tracked

LOCAL = (SearchDesigner, PlannerSettings)
"""Designers that know where they play; others learn in the training population."""


def main(config: Config, out: Path) -> None:
    """Play everybody everywhere on the same markets; write summary.csv, totals.csv and figures."""
    training = make_env(config)
    rules = make_portfolio(config, training, out)
    if rules is None:
        raise ValueError("training.portfolio.populations: 0; the planner chooses among rules")
    settings, seed = (
        config.evaluation.baselines | {config.designer.name: config.designer},
        config.seed,
    )
    portable: dict[str, Designer] = {"best_fixed": FixedDesigner(mechanism=rules[len(rules) - 1])}
    portable |= {
        name: make_designer(each, training, seed, rules=rules)
        for name, each in settings.items()
        if not isinstance(each, LOCAL)
    }
    scores = []
    for population, env in make_envs(config).items():
        local = {
            name: make_designer(each, env, seed, rules=rules)
            for name, each in settings.items()
            if isinstance(each, LOCAL)
        }
        steps = compare(env, portable | local, config.evaluation.episodes, seed)
        means = episode_means(steps).groupby("designer", sort=False)[["reward", "valid"]].mean()
        rows = means.reset_index().rename(columns={"reward": "mean"})
        scores.append(rows.assign(population=population, seed=seed))
    table = normalise(pd.concat(scores, ignore_index=True))
    totals = aggregate(table, REFERENCES, config.evaluation, config.seed)
    with tracked(config, out) as (_, report):
        report.table(table, "summary")
        report.table(totals, "totals")
        wide = table.pivot(index="population", columns="designer", values="normalised")
        report.show(wide[list(totals["designer"])].reset_index(), "normalised reward")
        report.show(totals.dropna(axis=1), "over populations")
        for name, figure in leaderboard_figures(table, totals, config.evaluation).items():
            report.figure(figure, name)
