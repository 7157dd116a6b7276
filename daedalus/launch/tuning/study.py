"""A study on Optuna: trials that several workers claim, and the table of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pandas as pd
from optuna.pruners import MedianPruner, NopPruner
from optuna.samplers import TPESampler
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend, JournalFileSymlinkLock
from optuna.trial import FrozenTrial, Trial, TrialState

from daedalus.checks import CannotRunError
from daedalus.launch.config.mistakes import ConfigError
from daedalus.launch.config.tuning import TuningSettings
from daedalus.market.seeds import generator
from daedalus.runs.files import cut_torn_line, locked, read_table
from daedalus.runs.folder import RunFolder
from daedalus.runs.tracking import Tracker, Watcher

_NAME = "study"
_STATES = {
    TrialState.COMPLETE: "finished",
    TrialState.PRUNED: "pruned",
    TrialState.FAIL: "failed",
    TrialState.RUNNING: "unfinished",
}


class _JournalLock(JournalFileSymlinkLock):
    """Cuts off what a killed worker left of a record, before the next worker appends its own."""

    def acquire(self) -> bool:
        acquired = super().acquire()
        cut_torn_line(Path(self._lock_target_file))
        return acquired


class Study:
    """The trials in a folder, which has ``journal.log`` and a run folder for each trial.

    A worker holds the lock of a trial's run folder while it plays the trial. So a trial that is
    not told, and whose folder nobody holds, was left by a worker that died.

    Args:
        folder: The folder. It may have a study already.
        settings: What is tuned, and how.
        seed: Seed of the values that trials get. The draws of a trial depend on its number only, so
            it is the same after an interruption.
        own: The experiment's own value of each setting, which the first trial gets.
        described: What else must be the same for all workers, as text.

    Raises:
        ConfigError: The study in this folder was started with something else.
    """

    def __init__(
        self, folder: Path, settings: TuningSettings, seed: int, own: dict[str, Any], described: str
    ) -> None:
        self._folder, self._settings, self._seed, self._own = folder, settings, seed, own
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        (folder / "trials").mkdir(parents=True, exist_ok=True)
        with self.alone():
            journal = str(folder / "journal.log")
            storage = JournalStorage(JournalFileBackend(journal, _JournalLock(journal)))
            self._study = optuna.create_study(
                storage=storage,
                study_name=_NAME,
                direction="maximize",
                load_if_exists=True,
                pruner=_pruner(settings),
            )
            self._check_same(described)
            if not self._study.trials:
                self._study.enqueue_trial(own)

    def _check_same(self, described: str) -> None:
        known = self._study.user_attrs.get("described")
        if known is None:
            self._study.set_user_attr("described", described)
        elif known != described:
            ours = described.splitlines()
            changed = [line.strip() for line in known.splitlines() if line not in ours]
            raise ConfigError(
                f"tuning.study: {self._folder} was started with another configuration "
                f"({'; '.join(changed[:5])}); give the same settings, or another folder"
            )

    def alone(self) -> AbstractContextManager[None]:
        """Keep the other workers from claiming a trial and from writing tables."""
        return locked(self._folder / "trials")

    def run(self, number: int) -> RunFolder:
        """Return the run folder of a trial."""
        return RunFolder(self._folder / "trials" / str(number))

    def claim(self) -> Trial | None:
        """Return a trial that nobody plays, or None if there is none and no more are wanted.

        Call it, and take the lock of the trial's run folder, while no other worker does.
        """
        trials = self._study.get_trials(deepcopy=False)
        begun = [each for each in trials if each.state != TrialState.WAITING]
        for each in begun:
            if each.state == TrialState.RUNNING and not self._is_played(each.number):
                self._study.sampler = self._sampler(each.number)
                return self._suggest(Trial(self._study, each._trial_id))
        if len(begun) >= self._settings.trials:
            return None
        self._study.sampler = self._sampler(len(begun))
        return self._suggest(self._study.ask())

    def _is_played(self, number: int) -> bool:
        folder = self.run(number).path
        folder.mkdir(exist_ok=True)
        try:
            with locked(folder, wait=False):
                return False
        except CannotRunError:
            return True

    def _sampler(self, number: int) -> TPESampler:
        return TPESampler(seed=int(generator(self._seed, "tuning", number).integers(2**32)))

    def _suggest(self, trial: Trial) -> Trial:
        for name, space in self._settings.space.items():
            if space.choices:
                trial.suggest_categorical(name, space.choices)
            else:
                assert space.low is not None and space.high is not None
                trial.suggest_float(name, space.low, space.high, log=space.log)
        return trial

    def values(self, trial: Trial | FrozenTrial) -> dict[str, Any]:
        """Return a trial's values by the names of the settings; drawn numbers have 3 digits."""
        if trial.number == 0:
            return self._own
        return {name: _rounded(value) for name, value in trial.params.items()}

    def watcher(self, trial: Trial) -> Watcher:
        """Return a function that reports a trial's records, and stops the trial if it is behind.

        Raises:
            TrialPruned: (the function) The trial is below the median of others.
            ConfigError: (the function) The records have no such number.
        """
        pruning, number = self._settings.pruning, trial.number
        known = self._study.get_trials(deepcopy=False)[number].intermediate_values

        def watch(tracker: Tracker, phase: str, step: int) -> None:
            if pruning is None or phase != pruning.phase or step % pruning.interval:
                return
            records = tracker.history(phase)[-pruning.interval :]
            if pruning.signal not in records[-1]:
                raise ConfigError(
                    f"tuning.pruning.signal: {pruning.signal!r}; the records of {phase} have "
                    f"{', '.join(records[-1])}"
                )
            if step not in known:
                trial.report(float(np.mean([each[pruning.signal] for each in records])), step)
            if trial.should_prune():
                raise optuna.TrialPruned(f"below the median of other trials at step {step}")

        return watch

    def tell_score(self, trial: Trial) -> None:
        """Tell the study that a trial has finished.

        Raises:
            ConfigError: Its summary has no such score, or its records no such phase.
            ValueError: Its score is no finite number.
        """
        pruning = self._settings.pruning
        told = self._study.get_trials(deepcopy=False)[trial.number].intermediate_values
        if pruning is not None and not told:
            raise ConfigError(
                f"tuning.pruning.phase: {pruning.phase!r}; a trial has no {pruning.interval} "
                "records of it, so choose another phase, or tuning.pruning=null"
            )
        self._study.tell(trial, self._score(self.run(trial.number)))

    @contextmanager
    def telling(self, trial: Trial) -> Iterator[None]:
        """Tell the study of an error of the block, unless it is the same for all trials."""
        try:
            yield
        except (CannotRunError, ConfigError):
            raise
        except Exception as error:
            self.tell_failure(trial, error)
            raise

    def tell_failure(self, trial: Trial, error: Exception) -> None:
        """Tell the study that a trial was stopped by its watcher, or that it failed."""
        if is_stop(error):
            self._study.tell(trial, state=TrialState.PRUNED)
            return
        trial.set_user_attr("error", f"{type(error).__name__}: {error}")
        self._study.tell(trial, state=TrialState.FAIL)

    def _score(self, run: RunFolder) -> float:
        table, settings = read_table(run.summary), self._settings
        if settings.score not in table:
            raise ConfigError(f"tuning.score: {settings.score!r}; choose one of {list(table)}")
        if "designer" in table:
            names = list(table["designer"])
            table = table[table["designer"] == settings.designer]
            if not len(table):
                raise ConfigError(f"tuning.designer: {settings.designer!r}; choose one of {names}")
        score = float(table[settings.score].mean())
        if not np.isfinite(score):
            raise ValueError(f"tuning.score: {settings.score} is {score}, no finite number")
        return score

    def table(self) -> pd.DataFrame:
        """Return a row for each trial that has begun.

        Its columns are the ``trial``, its ``state``, its ``score`` if it has finished, the values
        of the settings, the ``seconds`` of its launches that ended, its run ``folder``, and the
        ``error`` with which it failed.
        """
        trials = self._study.get_trials(deepcopy=False)
        return pd.DataFrame([self._row(each) for each in trials if each.state in _STATES])

    def _row(self, trial: FrozenTrial) -> dict[str, Any]:
        run, finished = self.run(trial.number), trial.state == TrialState.COMPLETE
        launches = json.loads(run.provenance.read_text()) if run.provenance.exists() else []
        return {
            "trial": trial.number,
            "state": _STATES[trial.state],
            "score": trial.value if finished else None,
            **self.values(trial),
            "seconds": sum(each.get("seconds", 0.0) for each in launches),
            "folder": str(run.path.relative_to(self._folder)),
            "error": trial.user_attrs.get("error", ""),
        }

    def best(self) -> FrozenTrial | None:
        """Return the finished trial with the highest score, the first of equals, or None."""
        finished = self._study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        return max(finished, key=lambda each: each.values[0], default=None)


def is_stop(error: Exception) -> bool:
    """Return whether an error means that a watcher stopped a trial."""
    return isinstance(error, optuna.TrialPruned)


def _pruner(settings: TuningSettings) -> optuna.pruners.BasePruner:
    if settings.pruning is None:
        return NopPruner()
    return MedianPruner(settings.pruning.trials, settings.pruning.warmup)


def _rounded(value: Any) -> Any:
    return float(f"{value:.3g}") if isinstance(value, float) else value
