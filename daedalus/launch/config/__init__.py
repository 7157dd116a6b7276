"""The typed configuration of a run. Files in ``conf/`` are composed into it and checked."""

from daedalus.launch.config.compose import (
    compose_both,
    compose_config,
    quoted,
    register,
    require_task,
    to_config,
    why_not,
)
from daedalus.launch.config.help import first_screen, help_text
from daedalus.launch.config.mistakes import ConfigError, explain, is_of_composing
from daedalus.launch.config.nodes import require_known_keys
from daedalus.launch.config.paths import CONF, ROOT
from daedalus.launch.config.resolvers import run_directory
from daedalus.launch.config.task_options import class_of
from daedalus.launch.config.task_parts import Task

__all__ = [
    "CONF",
    "ROOT",
    "ConfigError",
    "Task",
    "class_of",
    "compose_both",
    "compose_config",
    "explain",
    "first_screen",
    "help_text",
    "is_of_composing",
    "quoted",
    "register",
    "require_known_keys",
    "require_task",
    "run_directory",
    "to_config",
    "why_not",
]
