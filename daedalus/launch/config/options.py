"""The options of each group: tasks, or files of its folder and parts of a file of a list."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import cast

from omegaconf import DictConfig, OmegaConf

from daedalus.launch.config.paths import option_files
from daedalus.launch.config.task_options import task_classes


def option_names(group: str) -> list[str]:
    """Return the names of a group's options, sorted."""
    if group == "task":
        return sorted(task_classes())
    listed = listed_populations() if group == "population" else {}
    return sorted([*(path.stem for path in option_files(group)), *listed])


@cache
def listed_populations() -> dict[str, DictConfig]:
    """Return the populations that files of ``conf/populations/`` describe, by name.

    Each is what a file of ``conf/population/`` would hold. It starts from a base if the list's
    defaults name one by ``/population@NAME: BASE``.
    """
    return dict(part for path in option_files("populations") for part in _parts(path))


def _parts(path: Path) -> Iterator[tuple[str, DictConfig]]:
    content = cast(DictConfig, OmegaConf.load(path))
    chosen = [each for each in content.pop("defaults", []) if isinstance(each, DictConfig)]
    bases = {key: base for each in chosen for key, base in each.items()}
    for key, part in content.items():
        name = str(key)
        if f"/population@{name}" in bases:
            part.defaults = [bases[f"/population@{name}"], "_self_"]
        yield name, part
