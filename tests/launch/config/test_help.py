"""The help lists every experiment with its question, and every group with its options."""

from __future__ import annotations

import pytest

from daedalus.launch.config.help import help_text
from daedalus.launch.config.paths import CONF, option_names
from tests.launch.config.composing import EXPERIMENTS, GROUPS


def test_every_experiment_says_what_it_asks_and_how_to_run_it() -> None:
    for name in EXPERIMENTS:
        text = (CONF / "experiment" / f"{name}.yaml").read_text()
        assert f"+experiment={name}" in text
        question = [line for line in help_text().splitlines() if f"  {name} " in line]
        assert len(question) >= 1 and "?" in question[0]


@pytest.mark.parametrize("group", GROUPS)
def test_the_help_lists_every_group_and_its_options(group: str) -> None:
    listing = help_text().split("\ngroups\n")[1].splitlines()
    (line,) = [each for each in listing if each.startswith(f"  {group} ")]
    listed = line.split(maxsplit=1)[1].split(", ")
    assert listed == option_names(group)
