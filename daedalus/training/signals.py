"""What training says of itself, from the trainers' logs to ours."""

from __future__ import annotations

import json
from typing import Any

import datasets
import pandas as pd
import transformers
from transformers import (
    ProgressCallback,
    Trainer,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)

from daedalus.files import written_whole
from daedalus.run_folder import RunFolder
from daedalus.tracking import Tracker

NAMES = {
    "loss": "loss",
    "learning_rate": "learning_rate",
    "grad_norm": "grad_norm",
    "entropy": "entropy",
    "mean_token_accuracy": "token_accuracy",
    "reward": "reward",
    "group_reward_std": "reward_std",
    "groups_without_spread": "frac_reward_zero_std",
    "completions/mean_length": "completion_length",
    "validity": "validity",
    "reward_seconds": "reward_seconds",
    "step_time": "step_seconds",
}
"""Our name of each number that a trainer logs; reward terms come as ``term/NAME``.

TRL's own ``reward_std`` and ``frac_reward_zero_std`` are of the whole batch under some settings;
ours are always within groups, measured by the reward.
"""


class SignalsCallback(TrainerCallback):
    """Passes every log of a trainer on to the tracker."""

    def __init__(self, tracker: Tracker, phase: str) -> None:
        self._tracker = tracker
        self._phase = phase

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Log the numbers that we name, at the trainer's step."""
        metrics = {NAMES[key]: float(value) for key, value in (logs or {}).items() if key in NAMES}
        for key, value in (logs or {}).items():
            if key.startswith("term/"):
                metrics[key.removeprefix("term/")] = float(value)
        if "loss" in metrics:  # the closing summary of a phase has none
            self._tracker.log(self._phase, state.global_step, metrics)


class ProgressBar(ProgressCallback):
    """A progress bar with the latest numbers beside it, instead of a line for each step."""

    SHOWN = ("loss", "reward", "entropy", "validity")

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Show what was logged."""
        if self.training_bar is not None and logs:
            shown = {name: f"{float(logs[name]):.3f}" for name in self.SHOWN if name in logs}
            self.training_bar.set_postfix(shown)


def hide_small_progress_bars() -> None:
    """Leave only the training's own progress bar: tokenizing and saving take seconds."""
    datasets.disable_progress_bars()
    transformers.utils.logging.disable_progress_bar()


def show_progress(trainer: Trainer) -> None:
    """Give a trainer our progress bar in place of its own."""
    trainer.remove_callback(ProgressCallback)
    trainer.add_callback(ProgressBar)


def write_history(tracker: Tracker, phase: str, run: RunFolder) -> pd.DataFrame:
    """Write training_history.json and .csv from what a phase logged; return them as a table."""
    records = tracker.history(phase)
    history = pd.DataFrame(records)
    with written_whole(run.history) as aside:
        aside.write_text(json.dumps(records, indent=1) + "\n")
    with written_whole(run.history_table) as aside:
        history.to_csv(aside, index=False)
    return history
