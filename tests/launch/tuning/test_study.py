"""A study: what trials get, who plays them, which are stopped, and what the table says."""

from __future__ import annotations

import json
from pathlib import Path

import optuna
import pytest

from daedalus.checks import CannotRunError
from daedalus.launch.config.mistakes import ConfigError
from daedalus.launch.config.tuning import PruningSettings
from daedalus.runs.tracking import Tracker, TrackingSettings, watched
from tests.launch.tuning.studies import OWN, Worker, leave_summary, make_study, play_all

PRUNING = PruningSettings(interval=2, warmup=2, trials=2)


def test_the_first_trial_has_the_experiment_s_own_values(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    worker = Worker(study)
    first, second = worker.claim(), worker.claim()
    assert first is not None and study.values(first) == first.params == OWN
    assert second is not None and study.values(second) != OWN


@pytest.mark.slow
def test_trials_are_drawn_alike_after_an_interruption(tmp_path: Path) -> None:
    scores = [0.3 + 0.01 * (number * 7 % 5) for number in range(14)]
    play_all(make_study(tmp_path / "whole"), scores)
    for score in scores:
        play_all(make_study(tmp_path / "parts"), [score])
    drawn = [make_study(tmp_path / name).table() for name in ("whole", "parts")]
    assert drawn[0]["rate"].nunique() == 14
    assert drawn[0].drop(columns="seconds").equals(drawn[1].drop(columns="seconds"))


def test_drawn_numbers_have_three_digits_and_lie_in_the_range(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    play_all(study, [0.1 * (number % 4) for number in range(12)])
    rates = study.table()["rate"]
    assert [float(f"{rate:.3g}") for rate in rates] == list(rates)
    assert rates.between(1e-5, 1e-2).all() and rates.max() > 10 * rates.min()


def test_workers_play_each_trial_once(tmp_path: Path) -> None:
    workers = [Worker(make_study(tmp_path, trials=3)) for _ in range(4)]
    claimed = [worker.claim() for worker in workers]
    assert [each and each.number for each in claimed] == [0, 1, 2, None]


def test_a_trial_of_a_dead_worker_is_played_by_the_next(tmp_path: Path) -> None:
    one, two = (Worker(make_study(tmp_path, trials=2)) for _ in range(2))
    left, other = one.claim(), two.claim()
    assert left is not None and other is not None
    one.die()
    taken = two.claim()
    assert taken is not None and taken.number == left.number and taken.params == left.params
    assert Worker(make_study(tmp_path, trials=2)).claim() is None


def test_a_study_goes_on_with_more_trials(tmp_path: Path) -> None:
    study = make_study(tmp_path, trials=1)
    play_all(study, [0.4])
    assert Worker(study).claim() is None
    more = Worker(make_study(tmp_path, trials=2)).claim()
    assert more is not None and more.number == 1


def test_workers_of_another_configuration_are_refused(tmp_path: Path) -> None:
    make_study(tmp_path, described="seed: 1\nsteps: 3\n")
    with pytest.raises(ConfigError, match=r"another configuration \(steps: 3\); give the same"):
        make_study(tmp_path, described="seed: 1\nsteps: 4\n")


def train(out: Path, rewards: list[float]) -> None:
    """Log rewards as training does."""
    out.mkdir(parents=True, exist_ok=True)
    tracker = Tracker(TrackingSettings(wandb="disabled"), out, "name", {})
    for step, reward in enumerate(rewards, start=1):
        tracker.log("sft", step, {"loss": 1.0})
        tracker.log("grpo", step, {"reward": reward})


def test_a_trial_below_the_median_is_stopped(tmp_path: Path) -> None:
    study = make_study(tmp_path, PRUNING)
    rewards = [[0.1, 0.3, 0.4, 0.6], [0.2, 0.4, 0.5, 0.7], [0.3, 0.1, 0.0, 0.9], [0.8] * 4]
    for each in rewards:
        trial = Worker(study).claim()
        assert trial is not None
        out = study.run(trial.number).path
        try:
            with study.telling(trial), watched(study.watcher(trial)):
                train(out, each)
                leave_summary(study, trial.number, each[-1])
                study.tell_score(trial)
        except optuna.TrialPruned as stop:
            assert str(stop) == "below the median of other trials at step 2"
    table = study.table()
    assert list(table["state"]) == ["finished", "finished", "pruned", "finished"]
    assert table["score"].isna().tolist() == [False, False, True, False]
    assert len(study.run(2).metrics.read_text().splitlines()) == 4  # two steps of each phase


def test_a_resumed_trial_reports_means_over_whole_intervals(tmp_path: Path) -> None:
    study = make_study(tmp_path, PruningSettings(interval=4, warmup=0, trials=1))
    trial = Worker(study).claim()
    assert trial is not None
    with watched(study.watcher(trial)):
        train(study.run(0).path, [0.1, 0.1, 0.1])
    tracker = Tracker(TrackingSettings(wandb="disabled"), study.run(0).path, "name", {})
    tracker.rewind("grpo", 2)
    with watched(study.watcher(trial)):
        for step, reward in ((3, 0.5), (4, 0.9)):
            tracker.log("grpo", step, {"reward": reward})
    leave_summary(study, 0, 0.4)
    study.tell_score(trial)
    best = study.best()
    assert best is not None and best.intermediate_values == {4: pytest.approx(0.4)}


@pytest.mark.parametrize(
    ("changes", "hint"),
    [
        ({"score": "meen"}, r"tuning\.score: 'meen'; choose one of \['designer', 'mean'\]"),
        (
            {"designer": "fixed"},
            r"tuning\.designer: 'fixed'; choose one of \['random', 'trained'\]",
        ),
        ({"pruning": PRUNING}, r"tuning\.pruning\.phase: 'grpo'; a trial has no 2 records of it"),
    ],
)
def test_a_score_that_no_trial_has_ends_the_worker(
    changes: dict[str, str], hint: str, tmp_path: Path
) -> None:
    study = make_study(tmp_path, **changes)
    with pytest.raises(ConfigError, match=hint):
        play_all(study, [0.5])
    assert study.table()["state"].tolist() == ["unfinished"]


def test_a_signal_that_no_record_has_ends_the_worker(tmp_path: Path) -> None:
    study = make_study(tmp_path, PruningSettings(signal="rewards", interval=1))
    trial = Worker(study).claim()
    assert trial is not None
    hint = r"tuning\.pruning\.signal: 'rewards'; the records of grpo have step, reward"
    with pytest.raises(ConfigError, match=hint), watched(study.watcher(trial)):
        train(study.run(0).path, [0.1])


def test_an_error_of_one_trial_is_in_the_table(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    trial = Worker(study).claim()
    assert trial is not None
    with pytest.raises(RuntimeError), study.telling(trial):
        raise RuntimeError("no memory")
    (row,) = study.table().to_dict("records")
    assert (row["state"], row["error"]) == ("failed", "RuntimeError: no memory")
    assert study.best() is None


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_a_score_that_is_no_number_is_the_error_of_its_trial(score: float, tmp_path: Path) -> None:
    study = make_study(tmp_path)
    trial = Worker(study).claim()
    assert trial is not None
    leave_summary(study, 0, score)
    with pytest.raises(ValueError, match=r"tuning\.score"), study.telling(trial):
        study.tell_score(trial)
    (row,) = study.table().to_dict("records")
    assert row["state"] == "failed"
    assert row["error"] == f"ValueError: tuning.score: mean is {score}, no finite number"


def test_a_study_goes_on_after_a_record_that_was_cut(tmp_path: Path) -> None:
    play_all(make_study(tmp_path), [0.4])
    journal = tmp_path / "journal.log"
    for cut in (b'{"op_code":5,"worker', b"{}"[:1]):
        study = make_study(tmp_path)  # a worker that is at work meanwhile
        with journal.open("ab") as file:
            file.write(cut)
        play_all(study, [0.5])
        play_all(make_study(tmp_path), [0.6])
    assert make_study(tmp_path).table()["score"].tolist() == [0.4, 0.5, 0.6, 0.5, 0.6]
    assert all(json.loads(line) for line in journal.read_text().splitlines())


def test_a_record_is_cut_under_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    locked = []

    def look(journal: Path) -> None:
        locked.append(journal.with_name("journal.log.lock").is_symlink())

    monkeypatch.setattr("daedalus.launch.tuning.study.cut_torn_line", look)
    play_all(make_study(tmp_path), [0.4])
    assert len(locked) > 2 and all(locked)


def test_an_error_of_the_machine_leaves_the_trial_to_others(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    worker = Worker(study)
    trial = worker.claim()
    assert trial is not None
    with pytest.raises(CannotRunError), study.telling(trial):
        raise CannotRunError("no GPU")
    worker.die()
    again = Worker(make_study(tmp_path)).claim()
    assert again is not None and again.number == trial.number


def test_the_best_trial_is_the_first_of_the_highest(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    play_all(study, [0.3, 0.5, 0.5, 0.4])
    best = study.best()
    assert best is not None and best.number == 1
