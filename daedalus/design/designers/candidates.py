"""Which of the models that were trained here may answer for all of them: the newest good one."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from daedalus.design.designers.purpose import read_purpose
from daedalus.design.language.prompt import VERSION
from daedalus.design.rewards.stack import RewardStack
from daedalus.runs.files import read_table
from daedalus.runs.folder import HISTORY, MODEL, PROMPT, RunFolder, files_below, newest_first

_REHEARSAL = re.compile(r"\+?(experiment|training)=smoke")
_TRAINED, _RANDOM = "trained", "random"  # names in the tables of a run
_SHOWN = 3  # models that were passed over


@dataclass(frozen=True)
class Choice:
    """The newest model that may answer.

    Attributes:
        model: Its folder; None if there is none.
        passed_over: Folders of the newer models, newest first, and why each was passed over.
    """

    model: Path | None
    passed_over: Sequence[tuple[Path, str]]

    def __str__(self) -> str:
        """Return a line for each newer model; of many, for the newest. It is empty for none."""
        told = [f"passed over {path}: {why}" for path, why in self.passed_over[:_SHOWN]]
        more = len(self.passed_over) - _SHOWN
        return "\n".join([*told, f"and {more} older models"] if more > 0 else told)


def newest_model(outputs: Path, reward: RewardStack | None = None) -> Choice:
    """Return the newest model at any depth below ``outputs`` that may answer.

    If a reward is asked for, it is trained for that.
    """
    prompts = files_below(outputs, PROMPT)
    models = [path.parent for path in newest_first(prompts) if path.parent.name == MODEL]
    passed_over: list[tuple[Path, str]] = []
    for model in models:
        why = _unfit(model, reward)
        if why is None:
            return Choice(model, passed_over)
        passed_over.append((model, why))
    return Choice(None, passed_over)


def newest_run(outputs: Path) -> RunFolder | None:
    """Return the newest run below ``outputs`` that logged its training and is no rehearsal."""
    runs = (RunFolder(path.parent) for path in newest_first(files_below(outputs, HISTORY)))
    return next((run for run in runs if not is_rehearsal(run)), None)


def is_rehearsal(run: RunFolder) -> bool:
    """Return whether a run only shows that every part runs, as ``+experiment=smoke`` does."""
    if not run.launch.is_file():
        return False
    overrides = json.loads(run.launch.read_text())["overrides"]
    return any(_REHEARSAL.fullmatch(each) for each in overrides)


def _unfit(model: Path, reward: RewardStack | None) -> str | None:
    """Return why a model may not answer, or None."""
    run = RunFolder(model.parent)
    if is_rehearsal(run):
        return "its run was a smoke test, which teaches nothing"
    if not run.finished.is_file():
        return "its run has not finished"
    if json.loads((model / PROMPT).read_text()).get("version") != VERSION:
        return "it knows prompts of another version"
    purpose = read_purpose(model)
    if purpose is None:
        return "its config.yaml is missing, or of another version"
    if reward is not None and not purpose.is_for(reward):
        return f"it was trained for {purpose.objective}, and not for {reward.name}"
    return _unproven(run)


def _unproven(run: RunFolder) -> str | None:
    """Return why the run's own evaluation does not speak for its model, or None."""
    table = read_table(run.summary) if run.summary.is_file() else None
    if table is None or _TRAINED not in set(table.get("designer", ())):
        return "its run has not compared it with other designers"
    means = table.set_index("designer")["mean"]
    if _RANDOM in means and not _leads(run, means[_TRAINED] - means[_RANDOM]):
        return "in its run it was no better than random"
    return None


def _leads(run: RunFolder, lead: float) -> bool:
    """Return whether a lead over random is beyond chance, as far as the run tells."""
    if not run.differences.is_file():
        return lead > 0
    table = read_table(run.differences)
    mine = table[(table["designer"] == _TRAINED) & (table["reference"] == _RANDOM)]
    return bool(mine["improves"].all()) if len(mine) else lead > 0
