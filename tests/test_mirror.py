"""The tests mirror the packages: each module has a test file of its own, in the same place."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
STATIC = "daedalus/service/page/static/"

EXCEPTIONS = {
    "config/test_front.py": "whole command lines, drawn from the schema",
    "market/test_parity.py": "whole markets against the plain reference",
    "service/http/test_fuzz.py": "generated requests to every route",
    "service/http/test_proxy.py": "deploy/haproxy.cfg in front of a service",
    "service/page/test_wire_types.py": f"{STATIC}wire.d.ts against the messages",
    "service/page/static/test_access.py": f"{STATIC} in a browser: keys and screen readers",
    "service/page/static/test_arena.py": f"{STATIC} in a browser: the last step",
    "service/page/static/test_controls.py": f"{STATIC} in a browser: the mechanism's controls",
    "service/page/static/test_designers.py": f"{STATIC} in a browser: the designers",
    "service/page/static/test_guided_tour.py": f"{STATIC} in a browser: the tour",
    "service/page/static/test_sessions.py": f"{STATIC} in a browser: sessions",
    "test_deploy.py": "deploy/ and the Dockerfile",
    "test_docs.py": "README.md and docs/",
    "test_engines.py": "deploy/verifiers_market.py, and rewards in other processes",
    "test_golden.py": "tests/golden.py",
    "test_launchers.py": "conf/hydra/launcher/",
    "test_layers.py": "imports of all modules",
    "test_mirror.py": "names of all test files",
    "test_notebooks.py": "notebooks/",
    "test_requirements.py": "requirements*.txt",
}
"""Test files without a module of their own, and what each tests."""


def has_code(module: Path) -> bool:
    """Return whether a module defines a function or a class, at any depth."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return any(isinstance(node, kinds) for node in ast.walk(ast.parse(module.read_text())))


def untested(root: Path) -> list[str]:
    """Return the modules of ``daedalus/`` that have code and no test file of their own."""
    package = root / "daedalus"
    return [
        module.relative_to(root).as_posix()
        for module in sorted(package.rglob("*.py"))
        if module.name != "__init__.py"
        and has_code(module)
        and not file_of(module.relative_to(package), root).exists()
    ]


def file_of(module: Path, root: Path) -> Path:
    """Return the path of the test file of a module, given by its path inside the package."""
    return root / "tests" / module.with_name(f"test_{module.name}")


def without_module(root: Path) -> list[str]:
    """Return the test files that belong to no module of the package or of the root."""
    tests = root / "tests"
    files = [path.relative_to(tests) for path in sorted(tests.rglob("test_*.py"))]
    modules = {path: path.with_name(path.name.removeprefix("test_")) for path in files}
    return [
        path.as_posix()
        for path, module in modules.items()
        if not (root / "daedalus" / module).exists() and not (root / module).exists()
    ]


def test_every_module_has_a_test_file() -> None:
    assert not untested(ROOT)


def test_every_test_file_belongs_to_a_module_or_says_why_not() -> None:
    assert without_module(ROOT) == sorted(EXCEPTIONS)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Leave a package of one tested module."""
    for name in ("daedalus/market", "tests/market"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "daedalus/market/__init__.py").write_text("def all(): ...")
    (tmp_path / "daedalus/market/bids.py").write_text("def highest(): ...")
    (tmp_path / "tests/market/test_bids.py").touch()
    return tmp_path


def test_a_module_without_tests_is_found(small: Path) -> None:
    assert untested(small) == []
    (small / "daedalus/market/names.py").write_text("NAMES = []")  # nothing to test
    (small / "daedalus/market/sale.py").write_text("class Sale: ...")
    (small / "tests/test_sale.py").touch()  # in another place
    assert untested(small) == ["daedalus/market/sale.py"]


def test_a_test_file_without_a_module_is_found(small: Path) -> None:
    (small / "run.py").touch()
    (small / "tests/test_run.py").touch()
    assert without_module(small) == []
    (small / "tests/market/test_bid.py").touch()
    assert without_module(small) == ["market/test_bid.py"]
