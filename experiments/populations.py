"""Compare the baselines and the best fixed mechanisms in every population."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.progress import track

from daedalus.config import Config
from daedalus.designers.fixed import FixedDesigner
from daedalus.designers.search import SearchDesigner, best_fixed, best_for_all
from daedalus.env import DesignEnv
from daedalus.evaluation.episodes import (
    compare,
    episode_means,
    score_everywhere,
    score_mechanisms,
)
from daedalus.evaluation.figures import population_bars
from daedalus.evaluation.statistics import summarise
from daedalus.market.mechanism import Mechanism
from daedalus.market.parsing import format_mechanism
from daedalus.market.seeds import generator
from experiments.build import make_envs, tracked


def main(config: Config, out: Path) -> None:
    """Search for the best mechanism of each population and of all; score them on other markets."""
    assert isinstance(config.designer, SearchDesigner)
    envs = make_envs(config)
    best = {name: _search(config, env, name) for name, env in _progress(envs, "searching")}
    everywhere = partial(score_everywhere, list(envs.values()), seed=config.seed)
    overall = best_for_all(list(best.values()), everywhere, 2, config.designer.sweep_episodes)
    summaries = []
    for name, env in _progress(envs, "comparing"):
        own = {"best_overall": overall, "best_own": best[name]}
        fixed = {label: FixedDesigner(mechanism=each) for label, each in own.items()}
        steps = compare(
            env, config.evaluation.baselines | fixed, config.evaluation.episodes, config.seed
        )
        summary = summarise(episode_means(steps), config.evaluation, config.seed)
        summaries.append(summary.assign(population=name))
    table = pd.concat(summaries, ignore_index=True)
    with tracked(config, out) as (_, report):
        report.table(table, "summary")
        wide = table.pivot(index="population", columns="designer", values="mean")
        order = [*config.evaluation.baselines, "best_overall", "best_own"]
        report.show(wide.loc[list(envs), order].reset_index(), "mean R")
        report.say(f"best overall: {format_mechanism(overall)}")
        report.figure(population_bars(table), "populations")


def _search(config: Config, env: DesignEnv, name: str) -> Mechanism:
    assert isinstance(config.designer, SearchDesigner)
    score = partial(score_mechanisms, env, seed=config.seed)
    return best_fixed(config.designer, score, generator(config.seed, f"search/{name}"))[0]


def _progress(envs: dict[str, DesignEnv], label: str) -> Iterable[tuple[str, DesignEnv]]:
    return track(envs.items(), label, console=Console(stderr=True), transient=True)
