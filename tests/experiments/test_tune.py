"""Studies from the command line: workers that share one, and the best experiment as a file."""

from __future__ import annotations

import json
import os
import shlex
import signal
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from daedalus.checks import CannotRunError
from daedalus.launch.config.compose import compose_both
from daedalus.launch.config.jobs import Launch
from daedalus.launch.config.task_parts import Task
from daedalus.training.checkpoints import last_checkpoint
from experiments import compare, tune
from tests import forked
from tests.launching import wait_for

pytestmark = pytest.mark.slow

SMALL = "model.hidden_size=32 model.layers=1 model.heads=2 model.intermediate_size=64".split()
FIXED = """# @package _global_
defaults:
  - boxplot
  - override /task: tune
  - override /designer: fixed
  - override /tuning: reserve
  - override /tracking: files
evaluation: { episodes: 4, resamples: 100 }
"""
BROKEN = FIXED.replace(
    "- boxplot\n", "- boxplot\n  - /designer@evaluation.baselines.broken: language_model\n"
)
RESERVE = """task: compare
designer: fixed
pruning: null
space:
  reserve: { key: mechanism.reserve_price, low: 0.0, high: 0.9 }
"""
LEARNING = """# @package _global_
defaults:
  - sft_stage3
  - override /task: tune
  - override /training: smoke
  - override /tuning: rate
  - override /tracking: files
training: { sft: { steps: 60, save_every: 30, validity_prompts: 2 } }
evaluation: { episodes: 2, resamples: 100 }
"""
RATE = """task: grpo
score: valid
pruning: { phase: sft, signal: token_accuracy, interval: 10, warmup: 40, trials: 1 }
space:
  rate: { key: training.sft.learning_rate, choices: [3e-3, 0.0] }
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a folder with three experiments to tune."""
    files = {
        "experiment/fixed_reserve.yaml": FIXED,
        "experiment/broken.yaml": BROKEN,
        "tuning/reserve.yaml": RESERVE,
        "experiment/learning.yaml": LEARNING,
        "tuning/rate.yaml": RATE,
    }
    for name, text in files.items():
        path = tmp_path / "conf" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def launch(place: Path, experiment: str, *overrides: str) -> forked.Forked:
    words = [f"hydra.searchpath=[file://{place}/conf]", f"+experiment={experiment}", *overrides]
    return forked.start("run.py", *words, cwd=place, out=place / "log.txt")


def launches(trial: Path) -> list[dict[str, str]]:
    path = trial / "provenance.json"
    records: list[dict[str, str]] = json.loads(path.read_text()) if path.exists() else []
    return records


def trials(study: Path) -> list[Path]:
    return sorted(study.glob("trials/[0-9]*"))


def halfway(study: Path, worker: int) -> list[Path]:
    """Return the whole checkpoint of the trial that a worker plays, if the trial has one."""
    name = f"tuning.worker={worker}"
    mine = [
        each for each in trials(study) if any(name in said["command"] for said in launches(each))
    ]
    unfinished = [each for each in mine if not (each / "model").exists()]
    found = [last_checkpoint(each / "checkpoints" / "sft") for each in unfinished]
    whole = [each for each in found if each and each.name == "checkpoint-30"]
    return [each / "trainer_state.json" for each in whole]


def test_workers_share_a_study_and_one_goes_on_with_what_a_killed_one_left(place: Path) -> None:
    study = place / "study"
    words = [*SMALL, f"tuning.study={study}", "tuning.trials=3", "tuning.pruning=null"]
    both = [
        launch(place, "learning", *words, f"tuning.worker={number}", f"hydra.run.dir={number}")
        for number in range(2)
    ]

    def stopped_halfway() -> bool:
        """Stop the first worker before looking: it must not go on between the look and the kill."""
        os.kill(both[0].pid, signal.SIGSTOP)
        if len(list(study.glob("trials/*/provenance.json"))) > 1 and halfway(study, 0):
            return True
        os.kill(both[0].pid, signal.SIGCONT)
        return False

    wait_for(stopped_halfway)
    os.kill(both[0].pid, signal.SIGKILL)
    both[0].wait()
    (checkpoint,) = halfway(study, 0)
    written = checkpoint.stat().st_mtime_ns
    assert both[1].wait(timeout=480) == 0, (place / "log.txt").read_text()
    table = pd.read_csv(study / "trials.csv")
    assert list(table["trial"]) == [0, 1, 2] and set(table["state"]) == {"finished"}
    left, count = checkpoint.parents[3], {each.name: len(launches(each)) for each in trials(study)}
    assert count == {str(number): 1 for number in range(3)} | {left.name: 2}
    first, second = launches(left)
    assert "tuning.worker=0" in first["command"] and "tuning.worker=1" in second["command"]
    assert checkpoint.stat().st_mtime_ns == written  # it went on and did not start over


def begin(place: Path, experiment: str, *overrides: str) -> tuple[Task, Path]:
    """Return the configuration and the folder of a worker in this process."""
    path, out = f"hydra.searchpath=[file://{place}/conf]", place / "worker"
    task = [f"+experiment={experiment}", *overrides]
    out.mkdir()
    Launch(task, [f"file://{place}/conf"]).write(out)
    return compose_both(path, *task)[1], out


def test_a_trial_that_does_not_learn_is_stopped(place: Path) -> None:
    config, out = begin(place, "learning", *SMALL, "tuning.trials=2")
    tune.main(config, out)
    table = pd.read_csv(out / "trials.csv")
    assert list(table["rate"]) == [0.003, 0.0] and list(table["state"]) == ["finished", "pruned"]
    steps = (out / "trials" / "1" / "metrics.jsonl").read_text().splitlines()
    assert len(steps) == 40 and not (out / "trials" / "1" / "finished").exists()
    assert "TrialPruned: below the median" in launches(out / "trials" / "1")[-1]["error"]


def test_the_best_file_of_a_study_that_goes_on_runs_to_the_same_score(place: Path) -> None:
    config, out = begin(place, "fixed_reserve", "tuning.trials=1")
    tune.main(config, out)
    tune.main(replace(config, tuning=replace(config.tuning, trials=2)), out)
    table = pd.read_csv(out / "trials.csv")
    assert table["reserve"][0] == 0.1 and table["reserve"].nunique() == 2
    assert set(table["state"]) == {"finished"} and table["score"].nunique() == 2
    assert {path.name for path in out.glob("figures/*")} == {"history.png"}
    command = (out / "experiment" / "best.yaml").read_text().splitlines()[2]
    best = compose_both(*shlex.split(command.removeprefix("# python run.py ")))[1]
    assert best.task == "compare"
    compare.main(best, place / "best")
    means = pd.read_csv(place / "best" / "summary.csv").set_index("designer")["mean"]
    assert means["fixed"] == table["score"].max()


def test_a_study_in_which_all_trials_fail_says_so(place: Path) -> None:
    (place / "broken").mkdir()
    (place / "broken" / "config.json").write_text("{}")
    words = [f"evaluation.baselines.broken.checkpoint={place}/broken", "tuning.trials=2"]
    config, out = begin(place, "broken", *words)
    with pytest.raises(CannotRunError, match="no trial has finished"):
        tune.main(config, out)
    table = pd.read_csv(out / "trials.csv")
    assert list(table["state"]) == ["failed", "failed"] and not (out / "experiment").exists()
    assert table["error"].str.startswith("ValueError: Couldn").all()
