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

_PLACES = {
    "CONF": "paths",
    "ROOT": "paths",
    "ConfigError": "mistakes",
    "Task": "task_parts",
    "compose_both": "compose",
    "compose_config": "compose",
    "quoted": "compose",
    "register": "compose",
}


def __getattr__(name: str) -> Any:
    """Import what the package offers.

    Raises:
        AttributeError: It does not offer this.
    """
    if name not in _PLACES:
        raise AttributeError(f"{__name__} has no {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
