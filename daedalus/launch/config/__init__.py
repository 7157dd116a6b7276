"""The typed configuration of a run. Files in ``conf/`` are composed into it and checked."""

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
