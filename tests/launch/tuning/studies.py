"""Studies of made-up trials, for tests; not a test."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pandas as pd
from optuna.trial import Trial

from daedalus.launch.config.tuning import PruningSettings, SpaceSettings, TuningSettings
from daedalus.launch.tuning.study import Study
from daedalus.runs.files import locked

SPACE = {
    "rate": SpaceSettings("training.grpo.learning_rate", low=1e-5, high=1e-2, log=True),
    "scale": SpaceSettings("training.grpo.scale_rewards", choices=["group", "batch"]),
}
OWN = {"rate": 2e-4, "scale": "batch"}


def make_study(
    folder: Path, pruning: PruningSettings | None = None, described: str = "same", **changes: Any
) -> Study:
    settings = TuningSettings(space=SPACE, pruning=pruning, **changes)
    return Study(folder, settings, seed=0, own=OWN, described=described)


class Worker:
    """Claims trials of a study, and holds the locks of their folders until it dies."""

    def __init__(self, study: Study) -> None:
        self.study, self._held = study, ExitStack()

    def claim(self) -> Trial | None:
        with self.study.alone():
            trial = self.study.claim()
            if trial is not None:
                folder = self.study.run(trial.number).path
                folder.mkdir(parents=True, exist_ok=True)
                self._held.enter_context(locked(folder, wait=False))
        return trial

    def die(self) -> None:
        """Leave the trials, as the system does with the locks of a process that was killed."""
        self._held.close()


def leave_summary(study: Study, number: int, mean: float) -> None:
    """Leave the table from which a trial's score is read."""
    run = study.run(number)
    run.path.mkdir(parents=True, exist_ok=True)
    rows = [{"designer": "random", "mean": 0.9}, {"designer": "trained", "mean": mean}]
    pd.DataFrame(rows).to_csv(run.summary, index=False)


def play_all(study: Study, scores: list[float]) -> None:
    """Play trials to these scores."""
    for score in scores:
        trial = Worker(study).claim()
        assert trial is not None
        leave_summary(study, trial.number, score)
        study.tell_score(trial)
