"""Search the oracle of each population, and measure it and the random designer in new episodes."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial
from pathlib import Path

import pandas as pd

from daedalus.checks import CannotRunError
from daedalus.config import Config
from daedalus.designers.fixed import FixedDesigner
from daedalus.designers.random import RandomDesigner
from daedalus.env import DesignEnv, Designer
from daedalus.evaluation.episodes import compare
from daedalus.evaluation.scale import SCALES, Scale, fingerprint
from daedalus.market.seeds import generator
from daedalus.runs.files import written_whole
from daedalus.runs.workers import share_out
from daedalus.search.best_fixed import best_fixed
from daedalus.search.objective import EpisodeObjective
from experiments.build import make_envs
from experiments.tracked import tracked


def main(config: Config, out: Path) -> None:
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
        with written_whole(out / SCALES.name) as aside:
            aside.write_text(json.dumps({"seed": config.seed, "scales": found}, indent=1) + "\n")
        columns = ["population", "floor", "oracle"]
        report.show(pd.DataFrame(map(asdict, scales))[columns], "mean R, the ends of the scale")


def _measure(config: Config, item: tuple[str, DesignEnv]) -> Scale:
    """Return the scale of a population. The search sees none of the episodes that measure it."""
    name, env = item
    score = EpisodeObjective([env], config.seed)
    best = best_fixed(config.designer, score, generator(config.seed, f"search/{name}"))[0]
    episodes = config.evaluation.episodes
    designers: dict[str, Designer] = {"random": RandomDesigner(), "oracle": FixedDesigner(best)}
    steps = compare(env, designers, episodes, config.seed)
    means = steps.groupby(["designer", "episode"])["reward"].mean().groupby("designer").mean()
    return Scale(name, float(means["random"]), float(means["oracle"]), best, episodes)
