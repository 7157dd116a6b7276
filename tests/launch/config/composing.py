"""Configurations composed in Python, and what conf/ offers; helpers for tests, not a test."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from daedalus.launch.config.compose import compose_config
from daedalus.launch.config.mistakes import ConfigError
from daedalus.launch.config.paths import CONF, option_names
from daedalus.market.mechanism import Mechanism
from daedalus.market.population_settings import PopulationSettings

FILES = sorted(CONF.rglob("*/*.yaml"))
GROUPS = "population populations market mechanism reward designer model training".split()
GROUPS += ["tracking", "tuning", "bidder"]
EXPERIMENTS = [path.stem for path in FILES if path.parent.name == "experiment"]
POPULATIONS = option_names("population")
STAGES = [f"stage{stage}" for stage in range(5)]

composed = compose_config
composed_once = cache(compose_config)
"""The same object for each test that asks: none may change it."""


def listed_populations(group: str) -> dict[str, PopulationSettings]:
    """Return the populations that an option of ``populations`` lists, by their names."""
    overrides = sorted(["task=oracle", "designer=search", f"populations={group}"])
    listed: dict[str, PopulationSettings] = composed_once(*overrides).populations
    return listed


def failure(*overrides: str) -> str:
    """Return the message with which a configuration is refused."""
    with pytest.raises(ConfigError) as caught:
        compose_config(*overrides)
    return str(caught.value)


def own_experiment(folder: Path, text: str) -> tuple[str, str]:
    """Write an experiment of the user's; return the overrides that choose it."""
    (folder / "experiment").mkdir()
    (folder / "experiment" / "mine.yaml").write_text(text)
    return f"hydra.searchpath=[file://{folder}]", "+experiment=mine"


def group_of(path: Path) -> str:
    """Return the group that a file of conf/ belongs to."""
    return path.parent.relative_to(CONF).as_posix()


def leave_run(run: Path, seed: int) -> Path:
    """Leave what commands look for in a training run; return the model's folder.

    The portfolio has one mechanism, and the distillation data no market.
    """
    for folder in ("model", "sft_model", "reader"):
        (run / folder).mkdir(parents=True)
        (run / folder / "config.json").write_text("{}")
    (run / "config.yaml").write_text(f"task: grpo\nseed: {seed}\n")
    mechanism = Mechanism().to_dict()
    rows = [mechanism.keys(), mechanism.values()]
    (run / "portfolio.csv").write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    columns = {name: np.empty(0) for name in ("features", "rewards", *mechanism)}
    np.savez(run / "distillation_data.npz", **columns)
    return run / "model"
