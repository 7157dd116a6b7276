"""Only a run that trained a model well is asked where nobody names a model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from daedalus.design.designers.candidates import newest_model, newest_run
from daedalus.design.rewards.stack import RewardStack
from daedalus.runs.folder import RunFolder
from tests.runs.test_folder import leave
from tests.runs.trained_runs import leave_trained_run

R, REVENUE = RewardStack(), RewardStack({"revenue": 1.0})


def test_the_newest_good_model_is_found_at_any_depth(tmp_path: Path) -> None:
    assert newest_model(tmp_path).model is None
    leave_trained_run(tmp_path / "a", time=1)
    newest = leave_trained_run(tmp_path / "sweeps" / "b" / "0", time=2)
    leave(tmp_path / "c" / "sft_model" / "prompt.json", age=0)  # it is not what a run trained
    leave(tmp_path / "d" / "model" / "config.json", age=0)  # it was cut short
    choice = newest_model(tmp_path, R)
    assert choice.model == newest and not choice.passed_over and str(choice) == ""


@pytest.mark.slow
def test_each_newer_model_is_passed_over_for_a_reason(tmp_path: Path) -> None:
    good = leave_trained_run(tmp_path / "good", time=1)
    leave_trained_run(tmp_path / "smoke", "+experiment=smoke", time=9)
    leave_trained_run(tmp_path / "rehearsed", "+experiment=grpo_stage3", "training=smoke", time=8)
    leave_trained_run(tmp_path / "stopped", finished=False, time=7)
    leave_trained_run(tmp_path / "vain", improves=False, time=6)
    leave_trained_run(tmp_path / "paid", "+experiment=grpo_stage3", "reward=revenue", time=5)
    old = leave_trained_run(tmp_path / "old", time=4)
    (old / "prompt.json").write_text(json.dumps({"version": 1}))
    foreign = leave_trained_run(tmp_path / "foreign", time=3)
    (foreign.parent / "config.yaml").write_text("task: dance")
    alone = leave_trained_run(tmp_path / "alone", time=2)
    (alone.parent / "summary.csv").write_text("step,validity\n300,1.0\n")  # of SFT
    choice = newest_model(tmp_path, R)
    assert choice.model == good
    why = {path.parent.name: reason for path, reason in choice.passed_over}
    assert why == {
        "old": "it knows prompts of another version",
        "smoke": "its run was a smoke test, which teaches nothing",
        "rehearsed": "its run was a smoke test, which teaches nothing",
        "stopped": "its run has not finished",
        "vain": "in its run it was no better than random",
        "paid": "it was trained for revenue, and not for R",
        "foreign": "its config.yaml is missing, or of another version",
        "alone": "its run has not compared it with other designers",
    }
    assert f"passed over {tmp_path / 'smoke/model'}: its run was a smoke test" in str(choice)
    assert str(choice).endswith("and 5 older models")
    assert newest_model(tmp_path, REVENUE).model == tmp_path / "paid" / "model"


@pytest.mark.parametrize(("improves", "taken"), [("True", True), ("False", False)])
def test_a_lead_within_chance_is_none(tmp_path: Path, improves: str, taken: bool) -> None:
    model = leave_trained_run(tmp_path / "a")
    columns = "designer,reference,difference,improves"
    (tmp_path / "a" / "differences.csv").write_text(f"{columns}\ntrained,random,0.1,{improves}\n")
    assert (newest_model(tmp_path).model == model) is taken


def test_the_newest_run_is_one_that_logged_a_real_training(tmp_path: Path) -> None:
    assert newest_run(tmp_path) is None
    leave(tmp_path / "a" / "training_history.json", age=20)
    leave(tmp_path / "b" / "training_history.json", age=10)
    leave(tmp_path / "c" / "metrics.jsonl", age=0)
    leave_trained_run(tmp_path / "smoke", "+experiment=smoke")
    leave(tmp_path / "smoke" / "training_history.json", age=0)
    assert newest_run(tmp_path) == RunFolder(tmp_path / "b")
