"""Show what a designer sets in each population, when it has understood, and what errors cost."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from daedalus.config import Config
from daedalus.env import DesignEnv, Designer
from daedalus.evaluation.understanding import (
    changed_fields,
    choices,
    decisions_by_population,
    gains,
    losses,
)
from daedalus.evaluation.understanding_figures import changes, choice_panels, understanding
from experiments.build import build_all, make_context, make_env, make_envs
from experiments.tracked import tracked

_OWN, _BEFORE = "best_own", "sft"


def main(config: Config, out: Path) -> None:
    """Play the designer in all populations; write decisions.csv, losses.csv, changes.csv, figures.

    Raises:
        ValueError: The baselines lack the reference ``best_own`` or the model before GRPO, ``sft``.
    """
    missing = [name for name in (_OWN, _BEFORE) if name not in config.evaluation.baselines]
    if missing:
        raise ValueError(f"evaluation.baselines: {', '.join(missing)} is missing; add it")
    name, envs = config.designer.name, make_envs(config)
    designers = _designers(config, envs)
    episodes, seed = config.evaluation.episodes, config.seed
    table = decisions_by_population(envs, designers, episodes, seed)
    frames = [
        changed_fields(env, designers[place][name], designers[place][_BEFORE], episodes, seed)
        for place, env in envs.items()
    ]
    differ = pd.concat(frames, keys=list(envs), names=["population"]).reset_index("population")
    with tracked(config, out) as (_, report):
        report.table(table, "decisions")
        report.table(differ, "changes")
        lost = losses(table, name, _OWN)
        report.table(lost.reset_index(), "losses")
        report.show(lost.reset_index(), f"R lost against {_OWN}, and the step of settling")
        report.figure(choice_panels(*choices(table, name), name), "choices")
        report.figure(understanding(lost, name, _OWN), "understanding")
        report.figure(changes(differ, gains(table, name, _BEFORE), name, _BEFORE), "changes")


def _designers(config: Config, envs: Mapping[str, DesignEnv]) -> dict[str, dict[str, Designer]]:
    """Return the designers of each population; only those that are made for it differ."""
    settings = config.evaluation.baselines | {config.designer.name: config.designer}
    portable = {name: each for name, each in settings.items() if not each.per_population}
    local = {name: each for name, each in settings.items() if each.per_population}
    everywhere = build_all(portable, make_context(config, make_env(config)))
    return {
        name: everywhere | build_all(local, make_context(config, env)) for name, env in envs.items()
    }
