"""Show what a designer sets in each population, when it has understood, and what errors cost."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from daedalus.lab.studies.behaviour import advantage, decisions
from daedalus.lab.studies.understanding import changed_fields, choices, losses
from daedalus.lab.studies.understanding_figures import changes, choice_panels, understanding
from daedalus.launch.config.tasks import Understanding
from daedalus.launch.from_config import each_population
from daedalus.launch.tracked import tracked

_OWN, _BEFORE = "best_own", "sft"


def main(config: Understanding, out: Path) -> None:
    """Play the designer in all populations; write decisions.csv, losses.csv, changes.csv, figures.

    Raises:
        ValueError: The baselines lack the reference ``best_own`` or the model before GRPO, ``sft``.
    """
    missing = [name for name in (_OWN, _BEFORE) if name not in config.evaluation.baselines]
    if missing:
        raise ValueError(f"evaluation.baselines: {', '.join(missing)} is missing; add it")
    name, episodes, seed = config.designer.name, config.evaluation.episodes, config.seed
    played, changed = {}, {}
    for population, env, built in each_population(config):
        played[population] = decisions(env, built, episodes, seed)
        changed[population] = changed_fields(env, built[name], built[_BEFORE], episodes, seed)
    table, differ = (
        pd.concat(frames, names=["population"]).reset_index("population").reset_index(drop=True)
        for frames in (played, changed)
    )
    differ = differ.assign(designer=name)
    with tracked(config, out) as (_, report):
        report.table(table, "decisions")
        report.table(differ, "changes")
        lost = losses(table, name, _OWN)
        title = f"{config.reward.name} lost against {_OWN}, and the step of settling"
        report.table(lost.reset_index(), "losses", title)
        report.figure(choice_panels(*choices(table, name), name), "choices")
        report.figure(understanding(lost, name, _OWN), "understanding")
        gains = advantage(table, name, _BEFORE, "population")
        report.figure(changes(differ, gains, name, _BEFORE), "changes")
