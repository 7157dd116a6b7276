"""Tune settings of an experiment: play trials of it, each with other values of the settings."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path

from daedalus.checks import CannotRunError
from daedalus.evaluation.readable import as_table
from daedalus.evaluation.run_report import save
from daedalus.launch.config.mistakes import ConfigError
from daedalus.launch.config.tasks import Tune
from daedalus.launch.provenance import run_record
from daedalus.launch.tuning.experiment import TrialExperiment
from daedalus.launch.tuning.figures import history
from daedalus.launch.tuning.study import Study, is_stop
from daedalus.runs.console import make_console
from daedalus.runs.endings import described, keep_traceback, release
from daedalus.runs.files import write_table, write_text
from daedalus.runs.folder import RunFolder
from daedalus.runs.phases import clock_run
from daedalus.runs.tracking import watched

logger = logging.getLogger(__name__)


def main(config: Tune, out: Path) -> None:
    """Play trials until the study has all; write its table, figure and best experiment.

    Several workers may do so at the same time. Each plays trials that no other plays.

    Raises:
        CannotRunError: No trial has finished.
        ConfigError: The space has values that cannot be run, or the study another configuration.
    """
    settings, folder = config.tuning, Path(config.tuning.study or out).absolute()
    experiment = TrialExperiment(out, settings)
    own = experiment.check_space()
    study = Study(folder, settings, config.seed, own, experiment.described())
    while play(study, experiment):
        write(study, experiment, folder)
    write(study, experiment, folder)
    with study.alone():
        table = study.table()
        if study.best() is not None:
            scores = f"{settings.score} of {settings.designer}"
            save(history(table, scores), folder / "figures" / "history.png")
    make_console().print(as_table(table.drop(columns=["error"]), "trials"))
    if table["score"].isna().all():
        raise CannotRunError(f"{folder}: no trial has finished; trials.csv has their errors")


def play(study: Study, experiment: TrialExperiment) -> bool:
    """Play the next trial that nobody plays. Return whether there was one.

    Raises:
        CannotRunError: The machine lacks something that trials need.
        ConfigError: The settings of the study are wrong for all trials.
    """
    with ExitStack() as held:
        with study.alone():
            trial = study.claim()
            if trial is None:
                return False
            try:
                composed, config = experiment.compose(study.values(trial))
            except ConfigError as error:  # of these values together; each alone can be run
                study.tell_failure(trial, error)
                return True
            run = study.run(trial.number)
            held.enter_context(_go_on(run))
            unfinished = held.enter_context(run_record(composed, run.path))
        with study.telling(trial):  # before the folder is free
            if unfinished:
                with clock_run(run.phases), watched(study.watcher(trial)):
                    import_module(f"experiments.{config.task}").main(config, run.path)
            study.tell_score(trial)
    return True


@contextmanager
def _go_on(run: RunFolder) -> Iterator[None]:
    """Log the error of a trial, and go on with others; the study has been told of it."""
    try:
        yield
    except (CannotRunError, ConfigError):
        raise
    except Exception as error:
        where = "" if is_stop(error) else f". {keep_traceback(error, run.log)}"
        logger.warning("trial %s ended: %s%s", run.path.name, described(error), where)
        release(error)


def write(study: Study, experiment: TrialExperiment, folder: Path) -> None:
    """Write trials.csv, and experiment/best.yaml if a trial has finished."""
    with study.alone():
        table, best = study.table(), study.best()
        write_table(table, folder / "trials.csv")
        if best is not None:
            about = f"Trial {best.number}, the best of {len(table)}: its score is {best.value:.4f}."
            text = experiment.best(study.values(best), folder, about)
            write_text(folder / "experiment" / "best.yaml", text)
