"""Compare all designers in held-out populations, on a scale from random to what is possible."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from daedalus.config import Config
from daedalus.designers.fixed import FixedDesigner
from daedalus.env import DesignEnv, Designer
from daedalus.evaluation.episodes import OBJECTIVE, compare, episode_means
from daedalus.evaluation.leaderboard import REFERENCES, aggregate, normalise, require_scale
from daedalus.evaluation.leaderboard_figures import leaderboard_figures
from daedalus.run_folder import RunFolder
from experiments.build import each_population, make_env, require_portfolio
from experiments.tracked import tracked


def main(config: Config, out: Path) -> None:
    """Play all designers in all populations; write summary.csv, totals.csv and figures."""
    require_scale([*config.evaluation.baselines, config.designer.name])  # before anything is played
    portfolio = require_portfolio(config, make_env(config), RunFolder(out))
    best_fixed: dict[str, Designer] = {"best_fixed": FixedDesigner(portfolio[len(portfolio) - 1])}
    scores = [
        _mean_scores(config, env, best_fixed | designers).assign(population=population)
        for population, env, designers in each_population(config, portfolio)
    ]
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


def _mean_scores(config: Config, env: DesignEnv, designers: Mapping[str, Designer]) -> pd.DataFrame:
    """Return a row for each designer: its mean reward, its share of valid answers, the seed."""
    steps = compare(env, designers, config.evaluation.episodes, config.seed, config.reward)
    means = episode_means(steps)
    columns = ["reward", "valid", *({OBJECTIVE} & set(means))]
    rows = means.groupby("designer", sort=False)[columns].mean().reset_index()
    return rows.rename(columns={"reward": "mean"}).assign(seed=config.seed)
