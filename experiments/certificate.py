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

_REGRETS = [
    *KEY, "interim_regret", "ex_post_regret", "worst_ex_post_regret", "hindsight_regret",
    "learned_hindsight_regret", "hindsight_share", "ring_gain",
]  # fmt: skip
_IN_HINDSIGHT = (
    "hindsight regrets are under the most frequent of the other fields; hindsight share is the "
    "share of steps with these"
)
_MONEY = "in units of value; a unit is worth 1 at most"
_GAINS = (
    f"gains of a bidder by bids that are not its values, all its units together, {_MONEY}; a false "
    f"name gains 0 by theorem; {LEFT_OUT}"
)
_SALES = (
    f"sales at truthful bids, all units together, {_MONEY}; welfare is a share of the highest; "
    "losses are 0 if individually rational (ex-post, interim, ex-ante), and the deficit is 0 at "
    f"weak budget balance; {LEFT_OUT}"
)
_SALE = [
    *KEY, "ex_post_loss", "interim_loss", "ex_ante_loss", "deficit", "welfare", "revenue",
    "optimum",
]  # fmt: skip


def main(config: Certificate, out: Path) -> None:
    """Play the designer, certify its mechanisms; write summary.csv, types.csv and a figure."""
    env, name = make_env(config), config.designer.name
    assert isinstance(env.market, StrategicMarket) and not env.market.players
    groups_of(env.market.population)  # refuses a population before anything is played
    designers = build_all({name: config.designer}, own_context(config, env))
    episodes, seed = config.evaluation.episodes, config.seed
    with tracked(config, out) as (_, report):
        chosen = chosen_mechanisms(compare(env, designers, episodes, seed))
        summary, types = certificate_tables(env.market, chosen, episodes, seed)
        report.table(summary, "summary")
        report.table(types, "types")
        notes = _footnotes(summary, env.market.population.units)
        hindsight = [_IN_HINDSIGHT] if summary["hindsight_share"].notna().any() else []
        report.show(summary[_REGRETS].dropna(axis=1), "; ".join([_GAINS, *notes, *hindsight]))
        report.show(summary[_SALE].dropna(axis=1), "; ".join([_SALES, *notes]))
        covered = 100.0 * summary["share"].sum()
        mean = np.average(summary["interim_regret"], weights=summary["share"])
        report.say(
            f"{name}: {covered:.0f} % of its steps, with a mean interim regret of {mean:.2g} "
            "units of value"
        )
        report.figure(
            certificate_dots(summary, types, [LEFT_OUT, *notes, *hindsight]), "certificates"
        )


def _footnotes(summary: pd.DataFrame, units: int) -> list[str]:
    """Return what explains the names of formats in the tables."""
    named = units > 1 and (summary["auction_type"] == "second_price").any()
    return [UNIFORM_PRICE] if named else []
