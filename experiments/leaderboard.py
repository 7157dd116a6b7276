"""Every designer in populations that none was trained on, between random and a planner."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pandas as pd

from daedalus.config import Config
from daedalus.designers.base import Designer
from daedalus.designers.fixed import FixedDesigner
from daedalus.designers.language_model import LanguageModelSettings
from daedalus.designers.planner import PlannerSettings
from daedalus.designers.search import SearchDesigner, best_fixed
from daedalus.env import DesignEnv
from daedalus.evaluation.episodes import compare, episode_means, score_mechanisms
from daedalus.evaluation.evolution import EvolutionSettings, evolve
from daedalus.evaluation.leaderboard import aggregate, normalise
from daedalus.evaluation.leaderboard_figures import leaderboard, score_map
from daedalus.market.mechanism import Mechanisms
from daedalus.market.seeds import generator
from daedalus.planning.distilled import distil
from daedalus.planning.lookahead import Planner
from experiments.build import make_designer, make_env, make_envs, make_portfolio, tracked

STATES = 16_384
"""Mid-episode states that the regressor learns from."""

SEARCH = SearchDesigner(candidates=512, sweeps=2, sweep_episodes=128)
"""Budget of the search for each population's own best mechanism."""

REFERENCES = ["informed_greedy", "best_fixed"]


def main(config: Config, out: Path) -> None:
    """Play everybody everywhere on the same markets; write scores.csv, summary.csv and figures."""
    training = make_env(config)
    rules = make_portfolio(config, training, out)
    if rules is None:
        raise ValueError("training.portfolio.populations: 0; the planner chooses among rules")
    everywhere = portable_designers(config, training, rules)
    scores = []
    for name, env in make_envs(config).items():
        designers = everywhere | local_designers(config, env, rules, name)
        steps = compare(env, designers, config.evaluation.episodes, config.seed)
        means = episode_means(steps).groupby("designer", sort=False)[["reward", "valid"]].mean()
        rows = means.reset_index().rename(columns={"reward": "mean"})
        scores.append(rows.assign(population=name, seed=config.seed))
    table = normalise(pd.concat(scores, ignore_index=True))
    totals = aggregate(table, REFERENCES, config.evaluation, config.seed)
    with tracked(config, out) as (_, report):
        report.table(table.drop(columns="seed"), "summary")
        report.table(totals, "totals")
        wide = table.pivot(index="population", columns="designer", values="normalised")
        report.show(wide[list(totals["designer"])].reset_index(), "normalised reward")
        report.show(totals.dropna(axis=1), "over populations")
        report.figure(leaderboard(table), "leaderboard")
        report.figure(score_map(table), "scores")


def portable_designers(config: Config, env: DesignEnv, rules: Mechanisms) -> dict[str, Designer]:
    """Return the designers that know nothing of where they will play but what they observe."""
    seed = config.seed
    designers = {
        name: make_designer(each, env, seed) for name, each in config.evaluation.baselines.items()
    }
    designers["best_fixed"] = FixedDesigner(mechanism=rules[len(rules) - 1])
    designers["evolved"] = FixedDesigner(mechanism=evolve(env, EvolutionSettings(), seed))
    designers["distilled"] = distil(env, rules, PlannerSettings(rounds=0), STATES, seed)
    if isinstance(config.designer, LanguageModelSettings):
        designers[config.designer.name] = make_designer(config.designer, env, seed)
    return designers


def local_designers(
    config: Config, env: DesignEnv, rules: Mechanisms, name: str
) -> dict[str, Designer]:
    """Return the two that know the population: its best fixed mechanism, and the planner."""
    score = partial(score_mechanisms, env, seed=config.seed)
    best, _ = best_fixed(SEARCH, score, generator(config.seed, f"search/{name}"))
    planner = Planner(env, rules, PlannerSettings(), config.seed)
    return {"best_own": FixedDesigner(mechanism=best), "planner": planner}
