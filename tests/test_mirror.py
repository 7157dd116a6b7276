"""Tests mirror the packages one to one: each module with logic has a test file of its name."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ["market", "rewards", "search", "designers", "evaluation", "training"]
OF_SEVERAL_MODULES = {"market/test_parity.py"}
"""Test files that compare modules with each other."""


def has_logic(path: Path) -> bool:
    """Return whether a module defines a function."""
    return any(isinstance(node, ast.FunctionDef) for node in ast.walk(ast.parse(path.read_text())))


def names(folder: Path, pattern: str) -> set[str]:
    """Return the names of Python files below a folder, relative to it, without ``test_``."""
    found = {path.relative_to(folder) for path in folder.rglob(pattern)}
    return {str(path.with_name(path.name.removeprefix("test_"))) for path in found}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_module_with_logic_has_a_test_file(package: str) -> None:
    folder = ROOT / "daedalus" / package
    modules = {each for each in names(folder, "[a-z]*.py") if has_logic(folder / each)}
    missing = modules - names(ROOT / "tests" / package, "test_*.py")
    assert not missing, f"daedalus/{package}: no tests/{package}/test_NAME for {sorted(missing)}"
    assert modules


@pytest.mark.parametrize("package", PACKAGES)
def test_every_test_file_is_of_a_module(package: str) -> None:
    tests = names(ROOT / "tests" / package, "test_*.py")
    strange = {
        each
        for each in tests - names(ROOT / "daedalus" / package, "*.py")
        if f"{package}/test_{each}" not in OF_SEVERAL_MODULES
    }
    assert not strange, f"tests/{package}: no module of the name of test_{sorted(strange)}"
