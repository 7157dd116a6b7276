"""Options that exist at another place than the one that was looked at, and files that miss it."""

from __future__ import annotations

import re
from pathlib import Path

from daedalus.launch.config.options import option_names
from daedalus.launch.config.paths import groups
from daedalus.launch.config.task_options import why_no_task

ADVICE = "write `# @package _global_` into its first line, before any other comment"
"""What an experiment's file misses if it changes a group instead of the run."""
_FOLDERS = ("", "conf", "outputs/*/*", "outputs/sweeps/*/*/*")
"""Where users keep folders of options, from the working directory."""


def elsewhere(group: str, name: str) -> str | None:
    """Return how to choose an option that its group does not have, but another place has.

    Args:
        group: The group in which it was looked for.
        name: The option.
    """
    if group == "task":
        return why_no_task(name)
    for pattern in _FOLDERS:
        for file in sorted(Path().glob(f"{pattern}/{group}/{name}.yaml".lstrip("/")), reverse=True):
            folder = file.parents[len(Path(group).parts)]
            return f"{file} has this name: add --config-dir {folder}"  # the newest run first
    if group != "experiment" and Path(f"{name}.yaml").is_file():
        return f"Move {name}.yaml into a folder {group}/, and add --config-dir ."
    others = [each for each in [*groups(), "experiment"] if name in option_names(each)]
    if others:
        plus = "+" if others == ["experiment"] else ""
        return f"Did you mean {plus}{' or '.join(f'{each}={name}' for each in others)}?"
    return None


def without_package(message: str) -> str | None:
    """Return what an experiment's file misses, if it changes a group instead of the run.

    Args:
        message: Hydra's message; it names the file and the key that it cannot set.
    """
    outside = r"\n?Key 'experiment' not in|@experiment\b"
    told = re.search(rf"In '(experiment/[^']+)': .*(?:{outside})", message)
    if told is None:
        return None
    return f"{told[1]}.yaml: {ADVICE}"
