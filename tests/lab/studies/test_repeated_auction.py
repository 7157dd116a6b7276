"""The repeated auction of the papers: its rules, and that its Q-learners collude."""

from __future__ import annotations

import numpy as np
import pytest

from daedalus.lab.studies.repeated_auction import Learners, play_repeated, published

SURE = {"exploration": 0.0, "decay": 0.0}


def ends(auction_type: str, payoffs_known: bool, runs: int, rounds: int) -> list[float]:
    learners = published(payoffs_known)
    return [play_repeated(learners, auction_type, rounds, 20, 0, run)[0][-1] for run in range(runs)]


@pytest.mark.slow
def test_learners_of_the_paper_collude_in_first_price_and_not_in_second() -> None:
    assert np.mean(ends("first_price", False, 16, 400_000)) <= 0.35
    assert np.mean(ends("second_price", False, 8, 400_000)) >= 0.9


@pytest.mark.slow
def test_they_compete_in_first_price_if_they_know_what_each_bid_would_have_earned() -> None:
    assert np.mean(ends("first_price", True, 8, 200_000)) >= 0.85


@pytest.mark.slow
@pytest.mark.parametrize("bidders", [2, 3])
def test_a_single_bid_fixes_the_price(bidders: int) -> None:
    learners = Learners(np.array([0.4]), bidders)
    for auction_type in ("first_price", "second_price"):
        for numbers in play_repeated(learners, auction_type, 100, 2, 0):
            assert numbers == pytest.approx([0.4, 0.4])


def test_random_bids_earn_what_order_statistics_say() -> None:
    """Bids are even over 1/10 to 1: the mean highest of three is 0.7975, the second 0.55."""
    learners = Learners(np.arange(1, 11) / 10.0, 3, decay=0.0)
    revenue, winning = play_repeated(learners, "first_price", 200_000, 1, 0)
    assert revenue == winning == pytest.approx(0.7975, abs=0.003)
    revenue, winning = play_repeated(learners, "second_price", 200_000, 1, 0)
    assert (revenue[0], winning[0]) == pytest.approx((0.55, 0.7975), abs=0.003)


def test_a_hot_softmax_is_even_and_a_cold_one_takes_the_best() -> None:
    hot = Learners(np.arange(1, 11) / 10.0, 3, softmax=True, exploration=1e6, decay=0.0)
    assert play_repeated(hot, "first_price", 200_000, 1, 0)[0] == pytest.approx(0.7975, abs=0.003)
    greedy = Learners(np.arange(1, 11) / 10.0, 2, **SURE)
    cold = greedy._replace(softmax=True, exploration=1e-9)
    assert play_repeated(cold, "first_price", 2000, 1, 0)[0] < 1.0


def test_the_same_seed_plays_the_same_auction() -> None:
    learners = published()._replace(recall_price=True)
    first, again = (play_repeated(learners, "first_price", 1000, 10, 3, 1)[0] for _ in range(2))
    other = play_repeated(learners, "first_price", 1000, 10, 3, 2)[0]
    assert (first == again).all() and (first != other).any()


def test_what_cannot_be_played_is_refused() -> None:
    with pytest.raises(ValueError, match="auction_type: 'vcg'; choose first_price"):
        play_repeated(published(), "vcg", 10, 1, 0)
    with pytest.raises(ValueError, match="points: 3; give a divisor of the 10 rounds"):
        play_repeated(published(), "first_price", 10, 3, 0)
