"""Functions that files in ``conf/`` call: folders of runs and jobs, and the run of a seed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from daedalus.launch.config.jobs import HOW_LAUNCHED, Launch, folder_of_job, jobs_of_sweep
from daedalus.launch.config.mistakes import ConfigError
from daedalus.runs.folder import JOB_TABLE, RunFolder, runs_below

NOTHING_TO_RESUME = "resume=true: {} has no run to resume; leave it out to start a new run"


def register_resolvers() -> None:
    """Register these functions with OmegaConf."""
    OmegaConf.register_new_resolver(
        "run_directory", run_directory, replace=True, use_cache=True
    )  # so that the jobs of a sweep share its folder, even if another sweep starts
    OmegaConf.register_new_resolver("job_directory", job_directory, replace=True)
    OmegaConf.register_new_resolver("run_of_seed", run_of_seed, replace=True)


def run_directory(fresh: str, resume: bool, words: Sequence[str] = ()) -> str:
    """Return the folder of a run or of a sweep.

    Without ``resume`` it is ``fresh``. With it, it is the newest sweep there that had the
    same words; else the newest unfinished folder; and if there is none, the newest finished one.

    Raises:
        ConfigError: There is nothing to resume.
    """
    if not resume:
        return fresh
    folder = Path(fresh).parent
    started = {run.path for run in runs_below(folder)}
    started |= {path.parent for path in folder.glob(f"*/{JOB_TABLE}")}
    if not started:
        raise ConfigError(NOTHING_TO_RESUME.format(folder))
    same = [each for each in started if _sweep_words(each) == _kept(words)]
    unfinished = [each for each in started if not RunFolder(each).finished.exists()]
    return str(max(same or unfinished or started))


def _sweep_words(folder: Path) -> list[str] | None:
    """Return the overrides of the sweep in a folder; None if there is no sweep."""
    record = folder / "multirun.yaml"
    if not record.is_file():
        return None
    return _kept(OmegaConf.select(OmegaConf.load(record), "hydra.overrides.task") or ())


def _kept(words: Sequence[str]) -> list[str]:
    return sorted(each for each in words if each.partition("=")[0] not in HOW_LAUNCHED)


def job_directory(*, _root_: DictConfig) -> str:
    """Return the folder of the job that is being composed, below the folder of its sweep.

    It is the job's number, or with ``resume`` the folder of the job with the same settings.
    """
    hydra = _root_.hydra
    if not _root_.resume:
        return str(hydra.job.num)
    job = Launch(list(hydra.overrides.task), number=hydra.job.num)
    return folder_of_job(Path(hydra.sweep.dir), job)


def run_of_seed(folder: str, *, _root_: DictConfig) -> str:
    """Return the run in ``folder`` with the seed of the configuration that is being composed.

    If the folder is itself a run, it is returned; of another seed only outside a sweep.

    So each run of a sweep loads the model that its own seed trained:
    ``${run_of_seed:FOLDER}/model``.

    Raises:
        ConfigError: No folder is named, or it has no run of that seed, or several; or a sweep
            would count one model as several seeds.
    """
    if not folder:
        raise ConfigError("no runs to take; name the folder of a sweep, such as trained=FOLDER")
    if not Path(folder).is_dir():
        raise ConfigError(
            f"trained: there is no folder {folder}; name the folder of a sweep or of a run"
        )
    own = RunFolder(Path(folder)).config
    if own.exists():
        _require_seed(own, _root_.seed)
        return folder
    found = {*runs_below(Path(folder)), *jobs_of_sweep(Path(folder))}
    seeds = {run.path: OmegaConf.load(run.config).seed for run in found if run.config.exists()}
    runs = [str(run) for run, seed in seeds.items() if seed == _root_.seed]
    if len(runs) != 1:
        raise ConfigError(
            f"{folder}: {len(runs)} runs with seed {_root_.seed}; its runs have seeds "
            f"{sorted(seeds.values())}. Name the folder of a sweep with one run for each seed"
        )
    return runs[0]


def _require_seed(config: Path, seed: int) -> None:
    """Refuse a job of a sweep whose seed is not that of the one run that all jobs would take."""
    in_sweep = HydraConfig.initialized() and HydraConfig.get().mode == RunMode.MULTIRUN
    if in_sweep and (trained := OmegaConf.load(config).seed) != seed:
        raise ConfigError(
            f"{config.parent}: one run, of seed {trained}. With seed {seed} the tables of this "
            "sweep would count its model as another one. Name the folder of a sweep with a run for "
            f"each seed, or set seed={trained}"
        )
