"""Equilibria of first price with unlike bidders, against closed forms and best replies."""

from __future__ import annotations

import numpy as np
import pytest

from daedalus.lab.theory.distributions import Distribution
from daedalus.lab.theory.first_price import first_price_equilibrium
from daedalus.lab.theory.sales import Bidder, expected_revenue, optimal_revenue
from tests.lab.theory.test_distributions import IRREGULAR, UNIFORM


def up_to(top: float) -> Bidder:
    """A bidder with even values from 0 to a top."""
    return Bidder(Distribution(np.array([0.0, 1.0]), np.array([0.0, top])))


@pytest.mark.parametrize("reserve", [0.0, 0.4])
@pytest.mark.parametrize("values", [UNIFORM, IRREGULAR])
@pytest.mark.parametrize("bidders", [2, 3])
def test_like_bidders_earn_the_seller_what_second_price_does(
    bidders: int, values: Distribution, reserve: float
) -> None:
    crowd = [Bidder(values)] * bidders
    found = first_price_equilibrium(crowd, reserve)
    assert found.revenue == pytest.approx(expected_revenue(crowd, reserve), rel=6e-3)
    assert 0.0 <= found.gain < 1e-3


def test_two_unlike_bidders_have_the_closed_form() -> None:
    """With tops 1/(1+z) and 1/(1-z) both bid up to 1/2, by the formula of Vickrey (1961)."""
    z, bids = 0.4, np.linspace(1e-9, 0.5, 100_001)
    strong = 2.0 * bids / (1.0 - z * (2.0 * bids) ** 2)
    weak = 2.0 * bids / (1.0 + z * (2.0 * bids) ** 2)
    highest = strong * (1.0 - z) * weak * (1.0 + z)
    known = 0.5 - float(np.trapezoid(highest, bids))
    scale = 1.0 - z  # no value above 1
    bidders = [up_to(scale / (1.0 - z)), up_to(scale / (1.0 + z))]
    assert first_price_equilibrium(bidders).revenue == pytest.approx(scale * known, abs=1e-3)


@pytest.mark.parametrize(("reserve", "share"), [(0.0, 0.890), (0.2, 0.896), (0.35, 0.910)])
def test_five_unlike_bidders_reply_best_and_pay_less_than_the_optimum(
    reserve: float, share: float
) -> None:
    bidders = [up_to(top / 5) for top in range(1, 6)]
    found = first_price_equilibrium(bidders, reserve)
    optimum = optimal_revenue([each.values for each in bidders])
    assert found.revenue / optimum == pytest.approx(share, abs=0.002) and found.gain < 1e-3


def test_a_lone_buyer_pays_the_reserve() -> None:
    found = first_price_equilibrium([up_to(1.0), up_to(1e-9)], 0.5)
    assert found.revenue == pytest.approx(0.25, abs=1e-3) and found.gain < 1e-3
