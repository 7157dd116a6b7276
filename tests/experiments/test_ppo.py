"""The experiment ppo trains a policy that other experiments load as a designer."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from daedalus.checks import CannotRunError
from daedalus.design.designers.ppo import PpoDesigner, PpoSettings
from daedalus.launch.config.compose import compose_config
from daedalus.launch.progress import progress
from daedalus.runs.tracking import Tracker, watched
from daedalus.training.algorithms.ppo import trainer
from experiments import leaderboard, ppo
from tests.experiments.test_leaderboard import small
from tests.launching import play, write_portfolio

SMALL = "population=stage3 ppo.decisions=200 ppo.markets=10 ppo.batch_size=20 ppo.width=8"
SMALL += " ppo.epochs=1 evaluation.episodes=3 evaluation.resamples=100 tracking=files"
SMALL += " evaluation.baselines.search.candidates=8 evaluation.baselines.search.sweeps=0"


@pytest.mark.slow
def test_a_run_trains_and_its_policy_is_a_row_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    play(run, "+experiment=ppo", *SMALL.split())
    summary = pd.read_csv(run / "summary.csv").set_index("designer")
    assert {"random", "search", "ppo"} <= set(summary.index)
    assert len(pd.read_csv(run / "history.csv")) == 2
    assert "PPO" in set(pd.read_csv(run / "phases.csv").phase)
    elsewhere = tmp_path / "elsewhere"
    words = "+experiment=boxplot population=stage3 evaluation.episodes=3 evaluation.resamples=100"
    play(elsewhere, *words.split(), "tracking=files", "designer=ppo", f"designer.checkpoint={run}")
    again = pd.read_csv(elsewhere / "summary.csv").set_index("designer")
    assert again.loc["ppo", "mean"] == summary.loc["ppo", "mean"]
    board = tmp_path / "board"
    board.mkdir()
    write_portfolio(board)
    monkeypatch.setattr(leaderboard, "leaderboard_figures", lambda *_: {})
    designer = PpoSettings(name="ppo", checkpoint=str(run))
    leaderboard.main(replace(small(1, 0), designer=designer), board)
    assert "ppo" in set(pd.read_csv(board / "totals.csv").designer)


@pytest.mark.slow
def test_a_run_that_failed_resumes_with_the_same_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, run = tmp_path / "whole", tmp_path / "run"
    words = ["+experiment=ppo", *SMALL.split(), "ppo.decisions=400"]
    monkeypatch.setattr(ppo, "compare_designers", lambda *_: None)  # it takes longer than all else
    play(whole, *words)
    monkeypatch.setattr(trainer, "SAVE_SECONDS", 0.0)

    def fail(tracker: Tracker, phase: str, step: int) -> None:
        if step == 3:
            raise RuntimeError("no luck")

    config = compose_config(*words)
    with watched(fail), pytest.raises(SystemExit):
        assert progress(config, run) == ""
        play(run, *words)
    assert progress(config, run) == "PPO 200 of 400 decisions"
    play(run, *words, "resume=true")
    assert progress(config, run) == "PPO finished"
    for name in ("metrics.jsonl", "history.csv"):
        assert (run / name).read_text() == (whole / name).read_text(), name
    policies = PpoDesigner.read(run / "policy.npz"), PpoDesigner.read(whole / "policy.npz")
    np.testing.assert_array_equal(policies[0].layers[-1][0], policies[1].layers[-1][0])


def test_without_the_extra_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = compose_config("+experiment=ppo")
    for name in ("trainer", "markets"):
        monkeypatch.delitem(sys.modules, f"daedalus.training.algorithms.ppo.{name}", raising=False)
        monkeypatch.delattr(f"daedalus.training.algorithms.ppo.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)
    ways = r"stable_baselines3.*pip install -e '\.\[rl\]' .*, pip install 'FILE\.whl\[rl\]'"
    with pytest.raises(CannotRunError, match=ways):
        ppo.main(config, tmp_path)
