"""Settings of a study; this module imports fast, because ``--help`` needs it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from daedalus.checks import Checked, at_least


@dataclass
class SpaceSettings:
    """What a setting may be: a number in a range, or one of some choices.

    Attributes:
        key: The setting, such as ``training.grpo.learning_rate``.
        low: Least number.
        high: Greatest number.
        log: Whether the logarithm of the number is drawn uniformly at first, not the number.
        choices: Values instead of a range; whole numbers are written like this, too.
    """

    key: str
    low: float | None = None
    high: float | None = None
    log: bool = False
    choices: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.choices:
            self._check_choices()
        elif self.low is None or self.high is None:
            raise ValueError(f"{self.key}: no range; give low and high, or choices")
        elif not -math.inf < self.low < self.high < math.inf:
            raise ValueError(f"{self.key}: from {self.low} to {self.high}; give low below high")
        elif self.log and self.low <= 0:
            raise ValueError(f"{self.key}: low: {self.low}; a range with log begins above 0")

    def _check_choices(self) -> None:
        if self.low is not None or self.high is not None or self.log:
            raise ValueError(f"{self.key}: a range and choices; give one of the two")
        if not all(isinstance(each, str | int | float | None) for each in self.choices):
            raise ValueError(
                f"{self.key}: choices: {self.choices}; give numbers, texts, true, false or null"
            )
        if len({repr(each) for each in self.choices}) < max(2, len(self.choices)):
            raise ValueError(f"{self.key}: choices: {self.choices}; give two or more, each once")

    def examples(self) -> list[Any]:
        """Return the choices, or the ends of the range."""
        return list(self.choices) or [self.low, self.high]

    def holds(self, value: Any) -> bool:
        """Return whether the setting may have a value."""
        if self.choices:
            return value in self.choices
        assert self.low is not None and self.high is not None
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and self.low <= value <= self.high


@dataclass
class PruningSettings(Checked):
    """When a trial is stopped: if it is below the median of others after as many steps.

    Attributes:
        phase: The phase whose records are watched, such as ``grpo``.
        signal: The number in its records, such as ``reward``.
        interval: Steps over which the number is averaged. A trial may be stopped after each.
        warmup: Steps before which no trial is stopped.
        trials: Number of finished trials before which no trial is stopped.
    """

    phase: str = "grpo"
    signal: str = "reward"
    interval: int = at_least(1, 10)
    warmup: int = at_least(0, 30)
    trials: int = at_least(1, 4)


@dataclass
class TuningSettings(Checked):
    """A study: trials of an experiment, each with other values of some of its settings.

    The first trial has the experiment's own values.

    Attributes:
        task: The module of ``experiments/`` that a trial runs.
        space: The settings that are tuned, by any name, which tables and figures show.
        trials: Number of trials of the study, over all its workers.
        designer: The designer in a trial's summary.csv whose row holds the score.
        score: The column of the score. The study looks for the highest.
        pruning: When a trial is stopped early; None is never.
        study: Folder of the study, which several workers may share. If it is empty, the study
            lies in the worker's own folder.
        worker: Number of this worker, so that a sweep can start several. They share ``study``.
    """

    task: str = "grpo"
    space: dict[str, SpaceSettings] = field(default_factory=dict)
    trials: int = at_least(1, 20)
    designer: str = "trained"
    score: str = "mean"
    pruning: PruningSettings | None = None
    study: str = ""
    worker: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.worker is not None and not self.study:
            raise ValueError(
                f"worker: {self.worker}; several workers share a study: set study to its folder"
            )
