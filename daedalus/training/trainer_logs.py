"""Logs of training: from the trainers to the tracker and to a progress bar."""

from __future__ import annotations

import json
import math
from typing import Any

import datasets
import pandas as pd
import transformers
from transformers import ProgressCallback, TrainerCallback, TrainerState

from daedalus.checks import CannotRunError
from daedalus.runs.files import write_table, write_text
from daedalus.runs.folder import RunFolder
from daedalus.runs.tracking import Tracker

_KEPT = """
loss learning_rate grad_norm entropy reward reward_sampled reward_neighbours validity reserve_price
reserve_price_low reserve_price_high generation_seconds reward_seconds
""".split()
NAMES = {name: name for name in _KEPT} | {
    "mean_token_accuracy": "token_accuracy",
    "group_reward_std": "reward_std",
    "groups_without_spread": "frac_reward_zero_std",
    "completions/mean_length": "completion_length",
    "step_time": "step_seconds",
}
"""Our name for each number in a trainer's log. The log also has reward terms as ``term/NAME``.

Under some settings TRL computes ``reward_std`` and ``frac_reward_zero_std`` over the whole batch.
Ours are always within groups; the reward function measures them. ``reward`` is the mean over whole
groups. If these hold neighbours, the two numbers after it tell them apart.
"""


class SignalsCallback(TrainerCallback):
    """Passes the logs of a trainer to the tracker.

    Args:
        tracker: Takes the logs.
        phase: Name of the phase in logs.
        rate: Key of the setting of its learning rate, for messages.
    """

    def __init__(self, tracker: Tracker, phase: str, rate: str) -> None:
        self._tracker = tracker
        self._phase = phase
        self._rate = rate

    def on_log(
        self, args: Any, state: TrainerState, control: Any, logs: Any = None, **_: Any
    ) -> None:
        """Log the numbers of ``NAMES`` and the reward terms, at the trainer's step.

        Raises:
            CannotRunError: The loss is no finite number, so the weights are lost.
        """
        logs = logs or {}
        if not math.isfinite(float(logs.get("loss", 0.0))):
            raise CannotRunError(
                f"{self._phase}: the loss of step {state.global_step} is no finite number; lower "
                f"{self._rate}, and start a new run"
            )
        metrics = {NAMES[key]: float(value) for key, value in logs.items() if key in NAMES}
        for key, value in logs.items():
            if key.startswith("term/"):
                metrics[key.removeprefix("term/")] = float(value)
        if "loss" in metrics:  # the summary at the end of a phase has no loss
            self._tracker.log(self._phase, state.global_step, metrics)


class ProgressBar(ProgressCallback):
    """A progress bar that shows the latest numbers, instead of a line for each step."""

    SHOWN = ("loss", "reward", "reward_sampled", "entropy", "validity")

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        """Show the logged numbers."""
        if self.training_bar is not None and logs:
            shown = {name: f"{float(logs[name]):.3f}" for name in self.SHOWN if name in logs}
            self.training_bar.set_postfix(shown)


def hide_small_progress_bars() -> None:
    """Hide the progress bars of tokenizing and saving, which take seconds."""
    datasets.disable_progress_bars()
    transformers.utils.logging.disable_progress_bar()


def write_history(tracker: Tracker, phase: str, run: RunFolder) -> pd.DataFrame:
    """Write the log of a phase to training_history.json and .csv; return it as a table."""
    records = tracker.history(phase)
    history = pd.DataFrame(records)
    write_text(run.history, json.dumps(records, indent=1) + "\n")
    write_table(history, run.history_table)
    return history
