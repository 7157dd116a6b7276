"""Normalised scores, aggregates over seeds, and evolution, on answers that are known."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from tests.test_endpoint import always, serving

from daedalus.designers.planner import EvolutionSettings
from daedalus.env import DesignEnv
from daedalus.evaluation.episodes import score_mechanisms
from daedalus.evaluation.leaderboard import (
    SeedBootstrap,
    aggregate,
    differences_by_seed,
    normalise,
    performance_profile,
    score_array,
)
from daedalus.evaluation.leaderboard_figures import leaderboard_figures
from daedalus.evaluation.settings import EvaluationSettings
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanisms
from daedalus.market.population import Population
from daedalus.market.seeds import generator
from daedalus.search.evolution import evolve
from daedalus.search.space import random_mechanisms
from tests.populations import TYPES

SETTINGS = EvaluationSettings(resamples=2000)


def table(seeds: int = 5, populations: int = 4, **gains: float) -> pd.DataFrame:
    """Return rewards of random (0.2) and planner (0.5), and others at a share of the way."""
    rng = np.random.default_rng(0)
    rows = []
    for seed in range(seeds):
        for population in range(populations):
            for name, share in ({"random": 0.0, "planner": 1.0} | gains).items():
                noise = 0.0 if name in ("random", "planner") else rng.normal(0, 0.01)
                row = {"seed": seed, "population": f"p{population}", "designer": name}
                rows.append(row | {"mean": 0.2 + 0.3 * share + noise, "valid": 1.0})
    return pd.DataFrame(rows)


def test_random_is_zero_and_the_planner_one_in_every_population() -> None:
    scores = normalise(table(good=0.9))
    assert score_array(scores, "random") == pytest.approx(0.0)
    assert score_array(scores, "planner") == pytest.approx(1.0)
    assert score_array(scores, "good").shape == (5, 4)
    assert score_array(scores, "good") == pytest.approx(0.9, abs=0.12)


def test_scores_without_a_scale_are_refused() -> None:
    with pytest.raises(ValueError, match="planner did not play"):
        normalise(table().query("designer != 'planner'"))
    flat = table()
    flat.loc[flat["designer"] == "planner", "mean"] = 0.1
    with pytest.raises(ValueError, match="no better than random"):
        normalise(flat)


def test_an_interval_is_clear_of_zero_only_where_designers_differ() -> None:
    rows = aggregate(
        normalise(table(good=0.9, same=0.9, bad=0.6)), ["same"], SETTINGS, seed=0
    ).set_index("designer")
    assert rows.loc["bad", "over_same_high"] < 0 < rows.loc["planner", "over_same_low"]
    assert rows.loc["good", "over_same_low"] < 0 < rows.loc["good", "over_same_high"]
    assert rows.loc["good", "iqm_low"] < rows.loc["good", "iqm"] < rows.loc["good", "iqm_high"]
    assert rows.loc["good", "worst"] < 0.9
    assert rows.loc["same", "over_same"] == 0


def test_the_worst_population_is_told_beside_the_mean() -> None:
    scores = table(good=0.9)
    hard = (scores["designer"] == "good") & (scores["population"] == "p2")
    scores.loc[hard, "mean"] -= 0.15  # half of the scale
    row = aggregate(normalise(scores), [], SETTINGS, seed=0).set_index("designer").loc["good"]
    assert row["worst"] == pytest.approx(0.4, abs=0.05)
    assert row["mean"] == pytest.approx(0.775, abs=0.05)
    assert row["worst_low"] < row["worst"] < row["worst_high"] < row["mean_low"] < row["mean"]


def test_probability_of_improvement_is_mann_whitney_u_over_seeds_in_each_population() -> None:
    scores = normalise(table(seeds=6, populations=3, one=0.9, other=0.89))
    row = aggregate(scores, ["other"], SETTINGS, seed=0).set_index("designer").loc["one"]
    first, second = score_array(scores, "one"), score_array(scores, "other")
    counted = np.mean([np.mean(first[:, [p]] > second[:, p]) for p in range(3)])
    assert row["beats_other"] == pytest.approx(counted)
    assert row["beats_other_low"] < counted < row["beats_other_high"]


def test_intervals_resample_seeds_within_populations() -> None:
    scores = np.array([[0.0, 10.0], [1.0, 11.0], [2.0, 12.0]])
    drawn = SeedBootstrap.of(scores.shape, SETTINGS, seed=0).resampled(scores)
    assert drawn.shape == (SETTINGS.resamples, 3, 2)
    assert set(np.unique(drawn[..., 0])) == {0.0, 1.0, 2.0}
    assert set(np.unique(drawn[..., 1])) == {10.0, 11.0, 12.0}
    assert (drawn[..., 1] - drawn[..., 0] != 10.0).any()  # each population on its own


def test_the_t_interval_of_the_seeds_differences_is_the_textbooks() -> None:
    first = np.repeat([[0.5], [0.6], [0.7], [0.8], [0.9]], 4, axis=1)
    row = differences_by_seed("d", first, np.full((5, 4), 0.5), 0.95)
    half = 2.776445 * np.sqrt(0.025 / 5)  # t(4), 97.5 %
    expected = {"d": 0.2, "d_low": 0.2 - half, "d_high": 0.2 + half}
    assert row == pytest.approx(expected, abs=1e-6)


def test_a_single_seed_has_no_interval() -> None:
    rows = aggregate(normalise(table(seeds=1, good=0.9)), ["random"], SETTINGS, seed=0)
    for name in ("iqm", "mean", "worst", "over_random", "by_seed_over_random", "beats_random"):
        assert rows[f"{name}_low"].isna().all() and rows[name].notna().all()


def test_a_profile_counts_what_lies_above() -> None:
    profile = performance_profile(np.array([[0.1, 0.4], [0.6, 0.9]]), np.array([0.0, 0.5, 1.0]))
    assert list(profile) == [1.0, 0.5, 0.0]


def test_answers_that_were_invalid_are_counted_over_all_and_where_they_are_most() -> None:
    scores = normalise(table(good=0.9, same=0.9))
    where = scores["designer"].eq("good") & scores["seed"].eq(2) & scores["population"].eq("p1")
    assert where.sum() == 1
    rows = aggregate(scores.assign(valid=1.0 - 0.5 * where), [], SETTINGS, seed=0)
    rows = rows.set_index("designer")
    assert rows.loc["good", ["valid", "least_valid"]].tolist() == [1 - 0.5 / 20, 0.5]
    assert rows.loc["same", ["valid", "least_valid"]].tolist() == [1.0, 1.0]


def drawn(scores: pd.DataFrame) -> dict[str, Figure]:
    totals = aggregate(scores, ["informed_greedy", "best_fixed"], SETTINGS, seed=0)
    return leaderboard_figures(scores, totals, SETTINGS)


@pytest.mark.parametrize("seeds", [1, 5])
def test_figures_name_every_designer(seeds: int) -> None:
    figures = drawn(normalise(table(seeds=seeds, best_fixed=0.9, informed_greedy=0.5)))
    assert ("intervals" in figures) == ("improvement" in figures) == (seeds > 1)
    for figure in figures.values():
        words = {axes.get_title(loc="left") for axes in figure.axes}
        for axes in figure.axes:
            words |= {t.get_text() for t in [*axes.get_xticklabels(), *axes.get_yticklabels()]}
        assert {"best fixed", "random", "planner"} <= words


def test_a_profile_lies_in_its_band() -> None:
    figure = drawn(normalise(table(best_fixed=0.9, informed_greedy=0.5)))["profiles"]
    panel = next(axes for axes in figure.axes if axes.get_title(loc="left") == "best fixed")
    thresholds, profile = panel.lines[-1].get_data()
    (outline,) = (path.vertices for path in panel.collections[0].get_paths())
    width = 0.0
    for threshold, share in zip(thresholds, profile, strict=True):
        ends = outline[np.isclose(outline[:, 0], threshold), 1]
        assert ends.min() <= share <= ends.max()
        width = max(width, np.ptp(ends))
    assert 0.05 < width < 1.0


def test_evolution_beats_as_many_random_mechanisms() -> None:
    settings = MarketSettings(episode_length=2)
    env = DesignEnv.of(settings, Population(types=TYPES))
    budget = EvolutionSettings(population=2, generations=8, episodes=8)
    found = evolve(env, budget, seed=0)
    assert found == evolve(env, budget, seed=0)
    drawn = random_mechanisms(200, generator(1, "r"))
    others = score_mechanisms(env, drawn, 200, 0, "check")
    (score,) = score_mechanisms(env, Mechanisms.stack([found]), 200, 0, "check")
    assert score > np.quantile(others, 0.95)


@pytest.mark.slow
def test_the_experiment_scores_everybody_everywhere(tmp_path: Path) -> None:
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
    assert summary["population"].nunique() == 10 and len(summary) == 10 * len(totals)
    assert {"random", "informed_greedy", "best_fixed", "best_own", "evolution"} <= set(totals.index)
    assert totals.loc["zero_shot", ["valid", "least_valid"]].tolist() == [1.0, 1.0]
    assert totals.loc["planner", "iqm"] == pytest.approx(1.0)
    assert (tmp_path / "figures" / "leaderboard.png").exists()
