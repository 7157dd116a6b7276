"""Certify the mechanisms of a designer: what could bidders gain by other bids than their values?"""

from __future__ import annotations

from pathlib import Path

from daedalus.config import Config
from daedalus.evaluation.episodes import compare
from daedalus.market.strategic import StrategicMarket
from daedalus.studies.certificate_figures import certificate_dots
from daedalus.studies.certificates import KEY, certificate_tables, chosen_mechanisms, over_steps
from daedalus.theory.certificates import groups_of
from experiments.build import build_all, make_env, own_context
from experiments.tracked import tracked

_REGRETS = [
    *KEY, "interim_regret", "regret", "worst_regret", "hindsight_regret", "learned_regret",
    "false_name_gain", "ring_gain",
]  # fmt: skip
_MONEY = "in units of value; a unit is worth 1 at most"
_GAINS = f"gains of a bidder by bids that are not its values, all its units together, {_MONEY}"
_SALES = f"sales at truthful bids, all units together, {_MONEY}; welfare is a share of the highest"
_SALE = [*KEY, "rationality_violation", "deficit", "welfare", "revenue", "optimum"]


def main(config: Config, out: Path) -> None:
    """Play the designer, certify its mechanisms; write summary.csv, types.csv and a figure."""
    env, name = make_env(config), config.designer.name
    assert isinstance(env.market, StrategicMarket)
    groups_of(env.market.population)  # refuses a population before anything is played
    designers = build_all({name: config.designer}, own_context(config, env))
    episodes, seed = config.evaluation.episodes, config.seed
    with tracked(config, out) as (_, report):
        chosen = chosen_mechanisms(compare(env, designers, episodes, seed))
        summary, types = certificate_tables(env.market, chosen, episodes, seed)
        report.table(summary, "summary")
        report.table(types, "types")
        report.show(summary[_REGRETS].dropna(axis=1), _GAINS)
        report.show(summary[_SALE].dropna(axis=1), _SALES)
        covered, mean = 100.0 * summary["share"].sum(), over_steps(summary, "interim_regret")
        report.say(
            f"{name}: {covered:.0f} % of its steps, with a mean interim regret of {mean:.2g} "
            "units of value"
        )
        report.figure(certificate_dots(summary, types), "certificates")
