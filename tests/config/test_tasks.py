"""The table of tasks says what the code of ``experiments/`` reads."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from daedalus.config.paths import ROOT
from daedalus.config.tasks import ALWAYS, TASKS, Task, holds, is_task, known_tasks, task_of

PARTS = {"build", "tracked", "inference", "progress", "report_on_bids"}
"""Modules of ``experiments/`` that are not tasks."""


@cache
def functions(module: str) -> dict[str, ast.FunctionDef]:
    """Return the functions of a module, by name."""
    nodes = ast.parse((ROOT / f"{module.replace('.', '/')}.py").read_text()).body
    return {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}


@cache
def imported(module: str) -> dict[str, str]:
    """Return what a module imports from ``experiments``: full names by the names that it uses."""
    tree = ast.parse((ROOT / f"{module.replace('.', '/')}.py").read_text())
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("experiments")
        for alias in node.names
    }


def dotted(node: ast.expr) -> str:
    """Return names joined by dots, or an empty text for another expression."""
    if isinstance(node, ast.Attribute):
        before = dotted(node.value)
        return f"{before}.{node.attr}" if before else ""
    return node.id if isinstance(node, ast.Name) else ""


def reads(module: str, name: str, seen: set[str]) -> set[str]:
    """Return the keys that a function takes from its ``config``, with those of what it calls."""
    place = f"{module}.{name}"
    function = functions(module)[name]
    if place in seen or "config" not in [each.arg for each in function.args.args]:
        return set()
    seen.add(place)
    inner = {id(node.value) for node in ast.walk(function) if isinstance(node, ast.Attribute)}
    whole = [each for each in ast.walk(function) if id(each) not in inner]
    names = {dotted(node) for node in whole if isinstance(node, ast.expr)}
    found = {each.removeprefix("config.") for each in names if each.startswith("config.")}
    for each in names:
        first, _, rest = each.partition(".")
        full = f"{imported(module).get(first, f'{module}.{first}')}.{rest}".rstrip(".")
        owner, _, called = full.rpartition(".")
        if (ROOT / f"{owner.replace('.', '/')}.py").is_file() and called in functions(owner):
            found |= reads(owner, called, seen)
    return found


def settled(keys: set[str]) -> set[str]:
    """Return keys without those that lie below others, and without methods of settings."""
    plain = {"population" if holds("population", each) else each for each in keys}
    plain = {each.removesuffix(".items") for each in plain}
    return {each for each in plain if not any(holds(o, each) for o in plain - {each})}


def test_every_module_with_a_main_is_a_task() -> None:
    modules = {path.stem for path in (ROOT / "experiments").glob("[a-z]*.py")}
    assert modules - PARTS == set(TASKS)
    assert all("main" in functions(f"experiments.{task}") for task in TASKS)
    assert not any("main" in functions(f"experiments.{part}") for part in PARTS)


@pytest.mark.parametrize("name", TASKS)
def test_a_task_reads_what_the_table_says(name: str) -> None:
    found = settled(reads(f"experiments.{name}", "main", set()))
    if "designer.name" in found:  # it builds the designer
        found = {each for each in found if not holds("designer", each)} | {"designer"}
    assert found - set(ALWAYS) == settled(set(TASKS[name].keys)), Path(f"experiments/{name}.py")


def test_a_key_is_read_with_what_is_above_and_below_it() -> None:
    task = Task("training market.name", ignores="training.grpo")
    assert all(task.may_read(key) for key in ("training.sft.steps", "market", "seed", "training"))
    unread = ("training.grpo", "training.grpo.steps", "market.strategic", "training2", "hub")
    assert not any(task.may_read(key) for key in unread)


def test_a_task_of_nobody_is_no_task() -> None:
    assert set(known_tasks()) == set(TASKS)
    assert task_of("count_bidders").may_read("training.grpo.steps")
    assert not any(is_task(each) for each in ("build", "tracked", "../run", "nowhere", ""))
