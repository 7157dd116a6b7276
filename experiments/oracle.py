"""Search the oracle of each population; measure it, the planner and random in new episodes."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial
from pathlib import Path

import pandas as pd

from daedalus.checks import CannotRunError
from daedalus.design.designers.fixed import FixedDesigner
from daedalus.design.designers.planner import PlannerSettings
from daedalus.design.designers.random import RandomDesigner
from daedalus.design.env import DesignEnv, Designer
from daedalus.design.search.best_fixed import best_fixed
from daedalus.design.search.objective import EpisodeObjective
from daedalus.evaluation.episodes import compare
from daedalus.evaluation.scale import ENDS, SCALES, Scale, fingerprint
from daedalus.launch.config.tasks import Oracle
from daedalus.launch.from_config import make_context, make_envs
from daedalus.launch.tracked import tracked
from daedalus.market.seeds import generator
from daedalus.runs.files import write_text
from daedalus.runs.workers import share_out

_PLANNED = 100  # episodes of the planner, which is slow


def main(config: Oracle, out: Path) -> None:
    """Write scales.json, which ``make oracle`` copies into the package.

    Raises:
        CannotRunError: The reward is not R.
    """
    if not config.reward.is_composite:
        raise CannotRunError(
            f"reward: {config.reward.name}; the scale is that of R, reward=composite"
        )
    envs = make_envs(config)
    scales = list(share_out(partial(_measure, config), envs.items(), len(envs)))
    found = {
        fingerprint(env): each.to_dict() for env, each in zip(envs.values(), scales, strict=True)
    }
    with tracked(config, out) as (_, report):
        text = json.dumps({"seed": config.seed, "scales": found}, indent=1) + "\n"
        write_text(out / SCALES.name, text)
        columns = ["population", "floor", "oracle", "planner"]
        title = f"mean R of the ends of the scale: {ENDS}"
        report.show(pd.DataFrame(map(asdict, scales))[columns], title)


def _measure(config: Oracle, item: tuple[str, DesignEnv]) -> Scale:
    """Return the scale of a population. The search sees none of the episodes that measure it."""
    name, env = item
    score = EpisodeObjective([env], config.seed)
    best = best_fixed(config.designer, score, generator(config.seed, f"search/{name}"))[0]
    episodes = config.evaluation.episodes
    oracle = FixedDesigner(best)
    floor, high = _means(config, env, {"random": RandomDesigner(), "oracle": oracle}, episodes)
    planner = PlannerSettings(name="planner").build(make_context(config, env))
    few = min(episodes, _PLANNED)
    own, planned = _means(config, env, {"oracle": oracle, "planner": planner}, few)
    return Scale(name, floor, high, high + planned - own, best, episodes)


def _means(
    config: Oracle, env: DesignEnv, designers: dict[str, Designer], episodes: int
) -> list[float]:
    """Return the mean R of each designer over the same episodes."""
    steps = compare(env, designers, episodes, config.seed)
    means = steps.groupby(["designer", "episode"])["reward"].mean().groupby("designer").mean()
    return [float(means[name]) for name in designers]
