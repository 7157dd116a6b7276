"""Compare the baselines and the best fixed mechanisms in each population."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from tqdm import tqdm

from daedalus.design.designers.build import build_all
from daedalus.design.designers.fixed import FixedDesigner
from daedalus.design.env import DesignEnv
from daedalus.design.search.best_fixed import best_fixed, best_of_candidates
from daedalus.design.search.objective import EpisodeObjective
from daedalus.evaluation.answer_log import AnswerLog
from daedalus.evaluation.episodes import compare, episode_means
from daedalus.evaluation.figures import population_bars
from daedalus.evaluation.statistics import summarise
from daedalus.launch.comparison import keep_answers
from daedalus.launch.config.tasks import PopulationsTable
from daedalus.launch.from_config import make_context, make_envs
from daedalus.launch.tracked import tracked
from daedalus.market.mechanism import Mechanism
from daedalus.market.parsing import format_mechanism
from daedalus.market.seeds import generator


def main(config: PopulationsTable, out: Path) -> None:
    """Search the best mechanism of each population and of all; score them on other markets."""
    envs = make_envs(config)
    best = {
        name: _search(config, env, name)
        for name, env in tqdm(envs.items(), "searching", leave=False, disable=None)
    }
    everywhere = EpisodeObjective(list(envs.values()), config.seed)
    overall = best_of_candidates(list(best.values()), everywhere, 2, config.designer.sweep_episodes)
    summaries, logs = [], []
    for name, env in tqdm(envs.items(), "comparing", leave=False, disable=None):
        own = {"best_overall": overall, "best_own": best[name]}
        context = make_context(config, env, population=name)
        designers = build_all(config.evaluation.baselines, context)
        designers |= {label: FixedDesigner(each) for label, each in own.items()}
        logs.append(AnswerLog(name))
        episodes = config.evaluation.episodes
        steps = compare(env, designers, episodes, config.seed, logs[-1])
        summary = summarise(episode_means(steps), config.evaluation, config.seed)
        summaries.append(summary.assign(population=name))
    table = pd.concat(summaries, ignore_index=True)
    with tracked(config, out) as (_, report):
        report.table(table, "summary")
        keep_answers(logs, report)
        wide = table.pivot(index="population", columns="designer", values="mean")
        order = [*config.evaluation.baselines, "best_overall", "best_own"]
        report.show(wide.loc[list(envs), order].reset_index(), f"mean of {config.reward.name}")
        report.say(f"best overall: {format_mechanism(overall)}")
        report.figure(population_bars(table, config.evaluation.confidence), "populations")


def _search(config: PopulationsTable, env: DesignEnv, name: str) -> Mechanism:
    score = EpisodeObjective([env], config.seed)
    return best_fixed(config.designer, score, generator(config.seed, f"search/{name}"))[0]
