"""Show what a designer does against whom."""

from __future__ import annotations

from pathlib import Path

from daedalus.config import Config
from daedalus.designers.base import Designer
from daedalus.designers.fixed import FixedDesigner
from daedalus.evaluation.behaviour import decisions
from daedalus.evaluation.behaviour_figures import advantages, behaviour
from experiments.build import make_designer, make_env, make_portfolio, tracked


def main(config: Config, out: Path) -> None:
    """Play the designer beside the best fixed rules; write decisions.csv and figures."""
    env, name = make_env(config), config.designer.name
    rules = make_portfolio(config, env, out)
    if rules is None:
        raise ValueError("training.portfolio.populations: 0; the last of them is the best fixed")
    designers: dict[str, Designer] = {
        name: make_designer(config.designer, env, config.seed, rules=rules),
        "best_fixed": FixedDesigner(mechanism=rules[len(rules) - 1]),
    }
    table = decisions(env, designers, config.evaluation.episodes, config.seed)
    with tracked(config, out) as (_, report):
        report.table(table, "decisions")
        report.say(f"R, mean over episodes: {table.groupby('designer')['reward'].mean().to_dict()}")
        report.figure(behaviour(table, name), "behaviour")
        report.figure(advantages(table, name, "best_fixed"), "advantages")
