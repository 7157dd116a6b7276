"""What intervals are over, and which may be too short: words, marks and measured coverage."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from daedalus.evaluation.basis import basis, caution, over_episodes, reading
from daedalus.evaluation.settings import EvaluationSettings
from daedalus.evaluation.statistics import episode_interval

Draw = Callable[[np.random.Generator, int], np.ndarray]


def test_few_episodes_are_marked_whatever_they_are() -> None:
    even = np.linspace(0.2, 0.8, 19)
    assert basis(even, "episode") == "19 episodes, few"
    assert basis(np.linspace(0.2, 0.8, 20), "episode") == "20 episodes"
    assert basis(even[:3], "brief") == "3 briefs, few"
    assert basis(even[:5], "seed") == "5 seeds"
    assert basis([0.3], "seed") == "1 seed, none"


@pytest.mark.filterwarnings("error")
def test_skewed_episodes_are_marked_until_there_are_enough() -> None:
    # one value in ten is 1: the skewness is 0.8 / 0.3 = 2.7, and 25 times its square 178
    rare = np.array([1.0, *[0.0] * 9])
    assert basis(np.tile(rare, 15), "episode") == "150 episodes, skewed"
    assert basis(np.tile(rare, 20), "episode") == "200 episodes"
    assert basis(np.full(30, 0.3), "episode") == "30 episodes"


def test_a_table_says_once_what_its_intervals_are_over() -> None:
    ends = {"mean_low": [0.1, 0.2], "mean_high": [0.3, 0.4]}
    table = pd.DataFrame({"mean": [0.2, 0.3], **ends})
    assert reading(table) == ""
    told = reading(table.assign(mean_interval=["30 episodes", "30 episodes, skewed"]))
    assert told.startswith("intervals over 30 episodes · skewed: ")
    both = table.assign(mean_interval="5 seeds and 14 populations")
    both = both.assign(worst=0.1, worst_low=0.0, worst_high=0.2, worst_interval="5 seeds")
    assert reading(both) == "mean over 5 seeds and 14 populations · worst over 5 seeds"
    assert reading(table.assign(mean_interval="1 seed, none", mean_low=np.nan)) == ""


def test_a_figure_says_that_its_episodes_are_few() -> None:
    assert over_episodes([20, 400], 0.95) == "95 % t intervals over episodes"
    assert "few: fewer than 20 values" in over_episodes([8, 400], 0.95)


DRAWS: dict[str, tuple[Draw, float]] = {
    "normal": (lambda rng, count: rng.normal(size=count), 0.0),
    "exponential": (lambda rng, count: rng.exponential(size=count), 1.0),
    "lognormal": (lambda rng, count: rng.lognormal(size=count), float(np.exp(0.5))),
}
"""Rewards of an episode, and their mean."""

COVERAGE = {
    "normal": {5: 0.96, 10: 0.95, 20: 0.93, 30: 0.94, 100: 0.96},
    "exponential": {5: 0.88, 10: 0.90, 20: 0.92, 100: 0.94},
    "lognormal": {5: 0.84, 10: 0.84, 20: 0.88, 100: 0.93},
}
"""Coverage by number of episodes, most of the table of docs/results.md."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "count", "covers"),
    [(kind, *row) for kind, rows in COVERAGE.items() for row in rows.items()],
)
def test_what_misses_its_mean_is_marked(kind: str, count: int, covers: float) -> None:
    draw, mean = DRAWS[kind]
    rng, settings, trials = np.random.default_rng(count), EvaluationSettings(resamples=999), 600
    hits, marks = np.zeros((2, trials), bool)
    for trial in range(trials):
        sample = draw(rng, count)
        low, high = episode_interval([sample], np.mean, settings, rng)
        hits[trial], marks[trial] = low < mean < high, bool(caution(basis(sample, "episode")))
    assert hits.mean() == pytest.approx(covers, abs=0.03)
    assert (~hits & ~marks).mean() <= 0.09
    if kind == "normal" and count >= 30:
        assert marks.mean() <= 0.04
