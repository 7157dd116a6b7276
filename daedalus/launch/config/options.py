"""The options of each group: tasks, or files of its folder and parts of a file of a list.

Names are read as text, so that the help shows them before anything slow is imported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

from daedalus.launch.config.paths import option_files, task_modules

if TYPE_CHECKING:
    from omegaconf import DictConfig

_TOP_KEY = re.compile(r"""^["']?([\w.-]+)["']?:""", re.MULTILINE)


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
