"""Checks that the task reads every change, and that it has what it needs."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import fields

from omegaconf import DictConfig, OmegaConf

from daedalus.bidders.settings import KINDS, BidderSettings
from daedalus.config.changes import Change
from daedalus.config.mistakes import ConfigError
from daedalus.config.schema import Config
from daedalus.config.tasks import TASKS, Task, holds, task_of
from daedalus.designers.base import DesignerSettings
from daedalus.designers.discovery import designer_settings

_REFERENCE = re.compile(r"\$\{([\w.]+)\}")
_FEW = 4
"""Most tasks that a message names."""


def check_reading(config: Config, composed: DictConfig, changes: list[Change]) -> None:
    """Refuse changes that the task does not read.

    A setting is also read if a setting that is read refers to it, as in ``${mechanism}``.

    Args:
        config: The configuration.
        composed: The same with its references.
        changes: What the command line asks for. What it turns off needs no reader.

    Raises:
        ConfigError: The message names the tasks that read the setting.
    """
    tasks = [task_of(config.task)]
    if config.task == "tune":
        tasks.append(task_of(config.tuning.task))
    known = {each.name for each in fields(config)}
    for change in changes:
        _require_effect(change, composed)
        if change.off or change.key.partition(".")[0] not in known:
            continue
        if not any(each.may_read(change.key) for each in tasks):
            if not any(_touches(each, change.key) for each in _references(composed, tasks)):
                raise ConfigError(
                    f"{change.text}: {config.task} does not read {change.key}; "
                    f"leave it out{_advice(change.key)}"
                )


def _require_effect(change: Change, composed: DictConfig) -> None:
    held = OmegaConf.select(composed, change.key)
    if change.value == {} and isinstance(held, DictConfig) and held:
        entry = str(next(iter(held)))
        raise ConfigError(
            f"{change.text}: mappings are merged, so an empty one changes nothing; remove an entry "
            f"by ~{change.key}.{entry}"
        )


def _touches(one: str, other: str) -> bool:
    return holds(one, other) or holds(other, one)


def _advice(key: str) -> str:
    """Return where the setting is read, if that is in few places."""
    readers = [name for name, task in TASKS.items() if task.may_read(key)]
    if holds("mechanism", key):
        return ", or choose designer=fixed, which plays it"
    return f"; it is read by {', '.join(readers)}" if 0 < len(readers) <= _FEW else ""


def _references(composed: DictConfig, tasks: list[Task]) -> set[str]:
    """Return the keys to which settings that are read refer, directly or by other references."""
    texts = dict(_texts(OmegaConf.to_container(composed, resolve=False), ""))
    found: set[str] = set()
    while True:
        read = (
            text
            for key, text in texts.items()
            if any(each.may_read(key) for each in tasks) or any(holds(each, key) for each in found)
        )
        more = {name for text in read for name in _REFERENCE.findall(text)} - found
        if not more:
            return found
        found |= more


def _texts(node: object, key: str) -> Iterator[tuple[str, str]]:
    """Yield every text below a node of a plain container, with its key."""
    if isinstance(node, str):
        yield key, node
    elif isinstance(node, dict):
        for name, each in node.items():
            yield from _texts(each, f"{key}.{name}" if key else str(name))
    elif isinstance(node, list):
        for each in node:
            yield from _texts(each, key)


def require_designers(config: Config) -> None:
    """Refuse what stands in the place of a designer and is none.

    Raises:
        ConfigError: The message says how to choose one.
    """
    places = {"designer": ("designer", config.designer)}
    for name, each in config.evaluation.baselines.items():
        key = f"evaluation.baselines.{name}"
        places[key] = (f"+designer@{key}", each)
    for key, (group, found) in places.items():
        if not isinstance(found, DesignerSettings):
            raise ConfigError(f"{key}: {_shown(found)} is no designer; choose one by {group}=NAME")


def require_bidder(config: Config) -> None:
    """Refuse what stands in the place of a bidder and is none, if the task has bidders.

    A task that offers markets may do without.

    Raises:
        ConfigError: The message says how to choose one.
    """
    task = task_of(config.task)
    if task.offers and config.bidder is None:
        return
    if "bidder" in task.keys and not isinstance(config.bidder, BidderSettings):
        raise ConfigError(
            f"bidder: {config.bidder!r} is no bidder; choose one by bidder=NAME, where NAME is "
            f"one of {', '.join(KINDS)}"
        )


def _shown(found: object) -> str:
    """Return a value, or of a mapping why it is no designer."""
    if not isinstance(found, dict):
        return repr(found)
    kinds = ", ".join(designer_settings())
    return (
        f"a mapping ({', '.join(map(str, found))}) without defaults: [KIND_schema, _self_], where "
        f"KIND is one of {kinds}, and without _target_: MODULE.CLASS,"
    )


def check_needs(config: Config) -> None:
    """Refuse a configuration that lacks what its task needs.

    Raises:
        ConfigError: The message says what to add.
    """
    task = task_of(config.task)
    kind = designer_settings()[task.designer] if task.designer else object
    if not isinstance(config.designer, kind):
        raise ConfigError(
            f"designer: {config.designer.name}; {config.task} needs designer={task.designer}"
        )
    _require_names("evaluation.baselines", config.evaluation.baselines, task.baselines, config.task)
    if "populations" in task.keys and not task.offers and not config.populations:
        raise ConfigError(f"populations: none; {config.task} needs some: choose populations=NAME")
    _require_names("populations", config.populations, task.populations, config.task)
    if "training.portfolio" in task.keys and not config.training.portfolio.populations:
        raise ConfigError(
            f"training.portfolio.populations: 0; {config.task} needs a portfolio, so give 1 or more"
        )


def _require_names(key: str, found: Collection[str], needed: Iterable[str], task: str) -> None:
    missing = [name for name in needed if name not in found]
    if missing:
        raise ConfigError(f"{key}: {task} needs {', '.join(missing)}; keep the experiment's own")
