"""Certify the mechanisms of a designer: what could bidders gain by other bids than their values?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from daedalus.design.designers.build import build_all
from daedalus.evaluation.episodes import compare
from daedalus.lab.studies.certificates import (
    KEY,
    certificate_dots,
    certificate_tables,
    chosen_mechanisms,
)
from daedalus.lab.theory.certificates import LEFT_OUT, UNIFORM_PRICE, groups_of
from daedalus.launch.config.tasks import Certificate
from daedalus.launch.from_config import make_env, own_context
from daedalus.launch.tracked import tracked
from daedalus.market.strategic import StrategicMarket

_REGRETS = [*KEY, "interim_regret", "ex_post_regret", "worst_ex_post_regret", "ring_gain"]
_MONEY = "in units of value; a unit is worth 1 at most"
_GAINS = (
    f"gains of a bidder by bids that are not its values, all its units together, {_MONEY}; a false "
    f"name gains 0 by theorem; {LEFT_OUT}"
)
_SALES = (
    f"sales at truthful bids, all units together, {_MONEY}; welfare is a share of the highest; "
    f"{LEFT_OUT}"
)
_SALE = [*KEY, "welfare", "revenue", "optimum"]


def main(config: Certificate, out: Path) -> None:
    """Play the designer, certify its mechanisms; write summary.csv, types.csv and a figure."""
    env, name = make_env(config), config.designer.name
    assert isinstance(env.market, StrategicMarket) and not env.market.players
    groups_of(env.market.population)  # refuses a population before anything is played
    designers = build_all({name: config.designer}, own_context(config, env))
    seed = config.seed
    with tracked(config, out) as (_, report):
        chosen = chosen_mechanisms(compare(env, designers, config.evaluation.episodes, seed))
        summary, types = certificate_tables(env.market.population, chosen, seed)
        report.table(summary, "summary")
        report.table(types, "types")
        notes = _footnotes(summary, env.market.population.units)
        report.show(summary[_REGRETS].dropna(axis=1), "; ".join([_GAINS, *notes]))
        report.show(summary[_SALE].dropna(axis=1), "; ".join([_SALES, *notes]))
        covered = 100.0 * summary["share"].sum()
        mean = np.average(summary["interim_regret"], weights=summary["share"])
        report.say(
            f"{name}: {covered:.0f} % of its steps, with a mean interim regret of {mean:.2g} "
            "units of value"
        )
        report.figure(certificate_dots(summary, types, [LEFT_OUT, *notes]), "certificates")


def _footnotes(summary: pd.DataFrame, units: int) -> list[str]:
    """Return what explains the names of formats in the tables."""
    named = units > 1 and (summary["auction_type"] == "second_price").any()
    return [UNIFORM_PRICE] if named else []
