"""Certificates against formulas, against brute force, and against bids that try to gain."""

from __future__ import annotations

import numpy as np
import pytest

from daedalus.lab.theory import equilibria
from daedalus.lab.theory.certificates import (
    Group,
    certify,
    draw_values,
    groups_of,
)
from daedalus.lab.theory.deviations import Contest
from daedalus.lab.theory.distributions import Distribution
from daedalus.lab.theory.formats import FORMATS_WITH_THEORY
from daedalus.lab.theory.sales import Bidder
from daedalus.market.auction import clear_sales
from daedalus.market.mechanism import Mechanism
from daedalus.market.population import BidderType, Population
from daedalus.market.ranges import Ranges
from daedalus.market.value_distribution import ValueDistribution
from tests.lab.theory.test_distributions import SHORT, UNIFORM

MIXED = [Group("two", Bidder(UNIFORM, 2), 2), Group("one", Bidder(SHORT), 3, colludes=True)]


def mechanism(auction_type: str, reserve: float = 0.0) -> Mechanism:
    return Mechanism(auction_type=auction_type, reserve_price=reserve)


def uniform(bidders: int) -> list[Group]:
    return [Group("truthful", Bidder(UNIFORM), bidders)]


@pytest.mark.parametrize("bidders", [2, 3, 5, 10])
def test_first_price_has_the_known_regrets(bidders: int) -> None:
    (row,) = certify(mechanism("first_price"), uniform(bidders), 1, 0).types
    interim = (bidders - 1) ** (bidders - 1) / (bidders**bidders * (bidders + 1))
    assert row["interim_regret"] == pytest.approx(interim, abs=1e-12)
    assert row["worst_interim_regret"] == pytest.approx(interim * (bidders + 1), abs=1e-12)
    assert row["ex_post_regret"] == pytest.approx(1 / (bidders * (bidders + 1)), abs=1e-12)
    assert row["worst_ex_post_regret"] == 1.0 and row["ex_post_error"] == 0.0


@pytest.mark.parametrize("auction_type", FORMATS_WITH_THEORY)
def test_numbers_of_the_sale_are_those_of_sales_that_are_played(auction_type: str) -> None:
    reserve, units, draws = 0.25, 3, 100_000
    found = certify(mechanism(auction_type, reserve), MIXED, units, 0)
    bids = draw_values(MIXED, draws, np.random.default_rng(1))
    sold = clear_sales(bids, auction_type, units, reserve)
    worth = (bids * (sold.won[:, :, None] > np.arange(2))).sum(axis=2)
    free = clear_sales(bids, auction_type, units, 0.0)
    best = (bids * (free.won[:, :, None] > np.arange(2))).sum(axis=(1, 2)).mean()
    assert found.sale["revenue"] == pytest.approx(sold.paid.sum(axis=1).mean(), abs=6e-3)
    assert found.sale["welfare"] == pytest.approx(worth.sum(axis=1).mean() / best, abs=2e-3)
    assert (sold.paid < worth + 1e-12).all() and (sold.paid >= 0.0).all()  # truth loses nothing
    assert np.isnan(found.sale["optimum"])


def test_one_unit_has_myersons_optimum() -> None:
    found = certify(mechanism("second_price", 0.5), uniform(3), 1, 0).sale
    assert found["revenue"] == pytest.approx(0.53125, abs=1e-12)
    assert found["optimum"] == pytest.approx(0.53125, abs=1e-12)
    assert found["welfare"] == pytest.approx(1 - 0.5**4, abs=1e-12)


@pytest.mark.parametrize("reserve", [0.0, 0.4])
@pytest.mark.parametrize("ring", [2, 4, 5])
def test_a_ring_gains_what_the_auctioneer_loses(ring: int, reserve: float) -> None:
    """Outsiders win and pay the same (Graham & Marshall 1987)."""
    groups = [Group("ring", Bidder(UNIFORM), ring, colludes=True), *uniform(5 - ring)]
    if ring == 5:
        groups = groups[:1]
    row = certify(mechanism("second_price", reserve), groups, 1, 0).types[0]
    alone, together = (equilibria.expected_revenue(5, reserve, size) for size in (1, ring))
    assert row["ring"] == ring
    assert row["ring_gain"] == pytest.approx(alone - together, abs=1e-12)


@pytest.mark.parametrize(
    ("bidders", "ring", "known"), [(3, 2, 8 / 35), (4, 2, 8 / 105), (4, 3, 8 / 21)]
)
def test_a_ring_for_two_units_gains_by_one_name(bidders: int, ring: int, known: float) -> None:
    """In VCG members bid their two highest values under one name, and pass units on."""
    two = Bidder(UNIFORM, 2)
    groups = [Group("ring", two, ring, colludes=True), Group("other", two, bidders - ring)]
    row = certify(mechanism("vcg"), groups, 2, 0).types[0]
    assert row["ring_gain"] == pytest.approx(known, abs=1e-9)


def test_a_ring_for_one_unit_each_has_one_price_in_vcg() -> None:
    """Without a second bid a name cannot spare another its bid: VCG is a uniform price."""
    groups = [Group("ring", Bidder(SHORT), 3, colludes=True), *uniform(2)]
    vcg, uniform_price = (
        certify(mechanism(name, 0.2), groups, 3, 0).types[0] for name in ("vcg", "second_price")
    )
    assert vcg["ring_gain"] == pytest.approx(uniform_price["ring_gain"], abs=1e-12)


def test_worst_regrets_count_no_value_that_nobody_can_have() -> None:
    """A table has knots at 0 and 1, but no value below its first quantile or above its last."""
    table = ValueDistribution("quantiles", quantiles=[0.1, 0.3, 0.4, 0.8])
    groups = groups_of(Population(bidders=2, types={"table": BidderType(values=table, demand=1)}))
    (row,) = certify(mechanism("first_price"), groups, 1, 0).types
    bids = np.linspace(0.1, 0.8, 7001)
    interim = ((0.8 - bids) * groups[0].bidder.values.up_to(bids)).max()
    assert row["worst_ex_post_regret"] == pytest.approx(0.7)
    assert row["worst_interim_regret"] == pytest.approx(interim, abs=1e-6)
    two = [Group("two", Bidder(groups[0].bidder.values, 2), 2)]
    assert certify(mechanism("second_price"), two, 2, 0).types[0]["worst_ex_post_regret"] == (
        pytest.approx(0.7)
    )


def test_worst_regrets_count_no_value_in_a_gap() -> None:
    """Against even values the regret of a second unit is v²(1 - v): highest inside the gap."""
    values = Distribution(np.array([0.0, 0.5, 0.5, 1.0]), np.array([0.0, 0.2, 0.8, 1.0]))
    sale = Contest("second_price", 0.0, 2, [Bidder(UNIFORM, 2)])
    assert sale.gain([Bidder(values, 2)], 2).worst == pytest.approx(0.8**2 * 0.2)


def test_a_lone_bidder_has_no_ring() -> None:
    groups = [Group("lone", Bidder(SHORT), 1), *uniform(2)]
    first, second = certify(mechanism("second_price"), groups, 1, 0).types
    assert np.isnan(first["ring_gain"]) and float(second["ring_gain"]) > 0.0


def test_groups_are_the_seats_of_a_population() -> None:
    types = {
        "ring": BidderType(menu=["collude"], value_low=0.4, demand=2),
        "idle": BidderType(share=0.0),
        "honest": BidderType(demand=1),
    }
    ring, honest = groups_of(Population(bidders=5, units=1, types=types))
    assert (ring.name, ring.size, ring.colludes, ring.bidder.demand) == ("ring", 3, True, 1)
    assert (honest.name, honest.size, honest.colludes) == ("honest", 2, False)
    assert ring.bidder.values.places.tolist() == [0.4, 1.0]


@pytest.mark.parametrize(
    "changes", [{"concentration": 1.0}, {"ranges": Ranges(units=[1, 3])}], ids=["shares", "sizes"]
)
def test_a_population_that_draws_its_bidders_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"strategic\.concentration=null"):
        groups_of(Population(**changes))  # type: ignore[arg-type]


def test_equal_quantiles_are_refused() -> None:
    each = BidderType(values=ValueDistribution("quantiles", quantiles=[0.2, 0.2, 1.0]))
    with pytest.raises(ValueError, match="spread them a little"):
        groups_of(Population(types={"table": each}))
    each = BidderType(values=ValueDistribution("quantiles", quantiles=[0.2, 0.5, 1.0]))
    (group,) = groups_of(Population(types={"table": each}))
    assert group.bidder.values.places.tolist() == [0.0, 0.2, 0.5, 1.0]
