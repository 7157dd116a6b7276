"""What a run trained its designer for, read from its files, and what is something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from daedalus.design.designers.purpose import read_purpose
from daedalus.launch.from_config import make_env
from daedalus.runs.pretrained import FOLDER
from tests.launch.config.composing import composed
from tests.runs.trained_runs import leave_trained_run

MET = "R with the bidders of world, stage4, exploiter_heavy, thick_ring, weak_ring and wide_world"


@pytest.mark.parametrize(
    ("asked", "instead"),
    [
        ([], ""),
        (["population=stage4"], ""),  # SFT practised there
        (["reward=revenue"], "for revenue"),
        (["+reward.weights.fairness=0.5"], "for composite + 0.5 fairness"),
        (["population=crowd"], "with those of crowd"),
        (["population=stage4", "population.strategic.units=5"], "with 8 of stage4"),
        (["market=classic", "population=stage3"], "with those of stage3 in the classic market"),
        (["market.episode_length=20"], "in a market with episode_length 20 instead of 10"),
        (
            ["market.strategic.entry_cost=0.02"],
            "in a market with entry_cost 0.02 instead of 0.01",
        ),
        (
            ["reward=revenue", "population=optimum_uniform_3"],
            "for revenue with those of optimum_uniform_3",
        ),
    ],
)
def test_it_says_what_the_shipped_designer_was_trained_for(asked: list[str], instead: str) -> None:
    purpose = read_purpose(FOLDER)
    assert purpose is not None and str(purpose) == MET
    config = composed("task=compare", "population=world", *asked)
    told = purpose.instead(make_env(config), config.population.name)
    assert told == (f"it was trained for {MET}, and not {instead}" if instead else "")


def test_another_number_of_bidders_is_known_if_training_drew_it() -> None:
    purpose = read_purpose(FOLDER)
    env = make_env(composed("task=compare", "population=world"))
    assert purpose is not None
    for bidders, known in ((6, True), (64, False)):
        sized = env.with_population(env.market.population.of_size(bidders))
        assert purpose.knows(sized.market.population) is known


def test_a_model_of_many_objectives_is_for_each_of_them(tmp_path: Path) -> None:
    purpose = read_purpose(leave_trained_run(tmp_path, "+experiment=grpo_objectives"))
    assert purpose is not None
    asked = {
        name: composed("task=compare", f"reward={name}").reward for name in ("revenue", "composite")
    }
    assert purpose.is_for(asked["revenue"]) and not purpose.is_for(asked["composite"])
    assert str(purpose).startswith("any weights of revenue, welfare, fairness and participation ")


def test_nothing_is_known_without_a_run_or_of_another_version(tmp_path: Path) -> None:
    assert read_purpose(tmp_path / "model") is None
    model = leave_trained_run(tmp_path / "run")
    assert read_purpose(model) is not None
    written = tmp_path / "run" / "config.yaml"
    staged = "\n  curriculum:\n    stages: { stage0: { window: 50 } }\n"
    text = written.read_text()
    assert text.count("\n  grpo:\n") == 1
    written.write_text(text.replace("\n  grpo:\n", f"{staged}  grpo:\n"))
    assert read_purpose(model) is None
    written.write_text("task: dance")
    assert read_purpose(model) is None
