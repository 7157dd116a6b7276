"""An option of another place is found there, and is no misspelling of one that is here."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.launch.config.composing import failure, own_experiment


@pytest.mark.parametrize(
    ("place", "folder"),
    [
        ("population", "."),
        ("conf/population", "conf"),
        ("outputs/from_bids/now/population", "outputs/from_bids/now"),
    ],
)
def test_a_file_of_the_users_says_how_to_choose_it(
    place: str, folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / place).mkdir(parents=True)
    (tmp_path / place / "patient.yaml").touch()
    monkeypatch.chdir(tmp_path)
    told = failure("+experiment=boxplot", "population=patient")
    assert told == (
        f"population: no option patient. {place}/patient.yaml has this name: "
        f"add --config-dir {folder}"
    )


def test_a_file_beside_the_user_has_to_be_in_the_folder_of_its_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "patient.yaml").touch()
    monkeypatch.chdir(tmp_path)
    told = failure("+experiment=boxplot", "population=patient")
    assert told.endswith("Move patient.yaml into a folder population/, and add --config-dir .")


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("designer=stage3", "Did you mean population=stage3?"),
        ("population=boxplot", "Did you mean +experiment=boxplot?"),
        ("population=stage33", "Did you mean stage3?"),
    ],
)
def test_a_name_of_another_group_is_found_there(override: str, told: str) -> None:
    assert failure("+experiment=boxplot", override).endswith(told)


def test_a_name_of_nowhere_is_no_misspelling(tmp_path: Path) -> None:
    told = failure("+experiment=boxplot", "population=patient")
    assert "Did you mean" not in told and "Known here: academy" in told
    assert told.endswith("Your own lie in FOLDER/population/, and --config-dir FOLDER adds them.")


@pytest.mark.parametrize("head", ["", "# A question\n# @package _global_\n"])
def test_an_experiment_without_its_first_line_says_what_to_write(head: str, tmp_path: Path) -> None:
    text = f"{head}defaults: [override /task: compare]\nseed: 3\n"
    told = failure(*own_experiment(tmp_path, text))
    assert told == (
        "experiment/mine.yaml: write `# @package _global_` into its first line, before any other "
        "comment"
    )
