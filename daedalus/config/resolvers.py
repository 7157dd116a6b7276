"""Values that ``conf/`` computes when it is composed: the run's directory, another run's seed."""

from __future__ import annotations

from pathlib import Path

from omegaconf import DictConfig, OmegaConf

from daedalus.config.mistakes import ConfigError

FINISHED = "finished"
"""Name of the empty file that marks a run directory as complete."""


def register_resolvers() -> None:
    """Tell OmegaConf about the functions that files in ``conf/`` call."""
    OmegaConf.register_new_resolver("run_directory", run_directory, replace=True)
    OmegaConf.register_new_resolver("run_of_seed", run_of_seed, replace=True)


def run_directory(fresh: str, resume: bool) -> str:
    """Return ``fresh``, or if asked to resume, the newest sibling of it that is unfinished."""
    started = {path.parent for path in Path(fresh).parent.glob("*/config.yaml")}
    started |= {path.parent for path in Path(fresh).parent.glob("*/multirun.yaml")}
    unfinished = sorted(each for each in started if not (each / FINISHED).exists())
    return str(unfinished[-1]) if resume and unfinished else fresh


def run_of_seed(folder: str, *, _root_: DictConfig) -> str:
    """Return the run in ``folder`` that had the seed of the configuration being composed.

    A sweep over seeds thus takes the model that each seed trained: ``${run_of_seed:FOLDER}/model``.

    Raises:
        ConfigError: No folder is named, or not exactly one run in it had that seed.
    """
    if not folder:
        raise ConfigError("no runs to take; name the folder of a sweep, such as trained=FOLDER")
    seeds = {path.parent: OmegaConf.load(path).seed for path in Path(folder).glob("*/config.yaml")}
    runs = [str(run) for run, seed in seeds.items() if seed == _root_.seed]
    if len(runs) != 1:
        raise ConfigError(
            f"{folder}: {len(runs)} runs of seed {_root_.seed}, of seeds {sorted(seeds.values())}; "
            "name the folder of a sweep that trained each seed once"
        )
    return runs[0]
