"""What ``--help`` prints, read from ``conf/``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from daedalus.launch.config.paths import CONF, ROOT, groups, option_files, option_names
from daedalus.runs.endings import program

FIRST_SCREEN = """Daedalus trains language models to design auctions.

usage
  {program} +experiment=NAME [group=option ...] [key=value ...]
  {program} NAME ...    is short for {program} +experiment=NAME ...

examples
  Ask the trained designer that comes with the package for a mechanism:
    {program} ask population=stage4 seed=1
  Train a designer and compare it with the baselines:
    {program} +experiment=grpo_stage3
  Continue the newest interrupted run:
    {program} +experiment=grpo_stage3 resume=true
  Compare the model of an earlier run, whose folder is RUN:
    {program} +experiment=boxplot designer=language_model designer.checkpoint=RUN/model
  Play a sweep: one run for each combination of the values:
    {program} -m +experiment=baselines population=stage1,stage2 seed=0,1,2
  Print the configuration and stop:
    {program} +experiment=grpo_stage3 --cfg job
  List all groups and their options:
    {program} --help

experiments
{experiments}
"""
REST = """
groups
{groups}

The first line of {conf}/GROUP/OPTION.yaml says what an option is.
Populations without a file of their own are in {conf}/populations/LIST.yaml.
Results go to outputs/NAME/DATE_TIME/. Those of a sweep go to outputs/sweeps/NAME/DATE_TIME/.
"""


def print_help_if_asked(arguments: Sequence[str]) -> bool:
    """Print the help, and return whether it was asked for; without arguments begin it, and exit."""
    if not arguments:
        print(first_screen(), file=sys.stderr)
        sys.exit(2)
    asked = not {"--help", "-h"}.isdisjoint(arguments)
    if asked:
        print(help_text())
    return asked


def first_screen() -> str:
    """Return the beginning of the help: the usage, and every experiment with its question."""
    experiments = option_files("experiment")
    width = max(len(path.stem) for path in experiments)
    lines = [f"  {path.stem:<{width}}  {_question(path)}" for path in experiments]
    return FIRST_SCREEN.format(experiments="\n".join(lines), program=program())


def help_text() -> str:
    """Return the whole help: the first screen, then every group with its options."""
    names = sorted([*groups(), "task"])
    width = max(len(name) for name in names)
    lines = [f"  {name:<{width}}  {', '.join(option_names(name))}" for name in names]
    conf = "conf" if CONF.parent == ROOT else CONF
    return first_screen() + REST.format(groups="\n".join(lines), conf=conf)


def _question(path: Path) -> str:
    """Return the first line of a file's header comment."""
    for line in path.read_text().splitlines():
        if line.startswith("#") and "@package" not in line:
            return line.lstrip("# ")
    return ""
