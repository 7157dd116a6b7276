"""Clearing one sale: the properties of the three formats, for any bids, supply and reserve."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from daedalus.market.auction import Sales, clear_sales
from daedalus.market.mechanism import AUCTION_TYPES
from tests.market.reference_payments import clearing_price

each_format = pytest.mark.parametrize("auction_type", AUCTION_TYPES)
quick = settings(max_examples=200, deadline=None)
UNITS = st.integers(1, 5)
KEYS = st.integers(0, 2**64 - 1).map(lambda key: np.array([key], np.uint64))
GRID = st.integers(0, 8).map(lambda step: step / 8)  # ties are common
LEVELS = GRID | st.floats(0, 1)
RESERVES = st.sampled_from([0.0, 0.25, 0.3, 0.9])


@st.composite
def offers(draw, levels=LEVELS, most: int = 6):
    """Draw bids for two units, the first unit's at least the second's, and false-name bids."""
    n = draw(st.integers(1, most))
    pairs = draw(st.lists(st.tuples(levels, levels), min_size=n, max_size=n))
    aliases = draw(st.lists(st.just(0.0) | levels, min_size=n, max_size=n))
    return -np.sort(-np.array([pairs])), np.array([aliases])


def sell(bids, auction_type="second_price", units=1, reserve=0.0, aliases=None, keys=None) -> Sales:
    return clear_sales(np.atleast_2d(bids), auction_type, units, reserve, aliases, keys)


# -------------------------------------------------------------------------- any sale


@pytest.mark.slow
@each_format
@given(offered=offers(), units=UNITS, reserve=RESERVES, keys=KEYS)
@quick
def test_nobody_pays_more_than_it_bids_or_less_than_the_reserve(
    auction_type, offered, units, reserve, keys
):
    bids, aliases = offered
    sale = clear_sales(bids, auction_type, units, reserve, aliases, keys)
    most = np.where(sale.won > 0, bids[..., 0], 0) + np.where(sale.won > 1, bids[..., 1], 0)
    assert (sale.paid <= most + 1e-12).all()
    assert (sale.paid >= reserve * sale.won).all()
    assert (sale.paid[sale.won == 0] == 0).all()
    if auction_type == "first_price":
        assert_allclose(sale.paid, most, atol=1e-15)


@pytest.mark.slow
@each_format
@given(offered=offers(), units=UNITS, reserve=RESERVES, keys=KEYS)
@quick
def test_units_go_to_the_highest_bids_that_compete(auction_type, offered, units, reserve, keys):
    bids, aliases = offered
    sale = clear_sales(bids, auction_type, units, reserve, aliases, keys)
    competing = (bids > 0) & (bids >= reserve)
    names = (aliases > 0) & (aliases >= reserve)
    assert (sale.won <= competing.sum(axis=2)).all()
    assert (sale.alias_won <= names).all()
    sold = sale.won.sum() + sale.alias_won.sum()
    assert sold == min(units, competing.sum() + names.sum())
    every = np.sort(np.concatenate([bids[competing], aliases[names]]))[::-1]
    accepted = np.concatenate(
        [bids[0, i, :won] for i, won in enumerate(sale.won[0])] + [aliases[sale.alias_won > 0]]
    )
    assert_array_equal(np.sort(accepted)[::-1], every[:units])
    losing = [*every[units:], reserve, reserve]
    assert sale.price[0] == (clearing_price(auction_type, every[:sold], losing) if sold else 0)


@pytest.mark.slow
@given(offered=offers(), units=UNITS, reserve=RESERVES, keys=KEYS)
@quick
def test_vcg_pays_at_most_uniform_prices(offered, units, reserve, keys):
    bids, aliases = offered
    vcg = clear_sales(bids, "vcg", units, reserve, aliases, keys)
    uniform = clear_sales(bids, "second_price", units, reserve, aliases, keys)
    assert_array_equal(vcg.won, uniform.won)
    assert_array_equal(vcg.alias_won, uniform.alias_won)
    assert (vcg.paid <= uniform.paid).all()
    assert_array_equal(uniform.paid, np.where(uniform.won > 0, uniform.won * uniform.price, 0))


@pytest.mark.slow
@given(offered=offers(), reserve=RESERVES, keys=KEYS)
@quick
def test_vcg_is_second_price_for_one_unit_and_one_bid_each(offered, reserve, keys):
    bids, aliases = offered
    vcg = clear_sales(bids[..., 0], "vcg", 1, reserve, aliases, keys)
    second = clear_sales(bids[..., 0], "second_price", 1, reserve, aliases, keys)
    for name in ("won", "paid", "alias_won", "price"):
        assert getattr(vcg, name).tobytes() == getattr(second, name).tobytes(), name


@pytest.mark.slow
@given(offered=offers(st.integers(1, 8).map(lambda step: step / 8)), units=UNITS, keys=KEYS)
@quick
def test_vcg_charges_what_a_winner_costs_the_others(offered, units, keys):
    bids, aliases = offered
    reserve = 0.3
    sale = clear_sales(bids, "vcg", units, reserve, aliases, keys)

    def best(offered: list[float]) -> float:
        taken = sorted([bid for bid in offered if bid >= reserve] + [reserve] * units)
        return sum(taken[-units:])

    for i, won in enumerate(sale.won[0]):
        others = np.append(np.delete(bids[0], i, axis=0).ravel(), aliases[0])
        ranked = sorted([bid for bid in others if bid >= reserve] + [reserve] * units)
        left = sum(ranked[-(units - won) :]) if won < units else 0.0
        assert sale.paid[0, i] == pytest.approx(best(list(others)) - left, abs=1e-12)


@each_format
@given(
    levels=st.lists(st.floats(0.01, 1), min_size=12, max_size=12, unique=True),
    order=st.permutations(range(4)),
    units=UNITS,
    reserve=RESERVES,
)
@quick
def test_places_do_not_matter(auction_type, levels, order, units, reserve):
    bids, aliases = np.array([levels[:8]]).reshape(1, 4, 2), np.array([levels[8:]])
    sale = clear_sales(bids, auction_type, units, reserve, aliases)
    shuffled = clear_sales(bids[:, order], auction_type, units, reserve, aliases[:, order])
    for name in ("won", "paid", "alias_won"):
        assert_array_equal(getattr(shuffled, name), getattr(sale, name)[:, order])
    assert_array_equal(shuffled.price, sale.price)


@each_format
def test_sales_in_a_batch_are_independent(auction_type):
    rng = np.random.default_rng(0)
    bids, aliases = rng.integers(0, 5, size=(50, 6, 2)) / 5, rng.integers(0, 5, size=(50, 6)) / 5
    together = clear_sales(bids, auction_type, 3, 0.2, aliases)
    for sale in range(50):
        key = np.array([sale], np.uint64)  # the default
        alone = clear_sales(bids[[sale]], auction_type, 3, 0.2, aliases[[sale]], key)
        for name in ("won", "paid", "alias_won", "price"):
            assert_array_equal(getattr(alone, name)[0], getattr(together, name)[sale])


# ---------------------------------------------------------------------------- theory


@pytest.mark.parametrize("auction_type", ["second_price", "vcg"])
@given(
    bids=st.lists(st.floats(0, 1), min_size=1, max_size=6),
    shill=st.floats(0.001, 1),
    owner=st.integers(0, 5),
    keys=KEYS,
)
@quick
def test_a_false_name_acts_as_a_reserve(auction_type, bids, shill, owner, keys):
    assume(max(bids) > shill)
    aliases = np.zeros((1, len(bids)))
    aliases[0, owner % len(bids)] = shill
    shilled = sell(bids, auction_type, aliases=aliases, keys=keys)
    reserved = sell(bids, auction_type, reserve=shill, keys=keys)
    for name in ("won", "paid", "price"):
        assert getattr(shilled, name).tobytes() == getattr(reserved, name).tobytes(), name
    assert not shilled.alias_won.any()


@pytest.mark.slow
@given(
    offered=offers(),
    values=st.tuples(st.floats(0, 1), st.floats(0, 1)).map(lambda two: (max(two), min(two))),
    deviations=st.lists(st.tuples(st.floats(0, 1.2), st.floats(0, 1.2)), min_size=1, max_size=8),
    units=UNITS,
    reserve=RESERVES,
    keys=KEYS,
)
@settings(max_examples=400, deadline=None)
def test_truth_is_dominant_in_vcg(offered, values, deviations, units, reserve, keys):
    bids, aliases = offered

    def gain(own: tuple[float, float]) -> float:
        bids[0, 0] = own
        sale = clear_sales(bids, "vcg", units, reserve, aliases, keys)
        return sum(values[: sale.won[0, 0]]) - sale.paid[0, 0]

    aliases[0, 0] = 0.0
    truth = gain(values)
    assert truth >= -1e-12
    for deviation in deviations:
        assert gain(deviation) <= truth + 1e-12


@pytest.mark.parametrize("auction_type", ["first_price", "second_price"])
def test_truth_is_not_dominant_elsewhere(auction_type):
    """Two units: shading the second lowers the price of the first."""
    gains = []
    for own in ((0.9, 0.8), (0.9, 0.0), (0.6, 0.0)):
        sale = clear_sales(np.array([[own, (0.5, 0.0)]]), auction_type, 2)
        gains.append(sum((0.9, 0.8)[: sale.won[0, 0]]) - sale.paid[0, 0])
    assert max(gains[1:]) > gains[0]


# ------------------------------------------------------------------------------ ties


def assert_share(won, share: float) -> None:
    error = (share * (1 - share) / len(won)) ** 0.5
    assert_allclose(np.mean(won, axis=0), share, atol=4.5 * error)


@each_format
@pytest.mark.parametrize("units", [1, 2, 3])
def test_equal_bids_win_equally_often(auction_type, units):
    sale = clear_sales(np.full((40_000, 6), 0.5), auction_type, units)
    assert_array_equal(sale.won.sum(axis=1), units)
    assert_array_equal(sale.paid, 0.5 * sale.won)
    assert_share(sale.won, units / 6)


def test_a_false_name_ties_like_anyone():
    aliases = np.zeros((40_000, 3))
    aliases[:, 1] = 0.5
    sale = clear_sales(np.full((40_000, 3), 0.5), "vcg", 2, aliases=aliases)
    assert_share(sale.won, 0.5)
    assert_share(sale.alias_won[:, 1], 0.5)
    both = sale.won[:, 1] & sale.alias_won[:, 1]
    assert_share(both, 1 / 6)


def test_ties_break_by_the_key_alone():
    keys = np.arange(40_000, dtype=np.uint64)
    bids = np.full((40_000, 4), 0.5)
    by_default = clear_sales(bids, "vcg", 2)
    given_keys = clear_sales(bids, "first_price", 2, 0.5, keys=keys)
    assert_array_equal(by_default.won, given_keys.won)
    others = clear_sales(bids, "vcg", 2, keys=keys + np.uint64(10**9))
    assert (others.won != by_default.won).any(axis=1).mean() > 0.5


def test_a_tie_for_the_last_unit_does_not_touch_the_first():
    sale = clear_sales(np.tile([0.9, 0.5, 0.5, 0.1], (20_000, 1)), "second_price", 2)
    assert_array_equal(sale.won[:, 0], 1)
    assert_array_equal(sale.won[:, 3], 0)
    assert_share(sale.won[:, 1:3], 0.5)
    assert_array_equal(sale.price, 0.5)


# -------------------------------------------------------------------------- by hand


@pytest.mark.parametrize(
    ("auction_type", "paid", "price"),
    [
        ("first_price", [1.7, 0.7, 0], 0.7),
        ("second_price", [1.2, 0.6, 0], 0.6),
        ("vcg", [1.0, 0.4, 0], 0.6),
    ],
)
def test_three_units_by_hand(auction_type, paid, price):
    bids = np.array([[[0.9, 0.8], [0.7, 0.6], [0.4, 0.3]]])
    sale = clear_sales(bids, auction_type, 3)
    assert_array_equal(sale.won, [[2, 1, 0]])
    assert_allclose(sale.paid, [paid], atol=1e-15)
    assert_array_equal(sale.price, price)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"bids": np.array([[0.5, -0.1]])}, "bids"),
        ({"bids": np.array([[0.5, np.nan]])}, "bids"),
        ({"bids": np.array([[0.5, np.inf]])}, "bids"),
        ({"aliases": np.array([[0.5, -0.1]])}, "aliases"),
        ({"aliases": np.array([[0.5, np.nan]])}, "aliases"),
        ({"aliases": np.array([[0.5, 0.1, 0.2]])}, "aliases"),
        ({"aliases": np.array([0.5, 0.1])}, "aliases"),
        ({"units": 0}, "units"),
        ({"units": -1}, "units"),
        ({"units": 1.5}, "units"),
        ({"units": np.nan}, "units"),
        ({"reserve": -0.1}, "reserve"),
        ({"reserve": np.nan}, "reserve"),
        ({"reserve": np.inf}, "reserve"),
        ({"auction_type": "dutch"}, "auction_type: 'dutch'"),
        ({"keys": np.zeros(2, np.uint64)}, "keys"),
        ({"bids": np.full((1, 3, 1), 0.5)}, "bids"),
        ({"bids": np.full((1, 3, 3), 0.5)}, "bids"),
    ],
)
def test_what_cannot_be_sold_is_refused(changes, match):
    valid = {"bids": np.array([[0.5, 0.4]]), "auction_type": "vcg"}
    with pytest.raises(ValueError, match=match):
        clear_sales(**valid | changes)


def test_bids_are_left_as_they_were():
    bids = np.array([[0.5, 0.4]])
    before = bids.copy()
    clear_sales(bids, "vcg", 2)
    assert_array_equal(bids, before)
