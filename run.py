"""Run an experiment: ``python run.py +experiment=grpo_stage3``; see ``--help``."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import hydra
from hydra.conf import HydraConf
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from daedalus import processes
from daedalus.checks import CannotRunError
from daedalus.config import (
    CONF,
    ROOT,
    ConfigError,
    explain,
    first_screen,
    help_text,
    is_of_composing,
    register,
    require_known_keys,
    to_config,
)
from daedalus.config.tasks import TASKS
from daedalus.phases import clock_run
from daedalus.provenance import refusal_record, run_record
from daedalus.run_folder import RunFolder
from daedalus.workers import sharing

_NO_SLURM = (
    "hydra/launcher=slurm: this machine has no sbatch. Use a machine of the cluster, or leave the "
    "setting out: the jobs then run here, one after another"
)
_NO_SWEEP = "hydra/launcher sets how a sweep runs: add -m, or leave the setting out"
_ONE_PROCESS = "task: {}; only {} run in several processes. Start this one by python run.py"
_NO_FLAG = (
    "{}: several processes train one run. Leave it out, or start one process by python run.py"
)
_AGAIN = (
    "jobs.csv in the sweep's folder has the state of each job. To go on with those that have not "
    "finished, run the same command with resume=true"
)


@hydra.main(version_base="1.3", config_path=str(CONF), config_name="config")
def main(composed: DictConfig) -> None:
    """Check the composed configuration, record where the run comes from, and run its task."""
    this = HydraConfig.get()
    folder = Path(this.runtime.output_dir)
    with _refusals(this, folder), refusal_record(folder):
        require_known_keys(OmegaConf.create({"hydra": this}), besides=["hydra.env"])
        config = to_config(composed, list(this.overrides.task))
        shared = [name for name, task in TASKS.items() if task.shared]
        if processes.count() > 1 and config.task not in shared:
            raise ConfigError(_ONE_PROCESS.format(config.task, " and ".join(shared)))
    with run_record(composed, folder) as out:
        processes.handed_over((config, out))  # to the others, which wait in _follow
        if out is not None:
            with clock_run(RunFolder(out).phases), sharing(config.workers):
                import_module(f"experiments.{config.task}").main(config, out)


@contextmanager
def _refusals(this: HydraConf, folder: Path) -> Iterator[None]:
    """End with one message if the block refuses the run; a job of a sweep raises its error.

    What Hydra wrote is removed, unless the folder is that of an earlier launch.
    """
    try:
        yield
    except Exception as error:
        if this.mode == RunMode.MULTIRUN or not is_of_composing(error):
            raise
        if not RunFolder(folder).config.exists():
            if this.output_subdir:
                shutil.rmtree(folder / this.output_subdir)
            (folder / f"{this.job.name}.log").unlink(missing_ok=True)
            _remove_empty(folder)
        sys.exit(explain(error))


def _remove_empty(folder: Path) -> None:
    """Remove a folder, and those above it, as long as they are empty and below this one."""
    here = Path.cwd()
    while folder not in (here, *here.parents) and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def _follow() -> None:
    """Take part in the run of the main process."""
    work = processes.handed_over(None)
    assert work is not None
    config, out = work
    if out is not None:
        import_module(f"experiments.{config.task}").main(config, out)


def cli() -> None:
    """Print the help, or run; a wrong configuration gives one message."""
    try:
        _start(sys.argv[1:]) if processes.is_main() else _follow()
    except Exception as error:
        message = _message(error)
        if message is None:
            raise
        sys.exit(message)


def _start(arguments: list[str]) -> None:
    flags = [each for each in arguments if each.startswith("-")]
    if processes.count() > 1 and flags:
        sys.exit(_NO_FLAG.format(flags[0]))
    if not arguments:
        print(first_screen(), file=sys.stderr)
        sys.exit(2)
    if {"--help", "-h"} & set(flags):
        print(help_text())
        return
    _check_launcher(arguments)
    _prepare()
    main()


def _check_launcher(arguments: list[str]) -> None:
    """Refuse a launcher that Hydra would ignore, or that this machine does not have."""
    launchers = [each for each in arguments if each.startswith("hydra/launcher=")]
    if launchers and not {"-m", "--multirun"} & set(arguments):
        sys.exit(_NO_SWEEP)
    if "hydra/launcher=slurm" in launchers and not shutil.which("sbatch"):
        sys.exit(_NO_SLURM)


def _prepare() -> None:
    """Set what Hydra and the jobs of a sweep need."""
    os.environ["HYDRA_FULL_ERROR"] = "1"  # makes Hydra raise the exception instead of printing it
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]  # for jobs elsewhere
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    register()


def _message(error: Exception) -> str | None:
    """Return what to tell the user, or None if the error needs a traceback."""
    if isinstance(error, CannotRunError):
        return str(error)
    if is_of_composing(error):
        return explain(error)
    launcher = type(error).__module__.partition(".")[0]  # its errors are slow to import
    if launcher == "joblib":
        return f"A process of the sweep was killed, and its other jobs stop. {_AGAIN}"
    if launcher != "submitit":
        return None
    refused = type(error).__name__ == "FailedSubmissionError"
    return str(error) if refused else f"{error}\nThe other jobs of the sweep go on. {_AGAIN}"


if __name__ == "__main__":
    cli()
