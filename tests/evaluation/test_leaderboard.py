"""Normalised scores and aggregates over seeds, on answers that are known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy import stats

from daedalus.evaluation.leaderboard import (
    aggregate,
    normalise,
    performance_profile,
    score_array,
    three_intervals,
)
from daedalus.evaluation.leaderboard_figures import leaderboard_figures
from daedalus.evaluation.statistics import t_interval

CONFIDENCE = 0.95


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


def test_scores_without_a_scale_are_refused() -> None:
    with pytest.raises(ValueError, match="best_own missing"):
        normalise(table().query("designer != 'best_own'"))
    with pytest.raises(ValueError, match="planner missing"):
        normalise(table().query("designer != 'planner'"))
    flat = table()
    flat.loc[flat["designer"].isin(["planner", "best_own"]), "mean"] = 0.1
    with pytest.raises(ValueError, match=r"seed \d+: planner and best_own \(0.1.*\) are no better"):
        normalise(flat)


def test_probability_of_improvement_is_mann_whitney_u_over_seeds_in_each_population() -> None:
    scores = normalise(table(seeds=6, populations=3, one=0.9, other=0.89))
    row = aggregate(scores, ["other", "absent"], CONFIDENCE).set_index("designer").loc["one"]
    first, second = score_array(scores, "one"), score_array(scores, "other")
    counted = np.mean([np.mean(first[:, [p]] > second[:, p]) for p in range(3)])
    assert row["beats_other"] == pytest.approx(counted)
    assert "beats_other_low" not in row and "beats_absent" not in row  # it did not play


def test_intervals_of_the_worst_are_students_t_over_the_numbers_of_the_seeds() -> None:
    scores = normalise(table(seeds=3, populations=11, one=0.9, other=0.8))
    row = aggregate(scores, ["other"], CONFIDENCE).set_index("designer").loc["one"]
    first, second = score_array(scores, "one"), score_array(scores, "other")
    middle, other_middle = (np.sort(each)[:, 2:9].mean(axis=1) for each in (first, second))
    numbers = {
        "mean": first.mean(axis=1),
        "iqm": middle,
        "worst": first.min(axis=1),
        "worst_fifth": np.sort(first)[:, :2].mean(axis=1),
        "over_other": middle - other_middle,
        "mean_over_other": (first - second).mean(axis=1),
        "worst_over_other": (first - second).min(axis=1),
    }
    for name, values in numbers.items():
        assert row[name] == pytest.approx(values.mean())
        ends = (row[f"{name}_low"], row[f"{name}_high"])
        if name.startswith("worst"):
            assert ends == pytest.approx(t_interval(values, CONFIDENCE))
            assert row[f"{name}_interval"] == "3 seeds"
        else:
            assert row[f"{name}_interval"] == "3 seeds and 11 populations"


def test_a_lead_that_differs_between_populations_is_less_sure_than_its_seeds_say() -> None:
    scores = normalise(table(seeds=7, populations=14, one=0.8, other=0.8))
    leads = scores["designer"].eq("one") & scores["population"].isin(["p0", "p1", "p2"])
    scores.loc[leads, "normalised"] += 0.4
    row = aggregate(scores, ["other"], CONFIDENCE).set_index("designer").loc["one"]
    array = score_array(scores, "one") - score_array(scores, "other")
    low, _ = t_interval(array.mean(axis=1), CONFIDENCE)
    assert low > 0.05 > row["mean_over_other_low"]
    sure = three_intervals(scores, ["other"], CONFIDENCE)
    lead = sure.set_index(["designer", "number"]).loc[("one", "mean_over_other")]
    assert (lead["value_low"], lead["value_high"]) == (
        row["mean_over_other_low"],
        row["mean_over_other_high"],
    )
    means = array.mean(axis=0)
    assert lead["median"] == np.median(means)
    half = stats.t.ppf(0.975, 13) * means.std(ddof=1) / np.sqrt(14)
    assert lead["half_width_over_populations"] == pytest.approx(half)
    assert lead["half_width_over_seeds"] == pytest.approx(array.mean() - low)
    assert lead["wilcoxon_p"] == stats.wilcoxon(means).pvalue


def test_one_seed_has_no_interval_and_tells_how_sure_a_mean_is_over_populations_alone() -> None:
    scores = normalise(table(seeds=1, populations=8, one=0.9, other=0.8))
    rows = aggregate(scores, ["other"], CONFIDENCE)
    for name in ("iqm", "mean", "worst", "over_other", "mean_over_other", "worst_over_other"):
        assert rows[f"{name}_low"].isna().all() and rows[name].notna().all()
    sure = three_intervals(scores, ["other"], CONFIDENCE)
    assert sure[["value_low", "value_high", "half_width_over_seeds"]].isna().all(axis=None)
    assert sure["value_interval"].eq("1 seed and 8 populations, none").all()
    assert sure.loc[sure["designer"] == "one", "half_width_over_populations"].gt(0).all()


def test_a_profile_counts_what_lies_above() -> None:
    profile = performance_profile(np.array([[0.1, 0.4], [0.6, 0.9]]), np.array([0.0, 0.5, 1.0]))
    assert profile.tolist() == [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]  # a row for each seed


def test_answers_that_were_invalid_are_counted_over_all_and_where_they_are_most() -> None:
    scores = normalise(table(good=0.9, same=0.9))
    where = scores["designer"].eq("good") & scores["seed"].eq(2) & scores["population"].eq("p1")
    assert where.sum() == 1
    rows = aggregate(scores.assign(valid=1.0 - 0.5 * where), [], CONFIDENCE)
    rows = rows.set_index("designer")
    assert rows.loc["good", ["valid", "least_valid"]].tolist() == [1 - 0.5 / 20, 0.5]
    assert rows.loc["same", ["valid", "least_valid"]].tolist() == [1.0, 1.0]


def test_regret_is_a_mean_over_populations_that_have_one_if_a_designer_lacks_none_there() -> None:
    scores = normalise(table(good=0.9))
    assert "ex_post_regret" not in aggregate(scores, [], CONFIDENCE)
    regret = scores["population"].map({"p0": 0.02, "p1": 0.04})  # the others have none
    scores = scores.assign(ex_post_regret=regret)
    rows = aggregate(scores, [], CONFIDENCE).set_index("designer")
    assert rows.loc["good", "ex_post_regret"] == pytest.approx(0.03)
    unknown = scores["designer"].eq("good") & scores["population"].eq("p1")
    scores.loc[unknown, "ex_post_regret"] = np.nan
    rows = aggregate(scores, [], CONFIDENCE).set_index("designer")
    assert np.isnan(rows.loc["good", "ex_post_regret"])
    assert rows.loc["planner", "ex_post_regret"] == pytest.approx(0.03)


def drawn(scores: pd.DataFrame) -> dict[str, Figure]:
    totals = aggregate(scores, ["informed_greedy", "best_fixed"], CONFIDENCE)
    return leaderboard_figures(scores, totals, CONFIDENCE)


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [1, 5])
def test_figures_name_every_designer(seeds: int) -> None:
    figures = drawn(normalise(table(seeds=seeds, best_fixed=0.9, informed_greedy=0.5)))
    assert ("intervals" in figures) == ("improvement" in figures) == (seeds > 1)
    _title, reading = figures["leaderboard"].texts
    assert ("one seed has no interval" in reading.get_text()) == (seeds == 1)
    for figure in figures.values():
        words = {axes.get_title(loc="left") for axes in figure.axes}
        for axes in figure.axes:
            words |= {t.get_text() for t in [*axes.get_xticklabels(), *axes.get_yticklabels()]}
        assert {"best fixed", "random", "planner"} <= words


def test_profiles_show_each_seed_beside_the_mean() -> None:
    figure = drawn(normalise(table(best_fixed=0.9, informed_greedy=0.5)))["profiles"]
    panel = next(axes for axes in figure.axes if axes.get_title(loc="left") == "best fixed")
    *seeds, mean = [line.get_ydata() for line in panel.lines[-6:]]
    np.testing.assert_allclose(np.mean(seeds, axis=0), mean)
    assert np.ptp(seeds, axis=0).max() > 0


def test_intervals_are_drawn_as_they_are_in_the_table() -> None:
    scores = normalise(table(seeds=2, best_fixed=0.9))
    totals = aggregate(scores, [], CONFIDENCE).sort_values("mean")
    panel = leaderboard_figures(scores, totals, CONFIDENCE)["intervals"].axes[0]
    bars = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in panel.patches]
    np.testing.assert_allclose(bars, totals[["mean_low", "mean_high"]])
    assert panel.get_xlabel() == "over 2 seeds and 4 populations"
