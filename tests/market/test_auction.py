"""Clearing one sale: the properties of the three formats, for any bids, supply and reserve."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from daedalus.market.auction import clear_sales
from daedalus.market.mechanism import AUCTION_TYPES
from tests.market.reference_payments import clearing_price, payment

each_format = pytest.mark.parametrize("auction_type", AUCTION_TYPES)
UNITS = st.integers(1, 5)
KEYS = st.integers(0, 2**64 - 1).map(lambda key: np.array([key], np.uint64))
LEVELS = st.integers(0, 8).map(lambda step: step / 8) | st.floats(0, 1)  # ties are common
RESERVES = st.sampled_from([0.0, 0.25, 0.3, 0.9])


@st.composite
def offers(draw):
    """Draw bids for two units, the first unit's at least the second's, and false-name bids."""
    n = draw(st.integers(1, 6))
    pairs = draw(st.lists(st.tuples(LEVELS, LEVELS), min_size=n, max_size=n))
    aliases = draw(st.lists(st.just(0.0) | LEVELS, min_size=n, max_size=n))
    return -np.sort(-np.array([pairs])), np.array([aliases])


# -------------------------------------------------------------------------- any sale


@pytest.mark.slow
@each_format
@given(offered=offers(), units=UNITS, reserve=RESERVES, keys=KEYS)
@settings(max_examples=200, deadline=None)
def test_units_go_to_the_highest_bids_and_cost_what_the_format_says(
    auction_type, offered, units, reserve, keys
):
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
    lost = np.where(np.arange(2) >= sale.won[0, :, None], bids[0], 0)
    lost_names = np.where(sale.alias_won[0], 0, aliases[0])
    for i, won in enumerate(sale.won[0]):
        others = np.append(np.delete(lost, i, axis=0), lost_names)
        displaced = [*np.sort(others[others >= reserve])[::-1], reserve, reserve]
        expected = payment(auction_type, list(bids[0, i, :won]), losing, displaced)
        assert sale.paid[0, i] == pytest.approx(expected, abs=1e-12)


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
