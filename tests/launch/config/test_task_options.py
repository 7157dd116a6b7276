"""Which tasks a command may choose, told from its words."""

from __future__ import annotations

import pytest

from daedalus.launch.config.task_options import chosen_tasks, task_classes


def test_a_command_names_its_task() -> None:
    assert chosen_tasks(["+experiment=grpo_objectives"]) == {"grpo"}  # which it takes from a base
    assert chosen_tasks(["task=compare", "seed=1"]) == {"compare"}
    assert chosen_tasks(["+experiment=ask", "task=theory"]) == {"ask", "theory"}


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["seed=1"],
        ["+experiment=of_the_users_folder", "hydra.searchpath=[file:///of/theirs]"],
        ["+experiment=ask,theory"],
        ["task=ask,theory"],
        ["+experiment=ask", "task=nothing"],
        ["experiment=ask"],
        ["+experiment=" + ",".join(["ask"] * 100)],
    ],
)
def test_words_that_do_not_tell_leave_all_tasks(words: list[str]) -> None:
    assert chosen_tasks(words) == {*task_classes()}


def test_an_experiment_that_is_nowhere_has_no_task() -> None:
    assert chosen_tasks(["+experiment=gpro_stage3", "seed=1"]) == set()
