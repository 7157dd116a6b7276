"""Run an experiment: ``python run.py +experiment=grpo_stage3``; see ``--help``."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from daedalus import processes
from daedalus.checks import CannotRunError
from daedalus.config import (
    CONF,
    ROOT,
    ConfigError,
    explain,
    first_screen,
    help_text,
    register,
    to_config,
)
from daedalus.config.jobs import Launch
from daedalus.phases import clock_run
from daedalus.provenance import refusal_record, run_record
from daedalus.run_folder import RunFolder
from daedalus.workers import sharing

_SHARED_TASKS = ("sft", "grpo")
_ONE_PROCESS = "task: {}; only {} run in several processes. Start this one by python run.py"
_NO_FLAG = (
    "{}: several processes train one run. Leave it out, or start one process by python run.py"
)
_AGAIN = (
    "jobs.csv in the sweep's folder has the state of each job that began. To go on with those that "
    "have not finished, run the same command with resume=true"
)


@hydra.main(version_base="1.3", config_path=str(CONF), config_name="config")
def main(composed: DictConfig) -> None:
    """Check the composed configuration, record where the run comes from, and run its task."""
    this = HydraConfig.get()
    folder, launch = Path(this.runtime.output_dir), Launch.of(this)
    with refusal_record(folder, launch):
        config = to_config(composed, launch.overrides)
    if processes.count() > 1 and config.task not in _SHARED_TASKS:
        raise ConfigError(_ONE_PROCESS.format(config.task, " and ".join(_SHARED_TASKS)))
    with run_record(composed, folder, launch) as out:
        processes.handed_over((config, out))  # to the others, which wait in _follow
        if out is not None:
            with clock_run(RunFolder(out).phases), sharing(config.workers):
                import_module(f"experiments.{config.task}").main(config, out)


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
    _prepare()
    main()


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
    if isinstance(error, HydraException | OmegaConfBaseException | ConfigError):
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
