"""The options of the group ``task``, and the groups that each brings into a configuration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import fields
from functools import cache
from importlib import import_module
from typing import Any

from omegaconf import MISSING as UNSET
from omegaconf import DictConfig, OmegaConf

from daedalus.checks import CannotRunError
from daedalus.launch.config import tasks
from daedalus.launch.config.paths import ROOT, option_files, task_modules
from daedalus.launch.config.task_parts import Compared, Task

FIRST_OPTIONS: dict[str, str | None] = {
    "population": "stage3",
    "populations": None,
    "market": "strategic",
    "mechanism": "default",
    "reward": "composite",
    "designer": "informed_greedy",
    "bidder": "recorded",
    "model": "tiny",
    "training": "tiny",
    "tracking": "wandb",
    "tuning": "none",
}
"""The option of each group with which a task begins."""
_BASELINES = ("random", "informed_greedy")
"""The designers with which others are compared at first."""
_CHOICE = "override /task"
_EXPERIMENT = "+experiment="


@cache
def task_classes() -> dict[str, type[Task]]:
    """Return the class of each task by name: those of the package, then those that were added."""
    own = {_name(each): each for each in vars(tasks).values() if _is_task(each)}
    return own | {_name(each): each for each in _added({*own})}


def chosen_tasks(overrides: Sequence[str]) -> set[str]:
    """Return the tasks of which a command takes one: all of them if its words do not say.

    There is none if no file has the name of the experiment, which is then refused.

    Args:
        overrides: Changes from the command line, such as ``+experiment=ask``.
    """
    if _names_no_experiment(overrides):
        return set()
    found: set[str] = set()
    for key, _, name in (each.partition("=") for each in overrides):
        if key in ("task", "+experiment"):
            found |= {name} if key == "task" else _tasks_of(name)
    return found if found and found <= task_classes().keys() else {*task_classes()}


def _names_no_experiment(overrides: Sequence[str]) -> bool:
    """Return whether an experiment is named that is in no folder of options."""
    named = [each[len(_EXPERIMENT) :] for each in overrides if each.startswith(_EXPERIMENT)]
    elsewhere = any(each.startswith("hydra.searchpath=") for each in overrides)
    known = {file.stem for file in option_files("experiment")}
    return not elsewhere and any(each.isidentifier() and each not in known for each in named)


def _tasks_of(experiment: str) -> set[str]:
    """Return the tasks that a file of ``conf/experiment/`` names, or those that it builds on do."""
    files = {file.stem: file for file in option_files("experiment")}
    if experiment not in files:
        return {UNSET}  # it lies elsewhere, or the word names several
    file = OmegaConf.load(files[experiment])
    assert isinstance(file, DictConfig)
    defaults = file.get("defaults", [])
    bases = [each for each in defaults if isinstance(each, str) and each != "_self_"]
    named = [each[_CHOICE] for each in defaults if not isinstance(each, str) and _CHOICE in each]
    return {*named} or {task for base in bases for task in _tasks_of(base)}


def _is_task(found: object) -> bool:
    return isinstance(found, type) and issubclass(found, Task) and _name(found) != UNSET


def _name(task: type[Task]) -> str:
    return str(task.task)


def _added(own: set[str]) -> Iterator[type[Task]]:
    """Yield the classes of modules of ``experiments/`` that the package does not have."""
    for path in task_modules():
        if path.stem not in own:
            with suppress(Exception):  # other tasks run nevertheless; why_no_task tells of it
                yield from _classes_in(path.stem)


def _classes_in(name: str) -> list[type[Task]]:
    """Return the classes of tasks that a module of ``experiments/`` has of its own."""
    module = import_module(f"experiments.{name}")
    found = [each for each in vars(module).values() if _is_task(each)]
    return [each for each in found if each.__module__ == module.__name__]


def why_no_task(name: str) -> str | None:
    """Return why a module of ``experiments/`` is no task; None if there is no such module."""
    place = f"experiments/{name}.py"
    if not (name.isidentifier() and (ROOT / place).is_file()):
        return None
    try:
        _classes_in(name)
    except Exception as error:
        return f"{place} cannot be imported: {type(error).__name__}: {error}"
    return f"{place} needs a main, and a dataclass with task: str = '{name}' (docs/architecture.md)"


def class_of(name: str) -> type[Task]:
    """Return the class of a task.

    Raises:
        CannotRunError: There is no such task.
    """
    known = task_classes()
    if name not in known:
        raise CannotRunError(f"task: {name!r}; choose one of {', '.join(known)}")
    return known[name]


def defaults_of(task: type[Task]) -> list[Any]:
    """Return Hydra's list of defaults of a task."""
    taken = [each.name for each in fields(task)]
    chosen: list[Any] = [f"{_name(task)}_schema"]
    chosen += [{f"/{group}": option} for group, option in FIRST_OPTIONS.items() if group in taken]
    if issubclass(task, Compared):
        chosen += [{f"/designer@evaluation.baselines.{each}": each} for each in _BASELINES]
    return [*chosen, "_self_"]
