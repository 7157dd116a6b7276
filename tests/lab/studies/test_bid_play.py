"""Simulated bids are best replies, or keep the rules of an ascending sale."""

from __future__ import annotations

import numpy as np
import pytest

from daedalus.lab.studies.bid_play import Group, jump_bids, two_groups
from daedalus.lab.theory.distributions import Distribution
from daedalus.lab.theory.first_price import first_price_equilibrium
from daedalus.lab.theory.sales import Bidder

UNEQUAL = (Group(2), Group(1, highest=1.4))
RING = (Group(1, power=3.0), Group(1))
INCREMENT = 0.02


@pytest.mark.parametrize("groups", [UNEQUAL, RING])
@pytest.mark.parametrize("own", [0, 1])
def test_bids_of_two_groups_are_best_replies(groups: tuple[Group, Group], own: int) -> None:
    curves = two_groups(*groups)
    wins = np.ones(len(curves.bids))
    for other, group in enumerate(groups):
        below = (curves.values[other] / group.highest) ** group.power
        wins *= below ** (group.bidders - (other == own))
    for value in groups[own].highest * np.linspace(0.05, 1.0, 20):
        payoffs = (value - curves.bids) * wins
        bid = curves.bids_of(own, np.array([value]))
        assert payoffs.max() - np.interp(bid, curves.bids, payoffs) < 1e-4


def test_bids_of_two_groups_agree_with_fictitious_play() -> None:
    levels = np.random.default_rng(0).random((200_000, 3))
    curves = two_groups(*UNEQUAL)
    bids = np.column_stack(
        [curves.bids_of(0, levels[:, :2]), curves.bids_of(1, 1.4 * levels[:, 2])]
    )
    values = [Distribution(np.array([0.0, 1.0]), np.array([0.0, top])) for top in (1, 1, 1.4)]
    played = first_price_equilibrium([Bidder(each) for each in values])
    assert bids.max(axis=1).mean() == pytest.approx(played.revenue, abs=2e-3)


def test_both_groups_end_at_one_bid_and_start_as_without_a_difference() -> None:
    curves = two_groups(*UNEQUAL)
    assert curves.values[:, -1] == pytest.approx([1.0, 1.4])
    assert curves.values[:, 1] / curves.bids[1] == pytest.approx([1.5, 1.5], abs=1e-5)
    assert (np.diff(curves.bids) > 0).all() and (np.diff(curves.values) > 0).all()


def test_jump_bids_keep_the_rules() -> None:
    """Nobody bids above its value, or lets another win at a price that it would beat."""
    rng = np.random.default_rng(1)
    values = rng.random((500, 3))
    bids = jump_bids(values, INCREMENT, 0.3, rng)
    assert (bids <= values).all()
    ahead, price = bids.argmax(axis=1), bids.max(axis=1)
    losers = np.arange(3) != ahead[:, None]
    assert (values < (1.0 + INCREMENT) * price[:, None])[losers].all()
    assert 0.3 < (bids < 0.9 * values)[losers].mean()
    assert (price > np.sort(values)[:, 1]).mean() > 0.2
