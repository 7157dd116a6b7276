"""The leaderboard plays every designer in every population that is held out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.designers.chat_double import always, serving


@pytest.mark.slow
def test_the_experiment_scores_every_designer_in_every_population(tmp_path: Path) -> None:
    small = [
        "evaluation.episodes=2",
        "evaluation.baselines.evolution.generations=1",
        "evaluation.baselines.distilled.states=64",
        "evaluation.baselines.best_own.candidates=8",
        "evaluation.baselines.best_own.sweeps=0",
        "evaluation.baselines.planner.rounds=1",
        "training.portfolio.populations=1",
        "training.portfolio.episodes=2",
    ]
    root = Path(__file__).parents[2]
    command = [sys.executable, "run.py", "+experiment=leaderboard", "tracking=files", *small]
    chat = "evaluation.baselines.zero_shot"
    with serving(always()) as server:
        command += [f"designer@{chat}=endpoint", f"{chat}.model=m", f"{chat}.base_url={server.url}"]
        subprocess.run([*command, f"hydra.run.dir={tmp_path}"], cwd=root, check=True)
    summary = pd.read_csv(tmp_path / "summary.csv")
    totals = pd.read_csv(tmp_path / "totals.csv").set_index("designer")
    assert summary["population"].nunique() == 14 and len(summary) == 14 * len(totals)
    assert {"random", "informed_greedy", "best_fixed", "best_own", "evolution"} <= set(totals.index)
    assert totals.loc["zero_shot", ["valid", "least_valid"]].tolist() == [1.0, 1.0]
    ceilings = summary[summary["designer"].isin(["planner", "best_own"])]
    highest = ceilings.groupby("population")["normalised"].max()
    assert highest.to_numpy() == pytest.approx(1.0)
    assert (tmp_path / "figures" / "leaderboard.png").exists()
