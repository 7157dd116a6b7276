"""Checks that a task reads what the command line changes."""

from __future__ import annotations

import re
from dataclasses import fields

from omegaconf import DictConfig, OmegaConf

from daedalus.design.designers.base import DesignerSettings
from daedalus.launch.config.changes import Change, holds, touches
from daedalus.launch.config.mistakes import ConfigError
from daedalus.launch.config.task_options import class_of, task_classes
from daedalus.launch.config.task_parts import Compared, Designed, Task
from daedalus.launch.config.tasks import Tune
from daedalus.training.settings import EMBEDDED

_REFERENCE = re.compile(r"\$\{([\w.]+)\}")
_FEW = 4
"""Most tasks that a message names."""


def check_reading(config: Task, composed: DictConfig, changes: list[Change]) -> None:
    """Refuse changes of settings that the task has and does not read, and those without effect.

    Args:
        config: The configuration.
        composed: The same with its references.
        changes: What the command line asks for. What it turns off needs no reader.

    Raises:
        ConfigError: The message names the tasks that read the setting.
    """
    task = class_of(config.tuning.task) if isinstance(config, Tune) else type(config)
    for change in changes:
        _require_effect(change, composed)
        if not (change.off or is_read(change.key, config, task, composed)):
            raise ConfigError(_unread(change, task))
        _require_own_shape(change, composed)


def not_taken(task: type[Task], changes: list[Change]) -> str | None:
    """Return a sentence for the first change of a setting that a task does not have, but others."""
    own = [each.name for each in fields(task)]
    known = {each.name for other in task_classes().values() for each in fields(other)}
    for change in changes:
        group = change.key.partition(".")[0]
        if group in known and group not in own:
            return _unread(change, task)
    return None


def _unread(change: Change, task: type[Task]) -> str:
    where = advice(change.key, task)
    return f"{change.text}: {task.task} does not read {change.key}; leave it out{where}"


def is_read(key: str, config: Task, task: type[Task], composed: DictConfig) -> bool:
    """Return whether a task reads a setting, or another setting that is read refers to it."""
    group = key.partition(".")[0]
    if group == "tuning":
        return isinstance(config, Tune)
    if group in task.if_referred:
        referred = _REFERENCE.findall(OmegaConf.to_yaml(composed))
        return any(touches(each, key) for each in referred)
    return may_read(task, key)


def may_read(task: type[Task], key: str) -> bool:
    """Return whether a task can read a setting, or something above or below it."""
    group = key.partition(".")[0]
    if group not in [each.name for each in fields(task)]:
        return False
    partly = [each for each in task.partly if holds(group, each)]
    return not partly or any(touches(each, key) for each in partly)


def _require_effect(change: Change, composed: DictConfig) -> None:
    held = OmegaConf.select(composed, change.key)
    if change.value == {} and isinstance(held, DictConfig) and held:
        entry = str(next(iter(held)))
        raise ConfigError(
            f"{change.text}: mappings are merged, so an empty one changes nothing; remove an entry "
            f"by ~{change.key}.{entry}"
        )


def _require_own_shape(change: Change, composed: DictConfig) -> None:
    group, _, name = change.key.partition(".")
    if group == "model" and name in EMBEDDED and OmegaConf.select(composed, "model.pretrained"):
        raise ConfigError(
            f"{change.text}: weights of model.pretrained have a shape and a tokenizer of their own;"
            " leave one of the two out"
        )


def advice(key: str, task: type[Task]) -> str:
    """Return how a task reads a setting after all, or which tasks do if they are few."""
    if holds("mechanism", key) and issubclass(task, Compared):
        studied = issubclass(task, Designed) and task.designers is DesignerSettings
        baseline = "+designer@evaluation.baselines.NAME=fixed"
        return f", or choose {'designer=fixed' if studied else baseline}, which plays it"
    if holds("tuning", key):
        return f"; it is read by {Tune.task}"
    tasks = [each for each in task_classes().values() if each is not Tune]
    readers = [each.task for each in tasks if may_read(each, key)]
    return f"; it is read by {', '.join(readers)}" if 0 < len(readers) <= _FEW else ""
