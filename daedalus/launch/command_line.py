"""The command line, ``python run.py`` or ``daedalus``: composes a configuration, runs its task."""

from __future__ import annotations

import logging
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import hydra
from hydra.conf import HydraConf
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from daedalus.checks import CannotRunError
from daedalus.launch.config.compose import quoted, register, require_task, to_config, why_not
from daedalus.launch.config.jobs import Launch
from daedalus.launch.config.mistakes import ConfigError, explain, is_of_composing
from daedalus.launch.config.nodes import require_known_keys
from daedalus.launch.config.paths import CONF, ROOT
from daedalus.launch.config.preflight import preflight
from daedalus.launch.config.resolvers import NOTHING_TO_RESUME, run_directory
from daedalus.launch.config.task_options import task_classes
from daedalus.launch.config.task_parts import Task
from daedalus.launch.progress import progress
from daedalus.launch.provenance import refusal_record, run_record
from daedalus.runs import processes
from daedalus.runs.endings import (
    command,
    described,
    heeding_signals,
    keep_traceback,
    program,
    release,
    unrecorded,
    wants_traceback,
)
from daedalus.runs.folder import RunFolder
from daedalus.runs.importing import slow_imports
from daedalus.runs.phases import clock_run
from daedalus.runs.waiting import heard
from daedalus.runs.workers import sharing

logger = logging.getLogger(__name__)

_ONE_PROCESS = "task: {}; several processes run only {}. Start this one by {}"
_NO_FLAG = "{}: several processes train one run. Leave it out, or start one process by {}"
_AGAIN = (
    "jobs.csv in the sweep's folder has the state of each job that began. To go on with those that "
    "have not finished, run the same command with resume=true"
)

_BEGINS = "{}: loading its libraries; the results go to {}"
_STOPPED_SWEEP = "Stopped; jobs.csv in {} has the state of each job. To go on with the others"
_STOPPED_SHARED = "Stopped. To go on, start the same command with resume=true\n"


@hydra.main(version_base="1.3", config_path=str(CONF), config_name="config")
def main(composed: DictConfig) -> None:
    """Run the composed task. In a sweep its failure is Hydra's to report, for the other jobs."""
    this = HydraConfig.get()
    folder, launch = Path(this.runtime.output_dir), Launch.of(this)
    sweep = this.mode == RunMode.MULTIRUN
    try:
        with _refusals(this, folder), refusal_record(folder, launch):
            config = _checked(composed, this, launch, folder)
        _run(config, composed, launch, folder)
    except KeyboardInterrupt as stop:
        stop.add_note(_how_to_go_on(composed, Path(this.sweep.dir) if sweep else folder, sweep))
        raise
    except Exception as error:
        sentence = _failure(error, folder)
        if wants_traceback(sys.argv):
            raise
        if sweep:
            raise CannotRunError(sentence) from error
        sys.exit(sentence)


def _checked(composed: DictConfig, this: HydraConf, launch: Launch, folder: Path) -> Task:
    """Return the configuration as objects, if this launch can run it."""
    require_task(composed)
    if composed.resume and not launch.place and not RunFolder(folder).config.exists():
        raise ConfigError(NOTHING_TO_RESUME.format(folder))
    require_known_keys(OmegaConf.create({"hydra": this}), besides=["hydra.env"])
    config = to_config(composed, launch.overrides)
    shared = [name for name, task in task_classes().items() if task.shared]
    if processes.count() > 1 and config.task not in shared:
        raise ConfigError(_ONE_PROCESS.format(config.task, " and ".join(shared), program()))
    preflight(config)
    return config


def _run(config: Task, composed: DictConfig, launch: Launch, folder: Path) -> None:
    """Record where the run comes from, and run its task."""
    known = config.resume or RunFolder(folder).config.exists()
    with run_record(composed, folder, launch) as out:
        processes.handed_over((config, out))  # to the others, which wait in _follow
        if known:
            logger.info(_found(config, folder, finished=out is None))
        if out is not None:
            heard()
            print(_BEGINS.format(config.task, out), file=sys.stderr, flush=True)
            with clock_run(RunFolder(out).phases), sharing(config.workers):
                _perform(config, out)


def _perform(config: Task, out: Path) -> None:
    with slow_imports():
        task = import_module(f"experiments.{config.task}")
    task.main(config, out)


def _found(config: Task, folder: Path, finished: bool) -> str:
    """Return what is found in the folder of a run that is resumed, or named again."""
    if finished:
        instead = "leave resume=true out" if config.resume else "name another hydra.run.dir"
        return f"{folder} has finished; to start a new run, {instead}"
    found = progress(config, folder)
    return f"goes on in {folder}: {found}" if found else f"starts anew in {folder}"


def _how_to_go_on(composed: DictConfig, folder: Path, sweep: bool) -> str:
    """Return the sentence for who has stopped a run, or a sweep, in a folder."""
    if sweep:
        return f"{_STOPPED_SWEEP.format(folder)}: {_resuming(folder, 'hydra.sweep.dir')}"
    found = progress(to_config(composed), folder)
    if found:
        return f"Stopped; kept are: {found}. To go on: {_resuming(folder, 'hydra.run.dir')}"
    return f"Stopped; {composed.task} has kept nothing yet. To start anew: {command()}"


def _resuming(folder: Path, key: str) -> str:
    """Return the command that goes on in a folder; it names the folder if another is newer."""
    newest = run_directory(str(folder.with_name("fresh")), resume=True)
    return command("resume=true", *([] if newest == str(folder) else [f"{key}={folder}"]))


def _interruption(stop: KeyboardInterrupt) -> str:
    """Return the sentence for who has stopped the program, of the process that says so."""
    if processes.count() > 1:
        return _STOPPED_SHARED if processes.is_main() else ""
    told = getattr(stop, "__notes__", [])
    if told:
        return f"{told[0]}\n"
    if HydraConfig.initialized() or {"-m", "--multirun"} & set(sys.argv):
        return f"Stopped. To go on: {command('resume=true')}\n"
    return f"Stopped before the run began. To start it: {command()}\n"


def _failure(error: Exception, folder: Path) -> str:
    """Keep the traceback of a failed run in its folder; return what to tell the user."""
    if is_of_composing(error):
        return explain(error)
    where = keep_traceback(error, RunFolder(folder).log)
    release(error)
    if isinstance(error, CannotRunError):
        return described(error)
    return f"{described(error)}. {where}"


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
        _perform(config, out)


def cli() -> None:
    """Run; a wrong configuration gives one message."""
    with heeding_signals(_interruption):
        try:
            _start(sys.argv[1:]) if processes.is_main() else _follow()
        except Exception as error:
            release(error)
            if wants_traceback(sys.argv):
                raise
            sys.exit(_message(error))


def _start(arguments: list[str]) -> None:
    sys.argv[1:] = arguments = _in_full(arguments)
    flags = [each for each in arguments if each.startswith("-")]
    if processes.count() > 1 and flags:
        sys.exit(_NO_FLAG.format(flags[0], program()))
    _prepare()
    main()


def _in_full(arguments: list[str]) -> list[str]:
    """Return the arguments with ``+experiment=NAME`` in place of a first word NAME."""
    if arguments and arguments[0].isidentifier():
        return [f"+experiment={arguments[0]}", *arguments[1:]]
    return arguments


def _overrides(arguments: list[str]) -> list[str]:
    """Return the changes among arguments; a folder of options is one of the search path."""
    words = [part for each in arguments for part in _parts(each)]
    folders = [
        f"hydra.searchpath=[{quoted(f'file://{Path(folder).absolute()}')}]"
        for flag, folder in pairwise(words)
        if _is_folder(flag)
    ]
    changes = [
        each for each in words if not each.startswith("-") and ("=" in each or each[:1] == "~")
    ]
    return [*folders, *changes]


def _parts(argument: str) -> list[str]:
    """Return an option and its value, or another argument as it is."""
    return argument.split("=", 1) if argument.startswith("-") else [argument]


def _is_folder(flag: str) -> bool:
    """Return whether a folder of options follows; argparse takes the beginnings of names, too."""
    return flag in ("-cd", "-cp") or flag.startswith(("--config-d", "--config-p"))


def _prepare() -> None:
    """Set what Hydra and the jobs of a sweep need."""
    os.environ["HYDRA_FULL_ERROR"] = "1"  # makes Hydra raise the exception instead of printing it
    if CONF.parent == ROOT:  # nothing is installed, so jobs elsewhere have to be told
        paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    quiet = "ignore:resource_tracker"  # it warns of what it cleans up after an interruption
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, [os.environ.get("PYTHONWARNINGS"), quiet]))
    register(_overrides(sys.argv[1:]))


def _message(error: Exception) -> str:
    """Return what to tell the user of an error that no run has reported."""
    if is_of_composing(error):
        return why_not(error, _overrides(sys.argv[1:]))
    launcher = type(error).__module__.partition(".")[0]  # its errors are slow to import
    if launcher == "joblib":
        return f"A process of the sweep was killed, and its other jobs stop. {_AGAIN}"
    if launcher != "submitit":
        return unrecorded(error)
    refused = type(error).__name__ == "FailedSubmissionError"
    return str(error) if refused else f"{error}\nThe other jobs of the sweep go on. {_AGAIN}"
