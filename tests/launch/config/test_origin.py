"""The message of a wrong value names the file that sets it."""

from __future__ import annotations

from pathlib import Path

import pytest

from daedalus.launch.config import ConfigError, compose_config

SHARE = r"population\.strategic\.types\.shader\.share: -1\.0; give a finite number from 0 up"


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """Write a population with a negative share, another one made of it, and an experiment."""
    for name, text in {
        "population/bad": "defaults: [stage1, _self_]\nname: bad\n"
        "strategic: { types: { shader: { share: -1 } } }\n",
        "population/child": "defaults: [bad, _self_]\nname: child\n",
        "experiment/own": "# @package _global_\ndefaults: [override /task: compare]\n"
        "evaluation: { episodes: 1 }\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.yaml").write_text(text)
    return tmp_path


@pytest.mark.parametrize("population", ["bad", "child"])
def test_a_value_of_a_file_names_the_file(mine: Path, population: str) -> None:
    folder = f"hydra.searchpath=[file://{mine}]"
    with pytest.raises(ConfigError, match=rf"^{SHARE} \(in {mine}/population/bad\.yaml\)$"):
        compose_config(folder, "task=compare", f"population={population}")


def test_a_value_of_an_experiment_names_the_experiment(mine: Path) -> None:
    folder = f"hydra.searchpath=[file://{mine}]"
    said = rf"^evaluation\.episodes: 1; .* \(in {mine}/experiment/own\.yaml\)$"
    with pytest.raises(ConfigError, match=said):
        compose_config(folder, "+experiment=own")


def test_a_value_of_the_command_line_names_no_file() -> None:
    with pytest.raises(ConfigError, match=f"^{SHARE}$"):
        compose_config("task=compare", "population.strategic.types.shader.share=-1")
