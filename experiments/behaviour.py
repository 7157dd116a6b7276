"""Show which mechanisms a designer chooses for which bidders."""

from __future__ import annotations

from pathlib import Path

from daedalus.design.designers.build import build_all
from daedalus.design.designers.fixed import FixedDesigner
from daedalus.lab.studies.behaviour import decisions
from daedalus.lab.studies.behaviour_figures import advantages, behaviour
from daedalus.launch.config.tasks import Behaviour
from daedalus.launch.from_config import make_env, own_context, require_portfolio
from daedalus.launch.tracked import tracked
from daedalus.runs.folder import RunFolder


def main(config: Behaviour, out: Path) -> None:
    """Play the designer beside the best fixed mechanism; write decisions.csv and figures."""
    env, name = make_env(config), config.designer.name
    portfolio = require_portfolio(config, env, RunFolder(out))
    context = own_context(config, env, portfolio)
    designers = build_all({name: config.designer}, context)
    designers["best_fixed"] = FixedDesigner(portfolio[len(portfolio) - 1])
    table = decisions(env, designers, config.evaluation.episodes, config.seed)
    with tracked(config, out) as (_, report):
        report.table(table, "decisions")
        means = table.groupby("designer")["reward"].mean().to_dict()
        report.say(f"{config.reward.name}, mean over episodes: {means}")
        report.figure(behaviour(table, name), "behaviour")
        report.figure(advantages(table, name, "best_fixed"), "advantages")
