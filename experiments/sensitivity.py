"""Measure what each field of a mechanism is worth in each population."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pandas as pd
from tqdm import tqdm

from daedalus.lab.studies import sensitivity, sensitivity_figures
from daedalus.launch.config.tasks import Sensitivity
from daedalus.launch.from_config import make_env, make_envs
from daedalus.launch.tracked import tracked

SAMPLED = 32
"""Number of populations that are sampled to measure the gain from adapting."""


def main(config: Sensitivity, out: Path) -> None:
    """Check the requirements of a design problem; write all responses and draw them."""
    envs = make_envs(config)
    episodes, seed = config.evaluation.episodes, config.seed
    search = config.designer
    responses = {
        name: sensitivity.respond(env, search, episodes, seed, name)
        for name, env in tqdm(envs.items(), "populations", leave=False, disable=None)
    }
    starts = [each.best for each in responses.values()]
    adapting = sensitivity.adapting_pays(
        make_env(config), starts, SAMPLED, max(1, episodes // 16), seed
    )
    pure = {name: env for name, env in envs.items() if name != "mixture"}
    identification = sensitivity.identify(pure, episodes // 4, seed)
    tables = sensitivity.tables_of(responses)
    tables["summary"] = sensitivity.verdicts(tables, adapting, identification)
    tables["best_fixed"] = pd.DataFrame(
        {"population": name, **asdict(each.best)} for name, each in responses.items()
    )
    tables["sampled"] = adapting
    with tracked(config, out) as (_, report):
        for name, table in tables.items():
            long = name in ("responses", "best_fixed", "sampled")
            report.table(table, name, "" if long else name)
        report.say(f"{tables['summary']['passes'].sum()} of {len(tables['summary'])} rows pass")
        report.figure(sensitivity_figures.response_curves(tables["responses"]), "responses")
        report.figure(sensitivity_figures.best_settings(tables["responses"]), "best_settings")
        report.figure(sensitivity_figures.confusion(identification), "identification")
