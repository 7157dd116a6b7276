"""The leaderboard plays every designer in every population that is held out."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from daedalus.checks import CannotRunError
from daedalus.design.designers.fixed import FixedSettings
from daedalus.design.designers.submission import SubmissionSettings
from daedalus.launch.config.compose import compose_config
from daedalus.launch.config.task_parts import Task
from daedalus.market.mechanism import Mechanism
from daedalus.runs import workers
from daedalus.runs.workers import sharing
from experiments import leaderboard
from tests.design.designers.chat_double import always, serving
from tests.launching import play, write_portfolio


def small(shards: int, shard: int) -> Task:
    """Return a leaderboard of three populations, with cheap designers."""
    config = compose_config(
        "+experiment=leaderboard",
        "tracking=files",
        "market.episode_length=4",
        "evaluation.episodes=4",
        "evaluation.baselines.best_own.candidates=8",
        "evaluation.baselines.best_own.sweeps=0",
        "evaluation.baselines.planner.rounds=0",
        "evaluation.baselines.planner.futures=1",
        f"evaluation.shards={shards}",
        f"evaluation.shard={shard}",
    )
    baselines = {name: config.evaluation.baselines[name] for name in ("random", "planner")}
    baselines["best_own"] = config.evaluation.baselines["best_own"]
    populations = dict(list(config.populations.items())[:3])
    evaluation = replace(config.evaluation, baselines=baselines)
    return replace(config, evaluation=evaluation, populations=populations)


def scores(folder: Path, shards: int, shard: int, count: int = 1) -> pd.DataFrame:
    """Play a leaderboard, with a portfolio that needs no search, and return its summary."""
    folder.mkdir()
    write_portfolio(folder)
    with sharing(count):
        leaderboard.main(small(shards, shard), folder)
    return pd.read_csv(folder / "summary.csv")


@pytest.mark.slow
def test_processes_and_jobs_that_share_the_populations_give_the_same_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "cores", lambda: 2)
    monkeypatch.setattr(leaderboard, "leaderboard_figures", lambda *_: {})  # they take seconds
    whole = scores(tmp_path / "whole", 1, 0)
    shared = scores(tmp_path / "shared", 1, 0, count=2)
    parts = [scores(tmp_path / str(shard), 2, shard) for shard in range(2)]
    assert [part["population"].nunique() for part in parts] == [1, 2]
    assert whole["normalised"].nunique() > 6
    for other in (shared, pd.concat(parts, ignore_index=True)):
        pd.testing.assert_frame_equal(whole, other, check_exact=True)


@pytest.mark.slow
def test_the_experiment_scores_every_designer_in_every_population(tmp_path: Path) -> None:
    cheap = [
        "evaluation.episodes=2",
        "evaluation.baselines.evolution.generations=1",
        "market.episode_length=4",
        "evaluation.baselines.distilled.states=64",
        "evaluation.baselines.distilled.rounds=1",
        "evaluation.baselines.best_own.candidates=8",
        "evaluation.baselines.best_own.sweeps=0",
        "evaluation.baselines.planner.rounds=1",
    ]
    write_portfolio(tmp_path)
    chat = "evaluation.baselines.zero_shot"
    with serving(always()) as server:
        cheap += [f"designer@{chat}=endpoint", f"{chat}.model=m", f"{chat}.base_url={server.url}"]
        play(tmp_path, "+experiment=leaderboard", "tracking=files", *cheap)
    summary = pd.read_csv(tmp_path / "summary.csv")
    totals = pd.read_csv(tmp_path / "totals.csv").set_index("designer")
    assert summary["population"].nunique() == 14 and len(summary) == 14 * len(totals)
    assert {"random", "informed_greedy", "best_fixed", "best_own", "evolution"} <= set(totals.index)
    assert totals.loc["zero_shot", ["valid", "least_valid"]].tolist() == [1.0, 1.0]
    ceilings = summary[summary["designer"].isin(["planner", "best_own"])]
    highest = ceilings.groupby("population")["normalised"].max()
    assert highest.to_numpy() == pytest.approx(1.0)
    assert (tmp_path / "figures" / "leaderboard.png").exists()


@pytest.mark.slow
def test_a_submission_plays_where_its_file_says_and_elsewhere_there_is_a_dash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(leaderboard, "leaderboard_figures", lambda *_: {})  # they take seconds
    config = small(1, 0)
    here, *elsewhere = config.populations
    rows = [
        {"population": here, "episode": episode, "step": step} | Mechanism().to_dict()
        for episode in range(4)
        for step in range(1, 5)
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "steps.csv", index=False)
    mine = SubmissionSettings(file=str(tmp_path / "steps.csv"))
    same = FixedSettings(mechanism=Mechanism())
    shown = config.evaluation.baselines | {"mine": mine, "same": same}
    config = replace(config, evaluation=replace(config.evaluation, baselines=shown))
    write_portfolio(tmp_path)
    leaderboard.main(config, tmp_path)
    summary = pd.read_csv(tmp_path / "summary.csv")
    assert set(summary["mean_interval"].dropna()) == {"4 episodes, none"}
    summary = summary.pivot(index="population", columns="designer")
    assert summary["mean"]["mine"][here] == summary["mean"]["same"][here] > 0
    assert summary["mean"]["mine"][elsewhere].isna().all()
    assert "mine" not in set(pd.read_csv(tmp_path / "totals.csv").designer)
    told = capsys.readouterr().out
    assert all(re.search(rf"│ {each} .*│ - +│\n", told) for each in elsewhere)
    assert "each over 4 episodes, without an interval" in " ".join(told.split())


def test_where_nobody_beats_random_what_was_played_is_kept(tmp_path: Path) -> None:
    names = ["random", "planner", "best_own"]
    scores = pd.DataFrame({"designer": names, "mean": 0.5, "seed": 3, "population": "flat"})
    with pytest.raises(CannotRunError, match=r"flat, seed 3: .*scores\.csv has the rewards"):
        leaderboard._normalised(scores, tmp_path)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "scores.csv"), scores)
