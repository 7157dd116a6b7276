"""Show which mechanisms a designer chooses for which bidders."""

from __future__ import annotations

from pathlib import Path

from daedalus.design.designers.build import build_all, require_other_names
from daedalus.design.designers.fixed import BEST_FIXED, best_fixed
from daedalus.lab.studies.behaviour import decisions
from daedalus.lab.studies.behaviour_figures import advantages, behaviour
from daedalus.launch.config.tasks import Behaviour
from daedalus.launch.from_config import make_env, own_context, require_portfolio
from daedalus.launch.tracked import tracked
from daedalus.runs.folder import RunFolder


def main(config: Behaviour, out: Path) -> None:
    """Play the designer beside the best fixed mechanism; write decisions.csv and figures.

    Raises:
        CannotRunError: The designer has the name of the best fixed mechanism.
    """
    name = config.designer.name
    require_other_names([name], BEST_FIXED, "the best fixed mechanism beside it")
    env = make_env(config)
    portfolio = require_portfolio(config, env, RunFolder(out))
    context = own_context(config, env, portfolio)
    designers = build_all({name: config.designer}, context)
    designers[BEST_FIXED] = best_fixed(portfolio)
    table = decisions(env, designers, config.evaluation.episodes, config.seed)
    with tracked(config, out) as (_, report):
        report.table(table, "decisions")
        means = table.groupby("designer")["reward"].mean().to_dict()
        report.say(f"{config.reward.name}, mean over episodes: {means}")
        report.figure(behaviour(table, name), "behaviour")
        report.figure(advantages(table, name, BEST_FIXED), "advantages")
