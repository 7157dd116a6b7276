"""Each task is a module with a ``main`` and a class, and brings the groups that the class has."""

from __future__ import annotations

import inspect
from dataclasses import fields
from importlib import import_module
from typing import get_type_hints

import pytest

from daedalus.launch.config.paths import ROOT
from daedalus.launch.config.reading import may_read
from daedalus.launch.config.task_options import class_of, defaults_of, task_classes
from tests.launch.config.composing import GROUPS


def test_every_module_is_a_task() -> None:
    modules = {path.stem for path in (ROOT / "experiments").glob("[a-z]*.py")}
    assert modules == {*task_classes()}


@pytest.mark.parametrize("name", [*task_classes()])
def test_the_main_of_a_task_takes_its_class(name: str) -> None:
    main = import_module(f"experiments.{name}").main
    assert get_type_hints(main)[next(iter(inspect.signature(main).parameters))] is class_of(name)


@pytest.mark.parametrize("name", [*task_classes()])
def test_a_task_brings_the_groups_that_its_class_has(name: str) -> None:
    own = {each.name for each in fields(class_of(name))}
    chosen = {key.strip("/") for each in defaults_of(class_of(name))[1:-1] for key in each}
    assert {each for each in chosen if "@" not in each} == own & {*GROUPS}
    assert all(
        key.partition(".")[0] in own for key in class_of(name).partly + class_of(name).if_referred
    )


def test_a_key_is_read_with_what_is_above_and_below_it() -> None:
    behaviour = class_of("behaviour")
    read = ("training.portfolio.file", "training", "training.portfolio", "market.name", "seed")
    assert all(may_read(behaviour, key) for key in read)
    assert not any(
        may_read(behaviour, key) for key in ("training.grpo.steps", "training.sft.steps", "hub")
    )


def test_a_task_of_nobody_is_no_task() -> None:
    with pytest.raises(ValueError, match="task: 'build'; choose one of ask, behaviour"):
        class_of("build")
