"""The typed configuration of a run. Files in ``conf/`` are composed into it and checked.

What it offers is imported when it is first used, so that the help need not wait for it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from daedalus.launch.config.compose import compose_both, compose_config, quoted, register
    from daedalus.launch.config.mistakes import ConfigError
    from daedalus.launch.config.paths import CONF, ROOT
    from daedalus.launch.config.task_parts import Task

__all__ = [
    "CONF",
    "ROOT",
    "ConfigError",
    "Task",
    "compose_both",
    "compose_config",
    "quoted",
    "register",
]

_PLACES = {"CONF": "paths", "ROOT": "paths", "ConfigError": "mistakes", "Task": "task_parts"}
_USUAL_PLACE = "compose"


def __getattr__(name: str) -> Any:
    """Import what the package offers.

    Raises:
        AttributeError: It does not offer this.
    """
    if name not in __all__:
        raise AttributeError(f"{__name__} has no {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES.get(name, _USUAL_PLACE)}"), name)
