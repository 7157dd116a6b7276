"""Groups and options are read from folders, and from the populations that lists describe."""

from __future__ import annotations

from daedalus.launch.config.paths import (
    CONF,
    groups,
    listed_populations,
    option_files,
    option_names,
)
from daedalus.launch.config.task_options import task_classes
from tests.launch.config.composing import GROUPS, STAGES


def test_groups_are_the_folders_of_conf_at_any_depth() -> None:
    assert groups() == sorted(GROUPS)


def test_options_of_most_groups_are_their_own_files() -> None:
    assert option_names("tracking") == ["files", "wandb"]
    assert all(path.parent == CONF / "training" for path in option_files("training"))
    assert option_names("no/such/group") == option_files("no/such/group") == []


def test_the_names_of_tasks_are_read_without_their_classes() -> None:
    assert option_names("task") == sorted(task_classes())


def test_a_population_has_a_file_or_a_place_in_a_list() -> None:
    files = [path.stem for path in option_files("population")]
    assert option_names("population") == sorted({*files, *listed_populations()})
    assert not {*files} & {*listed_populations()}
    assert {*STAGES} < {*files} and "honest" in listed_populations()


def test_a_listed_population_starts_from_its_base_if_it_has_one() -> None:
    listed = listed_populations()
    assert listed["raffle"].defaults == ["stage1", "_self_"]
    assert "defaults" not in listed["optimum_uniform_3"]
    assert all(each.name == name for name, each in listed.items())
