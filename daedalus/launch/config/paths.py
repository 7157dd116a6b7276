"""The files of the configuration: tasks, and the options of each group.

An option is a file of its group's folder, or a part of a file of a list. Names are read as text, so
that the help shows them before anything slow is imported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from omegaconf import DictConfig

ROOT = Path(__file__).parents[3]
_INSTALLED = Path(__file__).parents[2] / "conf"  # setup.py puts it there
CONF = _INSTALLED if _INSTALLED.is_dir() else ROOT / "conf"
_TOP_KEY = re.compile(r"""^["']?([\w.-]+)["']?:""", re.MULTILINE)


def groups() -> list[str]:
    """Return all groups in ``conf/``, at any depth, except ``experiment`` and Hydra's groups."""
    folders = {path.parent.relative_to(CONF).as_posix() for path in CONF.rglob("*/*.yaml")}
    return sorted(each for each in folders if each.split("/")[0] not in ("experiment", "hydra"))


def option_files(group: str) -> list[Path]:
    """Return the files of a group in ``conf/``, such as ``population``, by name."""
    return sorted((CONF / group).glob("*.yaml"), key=lambda path: path.stem)


def task_modules() -> list[Path]:
    """Return the files of ``experiments/`` that have a ``main``, by name: each is a task."""
    modules = sorted((ROOT / "experiments").glob("*.py"))
    return [path for path in modules if "\ndef main(" in path.read_text()]


def option_names(group: str) -> list[str]:
    """Return the names of a group's options, sorted; a module with a ``main`` counts as a task."""
    if group == "task":
        return [path.stem for path in task_modules()]
    lists = option_files("populations") if group == "population" else []
    listed = {name for path in lists for name in _TOP_KEY.findall(path.read_text())}
    return sorted([*(path.stem for path in option_files(group)), *(listed - {"defaults"})])


@cache
def listed_populations() -> dict[str, DictConfig]:
    """Return the populations that files of ``conf/populations/`` describe, by name.

    Each is what a file of ``conf/population/`` would hold. It starts from a base if the list's
    defaults name one by ``/population@NAME: BASE``.
    """
    return dict(part for path in option_files("populations") for part in _parts(path))


def _parts(path: Path) -> Iterator[tuple[str, DictConfig]]:
    from omegaconf import DictConfig, OmegaConf  # slow to import

    content = cast(DictConfig, OmegaConf.load(path))
    chosen = [each for each in content.pop("defaults", []) if isinstance(each, DictConfig)]
    bases = {key: base for each in chosen for key, base in each.items()}
    for key, part in content.items():
        name = str(key)
        if f"/population@{name}" in bases:
            part.defaults = [bases[f"/population@{name}"], "_self_"]
        yield name, part
