"""Show what share of the highest possible revenue designers take where theory knows it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from daedalus.design.designers.build import require_other_names
from daedalus.design.designers.fixed import FixedDesigner
from daedalus.design.designers.language_model import LanguageModelSettings
from daedalus.lab.studies.known_optimum import (
    ORACLE,
    Optimum,
    myerson_reserve,
    optimum_shares,
    shares_of_optimum,
    theory_table,
)
from daedalus.launch.config.tasks import KnownOptimum
from daedalus.launch.from_config import all_designers, each_population, make_envs
from daedalus.launch.tracked import tracked
from daedalus.market.interface import types_of_bidders
from daedalus.runs.folder import RunFolder

_SHARES = (
    "shares of the optimum: at equilibrium play, and at the bidders' play where it is an "
    "equilibrium; unused reply: what the bidder who would gain most adds to its surplus by its "
    "best reply, measured under the most frequent mechanisms; unused reply share: their share of "
    "steps. Of the others it says nothing"
)


def main(config: KnownOptimum, out: Path) -> None:
    """Play all designers in all populations; write theory.csv, summary.csv and figures.

    Raises:
        CannotRunError: A designer has the name of the oracle.
    """
    require_other_names(all_designers(config), ORACLE, "the reserve that theory tells")
    populations = {name: types_of_bidders(env.market) for name, env in make_envs(config).items()}
    theory = theory_table(populations)  # before anything is played
    tables = []
    for name, env, designers in each_population(config):
        oracle = FixedDesigner(Optimum.of(populations[name]).oracle)
        table = shares_of_optimum(env, {ORACLE: oracle} | designers, config.evaluation, config.seed)
        tables.append(table.assign(population=name))
    summary = pd.concat(tables, ignore_index=True)
    with tracked(config, out) as (_, report):
        report.table(theory, "theory", "what theory says")
        report.table(summary, "summary")
        report.show(summary.drop(columns=["optimum", "bidders"]), _SHARES)
        report.figure(optimum_shares(summary, theory), "known_optimum")
        report.figure(myerson_reserve(summary, _histories(config)), "reserve")


def _histories(config: KnownOptimum) -> dict[str, pd.DataFrame]:
    """Return the training histories that lie beside the models that are compared."""
    designers = all_designers(config)
    tables = {
        name: RunFolder(Path(each.checkpoint).parent).history_table
        for name, each in designers.items()
        if isinstance(each, LanguageModelSettings)
    }
    return {name: pd.read_csv(path) for name, path in tables.items() if path.is_file()}
