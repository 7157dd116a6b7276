"""Statistics by hand, and intervals on samples whose answer is known."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from daedalus.evaluation.episodes import METRICS
from daedalus.evaluation.settings import EvaluationSettings
from daedalus.evaluation.statistics import (
    MOST_RESAMPLED,
    all_differences,
    episode_interval,
    half_width,
    interquartile_mean,
    paired_differences,
    probability_of_improvement,
    share_interval,
    summarise,
    t_interval,
)

QUICK = EvaluationSettings(resamples=500)


def frame(**rewards: list[float]) -> pd.DataFrame:
    """Return a frame like ``episode_means``'s; metrics beside the reward are its tenth."""
    rows = [
        {"designer": name, "episode": episode}
        | {metric: reward if metric == "reward" else reward / 10 for metric in METRICS}
        for name, values in rewards.items()
        for episode, reward in enumerate(values)
    ]
    return pd.DataFrame(rows)


def noise(seed: int, mean: float, count: int = 30) -> list[float]:
    return np.random.default_rng(seed).normal(mean, 0.05, count).tolist()


def test_interquartile_mean_by_hand() -> None:
    # of 8 values 2 are cut at either end: (3 + 4 + 5 + 6) / 4
    assert interquartile_mean(np.array([100.0, 4, 3, 1, -50, 5, 6, 8])) == 4.5
    # of 6 values 1: (2 + 3 + 4 + 9) / 4
    assert interquartile_mean(np.array([9.0, 2, 3, 4, 1, 90])) == 4.5


def test_probability_of_improvement_by_hand() -> None:
    # pairs: 1>0, 1=1, 1<2; 3>0, 3>1, 3>2 -> (4 + 1/2) / 6
    first, second = np.array([1.0, 3.0]), np.array([0.0, 1.0, 2.0])
    assert probability_of_improvement(first, second) == 4.5 / 6
    assert probability_of_improvement(second, first) == 1.5 / 6
    assert probability_of_improvement(first, first) == 0.5


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [2, 3, 5, 10])
def test_an_interval_over_few_seeds_covers_as_often_as_it_says(seeds: int) -> None:
    samples = np.random.default_rng(seeds).normal(0.4, 0.1, (1000, seeds))
    ends = np.array([t_interval(sample, 0.95) for sample in samples])
    covered = np.mean((ends[:, 0] < 0.4) & (ends[:, 1] > 0.4))
    assert 0.93 <= covered <= 0.97
    # the same numbers are the mean of a few episodes; a bootstrap of them covers 51 to 89 %
    rng, settings = np.random.default_rng(0), EvaluationSettings(resamples=100)
    assert episode_interval([samples[0]], np.mean, settings, rng) == tuple(ends[0])


def test_the_t_interval_is_the_textbooks() -> None:
    half = 2.776445 * math.sqrt(0.025 / 5)  # t(4), 97.5 %
    low, high = t_interval([0.0, 0.1, 0.2, 0.3, 0.4], 0.95)
    assert (low, high) == pytest.approx((0.2 - half, 0.2 + half), abs=1e-6)
    assert half_width(math.sqrt(0.025 / 5), 5, 0.95) == pytest.approx(half, abs=1e-6)


@pytest.mark.parametrize("hits", [0, 19, 20])
def test_the_interval_of_a_share_is_wilsons_and_stays_in_its_range(hits: int) -> None:
    test = stats.binomtest(hits, 20).proportion_ci(0.95, method="wilson")
    assert share_interval(hits / 20, 20, 0.95) == pytest.approx((test.low, test.high))
    assert 0 <= test.low < test.high <= 1
    assert np.isnan(share_interval(0.5, 0, 0.95)).all()


@pytest.mark.filterwarnings("error")
def test_one_value_has_no_interval_and_equal_ones_a_point() -> None:
    assert np.isnan(t_interval([0.3], 0.95)).all()
    assert t_interval([0.5, 0.5, 0.5], 0.95) == (0.5, 0.5)


def test_few_episodes_have_an_interval_of_the_mean_alone() -> None:
    few = frame(base=noise(0, 0.4, 8), best=noise(1, 0.9, 8))
    rows = summarise(few, QUICK, seed=0)
    rewards = few.loc[few["designer"] == "best", "reward"]
    assert rows.loc[1, ["mean_low", "mean_high"]].tolist() == list(t_interval(rewards, 0.95))
    assert rows[["iqm_low", "iqm_high"]].isna().all(axis=None) and rows["iqm"].notna().all()
    (row,) = paired_differences(few, "base", QUICK, seed=0).to_dict("records")
    assert row["improves"] and row["difference_low"] > 0
    assert np.isnan(row["probability_of_improvement_low"])
    two = paired_differences(frame(a=[0.4, 0.5], b=[0.41, 0.52]), "a", QUICK, seed=0)
    assert not two["improves"].any()  # the bootstrap interval was [0.01, 0.02]


def test_many_episodes_have_the_interval_of_large_samples_at_once() -> None:
    few, many = 0.9 * MOST_RESAMPLED, 100_000
    widths = {}
    for count in (int(few), many):
        rng = np.random.default_rng(0)
        samples = rng.beta(2, 5, (2, count))
        for name, statistic in (("mean", np.mean), ("iqm", interquartile_mean)):
            low, high = episode_interval(samples[:1], statistic, QUICK, rng)
            widths[name, count] = (high - low) * math.sqrt(count)
        assert low < interquartile_mean(samples[0]) < high
    for name in ("mean", "iqm"):
        assert widths[name, many] == pytest.approx(widths[name, int(few)], rel=0.2)
    wide = half_width(stats.sem(samples[0]), many, 0.95) * 2 * math.sqrt(many)
    assert widths["mean", many] == pytest.approx(wide, rel=0.2)


@pytest.mark.filterwarnings("error")
def test_a_designer_whose_answers_are_all_malformed_has_a_row_without_market_metrics() -> None:
    rewards = frame(good=noise(0, 0.4), broken=[0.0] * 30)
    broken = rewards["designer"] == "broken"
    rewards.loc[broken, [each for each in METRICS if each not in ("reward", "valid")]] = np.nan
    row = summarise(rewards, QUICK, seed=0).set_index("designer").loc["broken"]
    assert (row["mean"], row["mean_low"], row["mean_high"], row["valid"]) == (0, 0, 0, 0)
    assert np.isnan(row["welfare"])
    (difference,) = paired_differences(rewards, "broken", QUICK, seed=0).to_dict("records")
    assert difference["improves"]


def test_interval_narrows_with_confidence_and_episodes() -> None:
    def width(count: int, confidence: float) -> float:
        settings = EvaluationSettings(confidence=confidence, resamples=2000)
        sample = np.array(noise(1, 0.4, count))
        low, high = episode_interval([sample], np.mean, settings, np.random.default_rng(0))
        return high - low

    assert width(30, 0.5) < width(30, 0.95)
    assert width(480, 0.95) == pytest.approx(width(30, 0.95) / 4, rel=0.35)


@pytest.mark.filterwarnings("error")
def test_constant_samples_have_a_point_for_an_interval() -> None:
    twins = frame(base=noise(0, 0.4), twin=noise(0, 0.4))
    row = paired_differences(twins, "base", QUICK, seed=0).iloc[0]
    assert row["difference"] == row["difference_low"] == row["difference_high"] == 0.0
    assert row["probability_of_improvement"] == 0.5 and not row["improves"]
    row = summarise(frame(a=[0.3] * 30), QUICK, seed=0).iloc[0]
    for name in ("mean", "mean_low", "mean_high", "iqm", "iqm_low", "iqm_high", "median"):
        assert row[name] == pytest.approx(0.3)
    assert row["iqr"] == pytest.approx(0.0)
    assert row["std"] == pytest.approx(0.0)


@pytest.mark.filterwarnings("error")
def test_interval_where_leaving_one_out_changes_nothing() -> None:
    sample = np.array([0.0, *[1.0] * 23])
    rng = np.random.default_rng(0)
    low, high = episode_interval([sample], interquartile_mean, QUICK, rng)
    assert low <= 1.0 == high


def test_summary_by_hand() -> None:
    summary = summarise(frame(b=[0.1, 0.2, 0.3, 0.8], a=[0.5, 0.5, 0.5, 0.6]), QUICK, seed=0)
    assert summary["designer"].tolist() == ["b", "a"]
    row = summary.iloc[0]
    assert row["episodes"] == 4
    assert row["mean"] == pytest.approx(0.35)
    assert row["iqm"] == pytest.approx(0.25)
    assert row["median"] == pytest.approx(0.25)
    assert row["iqr"] == pytest.approx(0.425 - 0.175)
    assert row["std"] == pytest.approx(math.sqrt((0.0625 + 0.0225 + 0.0025 + 0.2025) / 3))
    assert row["welfare"] == pytest.approx(0.035)
    assert row["valid"] == pytest.approx(0.035)
    assert row["mean_low"] < 0.35 < row["mean_high"]


def test_same_seed_same_numbers_beside_other_designers() -> None:
    both = summarise(frame(a=noise(0, 0.4), b=noise(1, 0.5)), QUICK, seed=7)
    alone = summarise(frame(b=noise(1, 0.5)), QUICK, seed=7)
    other = summarise(frame(b=noise(1, 0.5)), QUICK, seed=8)
    pd.testing.assert_series_equal(both.iloc[1], alone.iloc[0], check_names=False)
    assert alone["mean_low"][0] != other["mean_low"][0]


def test_differences_are_paired_by_episode_not_by_row() -> None:
    spread = noise(0, 0.4)
    shifted = [value + 0.01 + 0.001 * (index % 2) for index, value in enumerate(spread)]
    rows = frame(base=spread, shifted=shifted).sample(frac=1, random_state=0)
    row = paired_differences(rows, "base", QUICK, seed=0).iloc[0]
    assert (row["designer"], row["reference"]) == ("shifted", "base")
    assert row["difference"] == pytest.approx(0.0105)
    # unpaired, the interval would be as wide as the episodes' spread (0.05 / sqrt 30) allows
    assert 0.010 < row["difference_low"] < row["difference_high"] < 0.011
    assert row["improves"]
    assert (
        row["probability_of_improvement_low"]
        <= row["probability_of_improvement"]
        <= row["probability_of_improvement_high"]
    )


@pytest.mark.filterwarnings("error")
def test_clear_winners_and_losers() -> None:
    rewards = frame(base=noise(0, 0.4), best=noise(1, 0.9), worst=noise(2, 0.01))
    rows = paired_differences(rewards, "base", QUICK, seed=0).set_index("designer")
    assert rows["improves"].to_dict() == {"best": True, "worst": False}
    probabilities = [
        "probability_of_improvement",
        "probability_of_improvement_low",
        "probability_of_improvement_high",
    ]
    assert rows.loc["best", probabilities].tolist() == [1.0, 1.0, 1.0]
    assert rows.loc["worst", probabilities].tolist() == [0.0, 0.0, 0.0]
    assert rows.loc["worst", "difference_high"] < 0.0


def test_a_difference_that_may_be_luck_improves_nothing() -> None:
    gains = np.random.default_rng(0).normal(0.01, 0.1, 12)
    gains += 0.01 - gains.mean()
    rewards = frame(base=[0.5] * 12, lucky=(0.5 + gains).tolist())
    row = paired_differences(rewards, "base", QUICK, seed=0).iloc[0]
    assert row["difference_low"] < 0.0 < row["difference"] < row["difference_high"]
    assert not row["improves"]


def test_probability_resamples_episodes_in_pairs() -> None:
    # one is the other shifted: resampled in pairs they stay so, and the probability hardly moves
    first = np.linspace(0.2, 0.8, 40)
    low, high = episode_interval(
        [first + 1e-6, first], probability_of_improvement, QUICK, np.random.default_rng(0)
    )
    assert 0.5 <= low <= high < 0.56


def test_only_the_reference_gives_an_empty_table() -> None:
    rows = paired_differences(frame(base=noise(0, 0.4)), "base", QUICK, seed=0)
    assert rows.empty
    assert "improves" in rows
    without = all_differences(frame(base=noise(0, 0.4)), [], QUICK, seed=0)
    assert without.empty and list(without) == list(rows)


def test_an_unknown_reference_and_unpaired_episodes_are_refused() -> None:
    unpaired = frame(a=[0.1, 0.2, 0.3], b=[0.1, 0.2])
    with pytest.raises(ValueError, match="reference: 'nobody'; choose one of a, b"):
        paired_differences(unpaired, "nobody", QUICK, seed=0)
    with pytest.raises(ValueError, match="episodes: b did not play"):
        paired_differences(unpaired, "a", QUICK, seed=0)
