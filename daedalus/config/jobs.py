"""The jobs of a sweep."""

from __future__ import annotations

from pathlib import Path

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import OmegaConf

HOW_LAUNCHED = ("resume", "workers")
"""Keys that say how a run is launched; its results do not depend on them."""


def jobs_of_sweep(multirun: Path) -> list[dict[str, str]]:
    """Return the overrides of each job, by key, in the order in which Hydra numbers the jobs.

    The keys of ``HOW_LAUNCHED`` are left out.

    Args:
        multirun: The file multirun.yaml, which Hydra writes before the first job starts.
    """
    task = OmegaConf.load(multirun).hydra.overrides.task
    overrides = OverridesParser.create().parse_overrides(list(task))
    (jobs,) = BasicSweeper.split_arguments(overrides, max_batch_size=None)
    named = [dict(_split(override) for override in job) for job in jobs]
    return [{key: value for key, value in job.items() if key not in HOW_LAUNCHED} for job in named]


def _split(override: str) -> tuple[str, str]:
    key, _, value = override.partition("=")
    return key.lstrip("+~"), value
