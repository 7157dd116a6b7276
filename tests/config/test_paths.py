"""Paths: the tasks, the groups and the options are read from the folders."""

from __future__ import annotations

from daedalus.config.paths import CONF, PARTS, ROOT, TASKS, groups, option_files
from tests.config.composing import GROUPS, STAGES


def test_every_task_is_a_module_with_a_main() -> None:
    assert {"compare", "grpo", "serve"} <= set(TASKS) and not PARTS & set(TASKS)
    for task in TASKS:
        assert "\ndef main(" in (ROOT / "experiments" / f"{task}.py").read_text(), task
    for part in PARTS:
        assert "\ndef main(" not in (ROOT / "experiments" / f"{part}.py").read_text(), part


def test_groups_are_the_folders_of_conf_at_any_depth() -> None:
    assert groups() == sorted(GROUPS)


def test_options_of_a_group_are_its_own_files_by_name() -> None:
    assert [path.stem for path in option_files("populations")] == [
        "benchmark",
        "development",
        "held_out",
        "offered",
        "stages",
        "validation",
    ]
    assert set(STAGES) < {path.stem for path in option_files("population")}
    assert all(path.parent == CONF / "training" for path in option_files("training"))
    assert option_files("no/such/group") == []
