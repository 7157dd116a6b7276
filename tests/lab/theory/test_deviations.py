"""Gains of lies, against formulas and against brute force in sales that are played."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from daedalus.lab.theory.deviations import Contest
from daedalus.lab.theory.distributions import Distribution
from daedalus.lab.theory.formats import FORMATS_WITH_THEORY
from daedalus.lab.theory.sales import Bidder, symmetric
from daedalus.market.auction import clear_sales
from tests.lab.theory.test_distributions import BETA, IRREGULAR, SHORT, UNIFORM

RIVALS = [Bidder(UNIFORM, 2), Bidder(SHORT, 1), Bidder(SHORT, 2)]
PAIRS = [(0.7, 0.2), (0.5, 0.5), (0.45, 0.0), (0.1, 0.05)]
DRAWS = 200_000


@cache
def many_rivals() -> NDArray[np.float64]:
    return drawn(RIVALS, DRAWS)


def drawn(bidders: list[Bidder], draws: int, seed: int = 0) -> NDArray[np.float64]:
    """Truthful bids, shape (S, n, 2)."""
    rng, bids = np.random.default_rng(seed), np.zeros((draws, len(bidders), 2))
    for number, each in enumerate(bidders):
        values = each.values.quantile(rng.random((draws, each.demand)))
        bids[:, number, : each.demand] = np.sort(values)[:, ::-1]
    return bids


def played(
    contest: Contest,
    values: tuple[float, ...],
    bids: tuple[float, ...],
    rivals: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Surplus of a ring whose names bid for one unit each, in VCG for two, shape (S,)."""
    own = np.zeros((1, len(bids), 2))
    own[0, :, 0] = bids
    if contest.auction_type == "vcg":  # its prices depend on who bids
        own = np.array([*bids, *[0.0] * (len(bids) % 2)]).reshape(1, -1, 2)
    offers = np.concatenate([np.repeat(own, len(rivals), axis=0), rivals], axis=1)
    sold = clear_sales(offers, contest.auction_type, contest.units, contest.reserve)
    names = own.shape[1]
    won = sold.won[:, :names].sum(axis=1)
    worth = np.concatenate([[0.0], np.cumsum(values)])[won]
    return np.asarray(worth - sold.paid[:, :names].sum(axis=1))


@pytest.mark.parametrize("values", [UNIFORM, SHORT, IRREGULAR, BETA])
@pytest.mark.parametrize("reserve", [0.0, 0.3])
@pytest.mark.parametrize("auction_type", ["second_price", "vcg"])
def test_truth_is_best_where_it_should_be(
    auction_type: str, reserve: float, values: Distribution
) -> None:
    for units, demand in ((1, 1), (2, 1), (3, 2 if auction_type == "vcg" else 1)):
        crowd = [Bidder(values, demand)] * 3
        gain = Contest(auction_type, reserve, units, crowd[1:]).gain(crowd[:1], demand)
        assert 0.0 <= gain.best - gain.truthful < 1e-12 and gain.worst < 1e-12
        assert gain.error == 0.0


def test_a_binding_reserve_leaves_the_exact_regret() -> None:
    """Against one rival the bid is the reserve, 1/2, at all values: (v - 1/2) / 2 from 1/2 up."""
    gain = Contest("first_price", 0.5, 1, symmetric(UNIFORM, 1)).gain([Bidder(UNIFORM)], 1)
    assert gain.best == pytest.approx(1 / 16, abs=1e-12)
    three = Contest("first_price", 0.5, 1, symmetric(UNIFORM, 2)).gain([Bidder(UNIFORM)], 1)
    low, turn = 0.5, 0.75  # from 3/4 up the bid is 2 v / 3
    fixed = 0.25 * ((turn - low) ** 2 / 2.0)
    assert three.best == pytest.approx(fixed + 4 / 27 * (1.0 - turn**4) / 4.0, abs=1e-12)


@pytest.mark.parametrize(
    ("auction_type", "reserve", "units", "values", "bids"),
    [
        *((name, 0.15, 3, (0.8, 0.5), bids) for name in FORMATS_WITH_THEORY for bids in PAIRS),
        *((name, 0.1, 3, (0.9, 0.7, 0.4), (0.8, 0.5, 0.3)) for name in FORMATS_WITH_THEORY),
        ("vcg", 0.1, 4, (0.9, 0.7, 0.6, 0.4), (0.8, 0.7, 0.35, 0.3)),
    ],
)
def test_surplus_of_a_bidder_or_a_ring_is_that_of_sales_that_are_played(
    auction_type: str,
    reserve: float,
    units: int,
    values: tuple[float, ...],
    bids: tuple[float, ...],
) -> None:
    contest = Contest(auction_type, reserve, units, RIVALS)
    found = played(contest, values, bids, many_rivals())
    terms = [
        contest.surplus(np.array([value]), np.array([bid]), unit)[0]
        for unit, (value, bid) in enumerate(zip(values, bids, strict=True), 1)
    ]
    assert sum(terms) == pytest.approx(found.mean(), abs=5.0 * found.std() / DRAWS**0.5 + 1e-12)


@pytest.mark.parametrize("units", [2, 3, 4])
def test_no_other_names_of_the_same_bids_pay_less_in_vcg(units: int) -> None:
    """Sale by sale: the two highest bids have one name, the next two another."""
    names, draws = 4, 2000
    others = drawn(RIVALS, draws)
    bids = np.sort(np.random.default_rng(1).random((draws, units)))[:, ::-1]

    def paid(owners: tuple[int, ...]) -> NDArray[np.float64]:
        own, used = np.zeros((draws, names, 2)), [0] * names
        for unit, owner in enumerate(owners):
            own[:, owner, used[owner]] = bids[:, unit]
            used[owner] += 1
        sold = clear_sales(np.concatenate([own, others], axis=1), "vcg", units, 0.1)
        return np.asarray(sold.paid[:, :names].sum(axis=1))

    least = paid(tuple(unit // 2 for unit in range(units)))
    tried = 0
    for owners in itertools.product(range(names), repeat=units):
        if max(owners.count(name) for name in range(names)) <= 2:
            tried += 1
            assert (paid(owners) >= least - 1e-12).all()
    assert tried >= 16


@pytest.mark.slow
@pytest.mark.parametrize(
    ("auction_type", "members", "units", "places"),
    [*((name, 1, 2, 21) for name in FORMATS_WITH_THEORY), ("vcg", 2, 3, 9)],
)
def test_the_best_gain_of_given_values_is_that_of_brute_force(
    auction_type: str, members: int, units: int, places: int
) -> None:
    """All bids of a small grid, against the same rivals; values are nearly fixed."""
    contest, rivals = Contest(auction_type, 0.15, 3, RIVALS), drawn(RIVALS, 20_000)
    fixed = Bidder(Distribution(np.array([0.0, 1.0]), np.array([0.8 - 1e-9, 0.8])), 2)
    gain, values = contest.gain([fixed] * members, units), (0.8,) * units
    bids = itertools.combinations_with_replacement(np.linspace(0.8, 0.0, places), units)
    brute = [played(contest, values, each, rivals).mean() for each in bids]
    assert gain.best == pytest.approx(max(brute), abs=8e-3)
    if members == 1:
        truthful = played(contest, values, values, rivals).mean()
        assert gain.truthful == pytest.approx(truthful, abs=6e-3)


def test_the_bound_of_the_error_holds() -> None:
    """No bid of a finer grid is better by more than the bound, and hardly any is better."""
    for auction_type, unit in (("first_price", 1), ("first_price", 2), ("second_price", 2)):
        contest = Contest(auction_type, 0.15, 3, RIVALS)
        values = np.full(20_001, 0.8)
        finer = contest.surplus(values, np.linspace(0.15, 0.8, 20_001), unit).max()
        knots = np.array([0.15, 0.3, 0.8])
        best, error = contest._best(np.array([0.8]), knots, unit)
        assert best[0] >= finer - 1e-9 and 0.0 < error < 2e-3


def test_uniform_price_rewards_the_reduction_of_demand() -> None:
    """Two bidders for both of two units make no second bid (Ausubel, Cramton et al. 2014)."""
    pair = [Bidder(UNIFORM, 2)] * 2
    uniform = Contest("second_price", 0.0, 2, pair[1:]).gain(pair[:1], 2)
    assert uniform.best - uniform.truthful > 0.05
    contest = Contest("second_price", 0.0, 2, pair[1:])
    values = np.linspace(0.01, 1.0, 100)
    second = contest.surplus(values, np.zeros(100), 2)
    grid = np.linspace(0.0, 1.0, 101)
    tried = np.array([contest.surplus(values, np.full(100, bid), 2) for bid in grid])
    np.testing.assert_allclose(tried.max(axis=0), second, atol=1e-12)


def test_a_ring_of_all_pays_the_reserve() -> None:
    pair = symmetric(UNIFORM, 2)
    for auction_type in ("first_price", "second_price"):
        gain = Contest(auction_type, 0.3, 1, []).gain(pair, 1)
        assert gain.best == pytest.approx(2 / 3 * (1 - 0.3**3) - 0.3 * (1 - 0.3**2), abs=1e-12)


def test_values_below_the_reserve_gain_nothing() -> None:
    contest = Contest("first_price", 0.9, 1, symmetric(UNIFORM, 2))
    assert contest.gain([Bidder(SHORT)], 1) == (0.0, 0.0, 0.0, 0.0)
