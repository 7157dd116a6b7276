"""Ex-post regrets against brute force in sales that are played."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from daedalus.lab.theory.certificates import certify, draw_values
from daedalus.lab.theory.ex_post import two_unit_regrets
from daedalus.market.auction import clear_sales
from tests.lab.theory.test_certificates import MIXED, mechanism


@pytest.mark.parametrize("auction_type", ["first_price", "second_price"])
def test_regrets_ex_post_are_those_of_brute_force(auction_type: str) -> None:
    """The best of all pairs of bids just above or at a rival's bid, in sales that are played."""
    sale, units, sales = mechanism(auction_type, 0.2), 3, 40
    bids = draw_values(MIXED, sales, np.random.default_rng(1))
    others = np.sort(bids[:, 1:].reshape(sales, -1))[:, ::-1]
    thresholds = np.maximum(others[:, [units - 1, units - 2]], 0.2)
    found = two_unit_regrets(auction_type, bids[:, 0], thresholds)
    for number in range(sales):
        near = np.unique([0.0, 0.2, *(bids[number, 1:].ravel() + 1e-9)])
        lies = [bids[number, 0], *itertools.product(near, near)]
        tried = np.repeat(bids[None, number], len(lies), axis=0)
        tried[:, 0] = lies
        sold = clear_sales(tried, auction_type, units, sale.reserve_price)
        worth = (bids[number, 0] * (sold.won[:, :1] > np.arange(2))).sum(axis=1)
        surplus = worth - sold.paid[:, 0]
        assert found[number] == pytest.approx(surplus.max() - surplus[0], abs=1e-7)


def test_no_regret_ex_post_exceeds_the_worst() -> None:
    for name in ("first_price", "second_price"):
        worst = certify(mechanism(name, 0.1), MIXED, 3, 0).types[0]["worst_ex_post_regret"]
        bids = draw_values(MIXED, 50_000, np.random.default_rng(2))
        others = np.sort(bids[:, 1:].reshape(len(bids), -1))[:, ::-1]
        found = two_unit_regrets(name, bids[:, 0], np.maximum(others[:, [2, 1]], 0.1))
        assert found.max() <= float(worst)
