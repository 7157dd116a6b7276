"""Play published experiments on auctions, and compare what they found."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from daedalus.lab.studies.known_optimum import shares_of_optimum, theory_table
from daedalus.lab.studies.published_play import (
    bid_rows,
    collusion_rows,
    credibility_rows,
    in_their_units,
    optimum_rows,
    winning_bids,
)
from daedalus.lab.studies.tacit_collusion import collusion_curves, learning_curves, outcomes
from daedalus.launch.config.tasks import PublishedPlay
from daedalus.launch.from_config import each_population, make_env, make_envs
from daedalus.launch.tracked import tracked
from daedalus.market.interface import types_of_bidders
from daedalus.market.population import Population

_DRAWS = 4
"""Drawn settings of learners for each run of the paper's learners."""


def main(config: PublishedPlay, out: Path) -> None:
    """Play all experiments; write summary.csv, the tables behind it and a figure."""
    runs, seed = config.evaluation.episodes, config.seed
    learners: Population = types_of_bidders(make_env(config).market)
    with tracked(config, out) as (_, report):
        money = _revenues(config)
        curves = learning_curves(learners, config.market.strategic, runs, seed)
        ends, bids = outcomes(curves), winning_bids(_DRAWS * runs, seed)
        summary = pd.DataFrame(
            collusion_rows(ends)
            + bid_rows(bids)
            + optimum_rows(money, config.designer.name)
            + credibility_rows(seed)
        )
        report.table(summary, "summary", "summary")
        report.table(ends, "q_learners", "q learners")
        report.table(money, "myersonnet", "myersonnet")
        report.table(curves, "curves")
        report.table(bids, "winning_bids")
        report.say(f"{summary['agrees'].sum()} of {len(summary)} numbers agree with the papers")
        report.figure(collusion_curves(curves), "published_play")


def _revenues(config: PublishedPlay) -> pd.DataFrame:
    """Return what designers earn in the settings of MyersonNet, in the paper's units."""
    populations = {name: types_of_bidders(env.market) for name, env in make_envs(config).items()}
    tables = [
        shares_of_optimum(env, designers, config.evaluation, config.seed).assign(population=name)
        for name, env, designers in each_population(config)
    ]
    return in_their_units(pd.concat(tables, ignore_index=True), theory_table(populations))
