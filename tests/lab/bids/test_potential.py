"""A reserve that binds: values of those who came, and how many stayed away."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from daedalus.checks import CannotRunError
from daedalus.lab.bids.estimator import money_at
from daedalus.lab.bids.potential import MOST, excludes, is_binomial, potential_of
from daedalus.lab.bids.value_quantiles import LEVELS, with_excluded
from daedalus.lab.bids.verdict import MULTIPLES
from tests.lab.bids.simulated import (
    binding_table,
    estimator_of_table,
    log_of_table,
    table_of,
    uniform_table,
)

POTENTIAL, RESERVE = 4, 0.5


def test_quartiles_are_those_of_bidders_who_came() -> None:
    """With the bidders who came as rivals they were 0.560, 0.674 and 0.807."""
    quartiles, losses = [], []
    for seed in range(4):
        estimate = estimator_of_table(binding_table((POTENTIAL,), 1000, seed)).estimate()
        assert estimate.potential is not None and estimate.shares == {POTENTIAL: 1.0}
        assert estimate.potential.excluded == pytest.approx(0.5, abs=0.03)
        came = estimate.potential.excluded + (1 - estimate.potential.excluded) * np.array(
            [0.25, 0.5, 0.75]
        )
        quartiles.append(
            np.interp(came, LEVELS, estimate.values) * estimate.levels.observable.mean()
        )
        now, raised = money_at(estimate, np.array([1.0, 1.2]))
        losses.append(100.0 * (1.0 - raised / now))
    assert np.mean(quartiles, axis=0) == pytest.approx([0.625, 0.75, 0.875], abs=0.012)
    assert np.mean(losses) == pytest.approx(1.19, abs=0.5)  # of all sales, also the unsold


def test_numbers_of_bids_tell_how_many_stayed_away() -> None:
    sizes = np.random.default_rng(0).binomial(6, 0.4, 20_000)
    sizes = sizes[sizes >= 2]
    found = potential_of(sizes, np.ones(len(sizes)), 6)
    assert found.excluded == pytest.approx(0.6, abs=0.01) and is_binomial(sizes, found)
    assert potential_of(np.full(9, 3), np.ones(9), 3).excluded == 0.0
    mixed = np.concatenate([np.full(500, 2), np.full(500, 8)])
    assert not is_binomial(mixed, potential_of(mixed, np.ones(1000), 8))


def test_values_below_the_reserve_are_spread_evenly() -> None:
    every = with_excluded(np.linspace(0.5, 1.0, len(LEVELS)), 0.5, 0.5)
    assert np.allclose(every, LEVELS)


def test_a_reserve_that_keeps_nobody_away_changes_nothing() -> None:
    reserve = np.full(300, 0.5)
    assert not excludes(np.random.default_rng(0).uniform(0.7, 1.0, 300), reserve)
    assert not excludes(np.random.default_rng(0).uniform(0.0, 1.0, 300), reserve)
    assert log_of_table(uniform_table(300)).potential(None) is None


def test_a_number_of_potential_bidders_is_obeyed_or_refused() -> None:
    log = log_of_table(binding_table((POTENTIAL,), 300, 0))
    found = log.potential(6)
    assert found is not None and found.bidders == 6 and found.excluded > 0.55
    with pytest.raises(CannotRunError, match=r"potential_bidders=3: a sale has 4 bids"):
        log.potential(3)
    with pytest.raises(CannotRunError, match="it needs a reserve above 0 for every sale"):
        log_of_table(uniform_table(300)).potential(4)


def test_the_reserve_in_force_is_the_best_of_even_values() -> None:
    estimate = estimator_of_table(binding_table((POTENTIAL,), 1500, 7)).estimate()
    curve = money_at(estimate, MULTIPLES[MULTIPLES >= 1.0])
    assert MULTIPLES[MULTIPLES >= 1.0][np.argmax(curve)] <= 1.1


def test_a_reserve_that_excludes_different_shares_is_not_counted() -> None:
    """A fixed reserve, goods of different worth: 0.74 of it is best, and 1.14 to 1.20 was told."""
    rng, rows, sizes = np.random.default_rng(5), [], []
    while len(rows) < 200:
        size = float(np.exp(0.3 * rng.normal()))
        values = rng.uniform(0.0, size, POTENTIAL)
        values = values[values >= RESERVE]
        if len(values) >= 2:
            rent = (values**POTENTIAL - RESERVE**POTENTIAL) / POTENTIAL
            rows.append(values - rent / values ** (POTENTIAL - 1))
            sizes.append(size)
    table = table_of(rows, reserve=[RESERVE] * 200, size=sizes)
    estimator = estimator_of_table(table)
    assert estimator.is_uneven and estimator.potential is None and estimator.lacks_rivals
    given = estimator_of_table(table, potential_bidders=4)
    assert given.potential is not None and given.potential.bidders == 4


def test_numbers_that_tell_nothing_of_who_stayed_away_are_refused() -> None:
    assert potential_of(np.full(50, 2), np.ones(50), 5).excluded == MOST
    pairs = [row[:2] for row in np.random.default_rng(0).uniform(0.5, 0.6, (60, 2))]
    log = log_of_table(table_of(pairs, reserve=[0.5] * 60))
    with pytest.raises(CannotRunError, match="nearly all sales have two bids"):
        log.potential(5)


def test_rare_numbers_of_bids_stay_where_who_could_come_was_set() -> None:
    """Twelve sales without a rival were left out, and so too few were taken to stay away."""
    table = numbers_table({2: 150, 3: 90, 4: 12})
    assert (estimator_of_table(table, potential_bidders=4).log.bidders == 4).sum() == 12
    with pytest.raises(CannotRunError, match="a sale has 4 bids; give at least as many"):
        log_of_table(table, potential_bidders=3)


def test_rare_numbers_of_bids_are_left_out_where_it_is_not_known_who_could_come() -> None:
    """Potential bidders were found, so sizes with few sales stayed; then they were not counted."""
    table = numbers_table({2: 60, 3: 100, 4: 80, 5: 30, 6: 3}, even=False)
    log = log_of_table(table)
    assert log.potential(None) is not None and (log.bidders == 6).any()
    estimator = estimator_of_table(table)
    assert estimator.potential is None
    assert set(estimator.log.bidders) == {2, 3, 4, 5}
    assert "fewer than 25 sales" in estimator.log.notes[-1].text


def test_a_log_that_is_rejected_stays_so_without_its_largest_sales() -> None:
    """Without them, numbers of bids varied little, and four bidders were said to be all."""
    table = numbers_table({2: 60, 3: 70, 4: 40, 5: 10, 6: 5, 7: 5, 9: 5, 12: 5})
    near = table.assign(bid=1.0 + (table["bid"] - 1.0) ** 2)  # more of them near the reserve
    estimator = estimator_of_table(near)
    assert set(estimator.log.bidders) == {2, 3, 4}
    assert estimator.potential is None and estimator.lacks_rivals


def numbers_table(sales: dict[int, int], even: bool = True) -> pd.DataFrame:
    """Return bids that begin at the reserve, which differs between sales unless it is even."""
    rng = np.random.default_rng(0)
    sizes = np.repeat(list(sales), list(sales.values()))
    reserves = np.ones(len(sizes)) if even else np.exp(rng.normal(size=len(sizes)))
    pairs = zip(reserves, sizes, strict=True)
    bids = [reserve + rng.exponential(size=size) for reserve, size in pairs]
    return table_of(bids, reserve=list(reserves))
