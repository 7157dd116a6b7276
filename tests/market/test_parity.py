"""The classic market against the statistics of the published environment.

``tests/data/classic_parity.json`` holds mean and standard error over 300 episodes of each step's
reward (its last 3 rounds) and of five metrics in each step's last round, averaged over 10 steps.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from daedalus.market.classic import ClassicMarket
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.outcome import Outcome
from daedalus.market.seeds import market_seeds
from tests.populations import STAGES, seat_plan

REFERENCE = json.loads((Path(__file__).parents[1] / "data" / "classic_parity.json").read_text())
METRICS = ("reward", "welfare", "fairness", "participation", "stability", "collusion_signal")
EPISODES, STEPS, ROUNDS, SCORED, WARM_UP = 4000, 10, 5, 3, 3
ALLOWED = 4.0
"""Combined standard errors that a cell may be off."""

RESOLUTION = 1 / (8 * 300 * 10)
"""Where nothing happened in 300 episodes their standard error is 0, yet something as rare as one
bidder of 8 missing in one step of 10 in one of the 300 could have been missed: the error is at
least the change in the mean that this would have made."""


def rows_of(stage: int) -> list[dict]:
    return [row for row in REFERENCE["rows"] if row["stage"] == stage]


def step_metrics(outcome: Outcome) -> np.ndarray:
    """Return the six metrics of one step, shape (6, B)."""
    last = [outcome.field(m) for m in METRICS[1:]]
    return np.stack(
        [outcome.field("composite")[:, -SCORED:].mean(axis=1), *(m[:, -1] for m in last)]
    )


@cache
def simulate(population: int, stage: int) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and error, each (rows, 6), of the mechanisms of a stage on a population."""
    single = Mechanisms.stack([Mechanism(**row["mechanism"]) for row in rows_of(stage)])
    mechanisms = single.take(np.repeat(np.arange(len(single)), EPISODES))
    market = ClassicMarket(seat_plan(population))
    # Other seeds for each mechanism: cells are then independent, as the reference's are.
    state = market.reset(market_seeds(0, "parity", len(mechanisms), population))
    market.play(state, Mechanisms.repeat(Mechanism(), len(mechanisms)), WARM_UP)
    steps = [step_metrics(market.play(state, mechanisms, ROUNDS)) for _ in range(STEPS)]
    episodes = np.mean(steps, axis=0).reshape(len(METRICS), len(single), EPISODES)
    return episodes.mean(axis=2).T, episodes.std(axis=2).T / EPISODES**0.5


def distances(population: int, stage: int) -> np.ndarray:
    """Return |ours - published| in combined standard errors, shape (rows, 6)."""
    mean, error = simulate(population, stage)
    published = np.array([[row[metric] for metric in METRICS] for row in rows_of(stage)])
    reference_error = np.maximum(published[:, :, 1], RESOLUTION)
    return np.abs(mean - published[:, :, 0]) / np.hypot(error, reference_error)


def test_the_reference_is_complete():
    assert len(REFERENCE["rows"]) == 90
    assert all(row["episodes"] == 300 and row["steps"] == STEPS for row in REFERENCE["rows"])
    names = {row["name"] for row in rows_of(0)}
    assert len(names) == 18
    assert all({row["name"] for row in rows_of(stage)} == names for stage in STAGES)


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
def test_every_cell_is_within_four_standard_errors(stage):
    off = distances(stage, stage)
    wrong = [
        f"{rows_of(stage)[row]['name']} {METRICS[column]}: {off[row, column]:.1f}"
        for row, column in np.argwhere(~(off <= ALLOWED))
    ]
    assert not wrong


@pytest.mark.slow
def test_distances_are_those_of_chance():
    """A bias too small for any one cell shows in all of them together."""
    cells = []
    for stage in STAGES:
        published = np.array([[row[m][1] for m in METRICS] for row in rows_of(stage)])
        cells.append(distances(stage, stage)[published > 0])
    squares = np.concatenate(cells) ** 2
    assert len(squares) > 400
    assert squares.mean() < 1.3  # 1 by chance, up to correlation of the cells of one mechanism


@pytest.mark.slow
@pytest.mark.parametrize(("population", "stage"), [(2, 3), (0, 1)])
def test_the_wrong_population_is_noticed(population, stage):
    """Negative control: the comparison above can fail, and most mechanisms make it."""
    assert (distances(population, stage) > ALLOWED).any(axis=1).mean() > 0.5
