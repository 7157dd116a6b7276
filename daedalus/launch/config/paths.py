"""Paths of the configuration."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[3]
_INSTALLED = Path(__file__).parents[2] / "conf"  # setup.py puts it there
CONF = _INSTALLED if _INSTALLED.is_dir() else ROOT / "conf"


def option_files(group: str) -> list[Path]:
    """Return the files of a group in ``conf/``, such as ``population``, by name."""
    return sorted((CONF / group).glob("*.yaml"), key=lambda path: path.stem)


def task_modules() -> list[Path]:
    """Return the files of ``experiments/`` that have a ``main``, by name: each is a task."""
    modules = sorted((ROOT / "experiments").glob("*.py"))
    return [path for path in modules if "\ndef main(" in path.read_text()]


def groups() -> list[str]:
    """Return all groups in ``conf/``, at any depth, except ``experiment`` and Hydra's groups."""
    folders = {path.parent.relative_to(CONF).as_posix() for path in CONF.rglob("*/*.yaml")}
    return sorted(each for each in folders if each.split("/")[0] not in ("experiment", "hydra"))
