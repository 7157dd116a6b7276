"""Normalised scores and aggregates over seeds, on answers that are known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from daedalus.evaluation.leaderboard import (
    SeedBootstrap,
    aggregate,
    differences_by_seed,
    normalise,
    performance_profile,
    score_array,
)
from daedalus.evaluation.settings import EvaluationSettings

SETTINGS = EvaluationSettings(resamples=2000)


def table(seeds: int = 5, populations: int = 4, **gains: float) -> pd.DataFrame:
    """Return rewards of random (0.2) and planner (0.5), and others at a share of the way."""
    rng = np.random.default_rng(0)
    ends = {"random": 0.0, "planner": 1.0, "best_own": 0.9}
    rows = []
    for seed in range(seeds):
        for population in range(populations):
            for name, share in (ends | gains).items():
                noise = 0.0 if name in ends else rng.normal(0, 0.01)
                row = {"seed": seed, "population": f"p{population}", "designer": name}
                rows.append(row | {"mean": 0.2 + 0.3 * share + noise, "valid": 1.0})
    return pd.DataFrame(rows)


def test_random_is_zero_and_the_planner_one_in_every_population() -> None:
    scores = normalise(table(good=0.9))
    assert score_array(scores, "random") == pytest.approx(0.0)
    assert score_array(scores, "planner") == pytest.approx(1.0)
    assert score_array(scores, "good").shape == (5, 4)
    assert score_array(scores, "good") == pytest.approx(0.9, abs=0.12)


def test_the_best_own_mechanism_is_one_where_it_beats_the_planner() -> None:
    scores = table(good=0.9)
    there = scores["population"].eq("p1") & scores["designer"].eq("best_own")
    scores.loc[there, "mean"] = 0.8  # twice as far from random as the planner
    arrays = {name: score_array(normalise(scores), name) for name in ("planner", "best_own")}
    assert arrays["planner"].mean(axis=0) == pytest.approx([1.0, 0.5, 1.0, 1.0])
    assert arrays["best_own"].mean(axis=0) == pytest.approx([0.9, 1.0, 0.9, 0.9])


def test_a_reference_that_did_not_play_is_left_out() -> None:
    totals = aggregate(normalise(table(good=0.9)), ["good", "absent"], SETTINGS, seed=0)
    assert "over_good" in totals and "over_absent" not in totals


def test_scores_without_a_scale_are_refused() -> None:
    with pytest.raises(ValueError, match="best_own missing"):
        normalise(table().query("designer != 'best_own'"))
    with pytest.raises(ValueError, match="planner missing"):
        normalise(table().query("designer != 'planner'"))
    flat = table()
    flat.loc[flat["designer"].isin(["planner", "best_own"]), "mean"] = 0.1
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


def test_the_worst_fifth_is_the_mean_of_the_lowest_populations() -> None:
    scores = table(populations=11, good=0.9)
    for name, loss in (("p3", 0.15), ("p7", 0.09)):
        hard = (scores["designer"] == "good") & (scores["population"] == name)
        scores.loc[hard, "mean"] -= loss
    normalised = normalise(scores)
    row = aggregate(normalised, ["planner"], SETTINGS, seed=0).set_index("designer").loc["good"]
    lowest = score_array(normalised, "good").mean(axis=0)
    assert row["worst_fifth"] == pytest.approx(np.sort(lowest)[:2].mean())
    assert row["worst"] < row["worst_fifth"] < row["mean"]
    ceiling = score_array(normalised, "planner").mean()
    assert row["mean_by_seed_over_planner"] == pytest.approx(row["mean"] - ceiling)
    assert row["worst_over_planner"] == pytest.approx(lowest.min() - ceiling)
    low, high = row["mean_by_seed_over_planner_low"], row["mean_by_seed_over_planner_high"]
    assert low < row["mean_by_seed_over_planner"] < high < 0


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
    row = differences_by_seed("d", np.array([0.0, 0.1, 0.2, 0.3, 0.4]), 0.95)
    half = 2.776445 * np.sqrt(0.025 / 5)  # t(4), 97.5 %
    expected = {"d": 0.2, "d_low": 0.2 - half, "d_high": 0.2 + half}
    assert row == pytest.approx(expected, abs=1e-6)


def test_a_single_seed_has_no_interval() -> None:
    rows = aggregate(normalise(table(seeds=1, good=0.9)), ["random"], SETTINGS, seed=0)
    compared = ("over_random", "by_seed_over_random", "mean_by_seed_over_random", "beats_random")
    for name in ("iqm", "mean", "worst", *compared):
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
