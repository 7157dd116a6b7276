"""Paths: the groups and the options are read from the folders."""

from __future__ import annotations

from daedalus.launch.config.paths import CONF, groups, option_files
from tests.launch.config.composing import GROUPS, STAGES


def test_groups_are_the_folders_of_conf_at_any_depth() -> None:
    assert groups() == sorted(GROUPS)


def test_options_of_a_group_are_its_own_files_by_name() -> None:
    assert [path.stem for path in option_files("populations")] == [
        "benchmark",
        "development",
        "held_out",
        "known_optimum",
        "offered",
        "scaled",
        "stages",
        "validation",
    ]
    assert set(STAGES) < {path.stem for path in option_files("population")}
    assert all(path.parent == CONF / "training" for path in option_files("training"))
    assert option_files("no/such/group") == []
