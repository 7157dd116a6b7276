"""Measures of a round, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from daedalus.market.measures import collusion_signal, evenness, normalised_gini, stability

EVERYONE = np.ones(4, np.bool_)


@pytest.mark.parametrize(
    ("bids", "present", "wins", "signal"),
    [
        ([0.5, 0.5, 0.5, 0.5], 4, [3, 3, 3, 3], 1.0),  # equal bids and shared wins
        ([0.1, 0.9, 0.1, 0.9], 4, [5, 0, 0, 0], 0.0),  # unlike bids and a single winner
        ([0.5, 0.0, 0.0, 0.0], 4, [3, 3, 3, 3], 0.0),  # fewer than two bids
        ([0.0, 0.0, 0.0, 0.0], 4, [3, 3, 3, 3], 0.0),
        ([0.5, 0.5, 0.1, 0.8], 2, [3, 3, 3, 3], 1.0),  # bids of the absent do not count
    ],
)
def test_the_signal_of_collusion_by_hand(
    bids: list[float], present: int, wins: list[int], signal: float
) -> None:
    found = collusion_signal(np.array(bids), np.arange(4) < present, np.array(wins), 4)
    assert found == pytest.approx(signal)


@pytest.mark.parametrize("bidders", [2, 3, 7, 10, 12])
def test_evenness_stays_in_range_where_rounding_could_leave_it(bidders: int) -> None:
    for wins in (*range(1, 300), 5_000):
        assert evenness(np.eye(bidders, dtype=np.int64)[0] * wins, bidders) == 0.0
        assert 1.0 - 1e-12 <= evenness(np.full(bidders, wins), bidders) <= 1.0


def test_empty_seats_do_not_make_wins_less_even() -> None:
    wins = np.array([3, 3, 0, 0])
    assert evenness(wins, 2) == 1.0
    assert collusion_signal(np.full(2, 0.5), EVERYONE, wins, 2) == pytest.approx(1.0)
    assert evenness(wins, 4) == 0.5


def test_stability_falls_by_three_standard_deviations_of_five_rounds() -> None:
    past = np.array([0.9, 0.8, 1.0, 0.9, np.nan])
    spread = np.std([0.9, 0.8, 1.0, 0.9, 0.7])
    assert stability(past, 4, 0.7) == pytest.approx(1.0 - 3.0 * spread)
    assert stability(past, 3, 0.7) == 1.0


@pytest.mark.parametrize(
    ("amounts", "gini"),
    [
        ([0.0, 0.0, 0.0], 0.0),
        ([1.0, 1.0, 1.0], 0.0),
        ([0.0, 2.0, 0.0], 1.0),
        ([0.0, 1.0, 2.0], 2 / 3),
    ],
)
def test_the_gini_coefficient_by_hand(amounts: list[float], gini: float) -> None:
    order = np.arange(3)
    assert normalised_gini(np.array(amounts), order) == pytest.approx(gini)
    assert (np.diff(np.array(amounts)[order]) >= 0).all()
