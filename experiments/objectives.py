"""Ask one model for many objectives, and search for each: the fronts that they reach."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from tqdm import tqdm

from daedalus.checks import CannotRunError, doing
from daedalus.design.designers.build import build_all
from daedalus.design.designers.language_model import LanguageModelDesigner
from daedalus.design.env import DesignEnv
from daedalus.design.rewards.stack import RewardStack
from daedalus.lab.studies.pareto_fronts import (
    GOALS,
    front_panels,
    fronts,
    reached,
    volumes,
    weightings,
)
from daedalus.launch.config.tasks import Objectives
from daedalus.launch.from_config import allowed_in, load_generate, make_context
from daedalus.launch.tracked import tracked

_SEARCH = "search"


def main(config: Objectives, out: Path) -> None:
    """Play the model and a search for each weighting; write fronts.csv, volumes.csv and a figure.

    Raises:
        CannotRunError: The model was not trained with weights of all goals.
    """
    with doing(f"designer {config.designer.name} cannot be built"):
        generate, prompt = config.designer.load(load_generate)
    missing = [name for name in GOALS if name not in prompt.weights]
    if missing:
        raise CannotRunError(
            f"designer.checkpoint: {config.designer.checkpoint} was not trained with weights of "
            f"{', '.join(missing)}; give a run of grpo_objectives, such as trained=RUN"
        )
    population = config.population.in_market(config.market.name)
    with tracked(config, out) as (_, report):
        frames = []
        for weights in tqdm(weightings(), "objectives", leave=False, disable=None):
            stack = RewardStack(weights)
            env = DesignEnv.of(config.market, population, stack, allowed=allowed_in(config))
            asked = LanguageModelDesigner(generate, prompt, config.designer.strict)
            baselines = build_all(config.evaluation.baselines, make_context(config, env))
            designers = baselines | {config.designer.name: asked}
            frames.append(reached(env, designers, config.evaluation.episodes, config.seed))
        table = fronts(pd.concat(frames, ignore_index=True))
        shares = volumes(table, _SEARCH)
        shown = table[["objective", "designer", "reward", *GOALS, "front"]]
        report.table(table, "fronts")
        report.show(shown, "what each reaches")
        report.table(shares, "volumes", f"hypervolume, and its share of that of {_SEARCH}")
        report.figure(front_panels(table, shares), "fronts")
