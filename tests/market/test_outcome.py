"""Columns of records, by name and by number."""

from __future__ import annotations

import numpy as np
import pytest

from daedalus.market import outcome
from daedalus.market.outcome import ROUND_FIELDS, Outcome

NUMBERS = {
    "clearing_price": outcome.PRICE,
    **{name: getattr(outcome, name.upper()) for name in ROUND_FIELDS if name != "clearing_price"},
}


def records() -> Outcome:
    return Outcome(np.arange(60.0).reshape(2, 3, 10), np.array([1, 3]))


@pytest.mark.parametrize(("name", "number"), NUMBERS.items())
def test_a_column_is_found_by_its_name_and_by_its_number(name: str, number: int) -> None:
    assert np.array_equal(records().field(name), records().records[:, :, number])


def test_fairness_is_what_the_gini_coefficient_leaves() -> None:
    assert np.array_equal(records().field("fairness"), 1.0 - records().field("gini"))


def test_an_unknown_column_is_refused() -> None:
    with pytest.raises(ValueError):
        records().field("price")


def test_rows_rounds_and_single_rounds_keep_their_units() -> None:
    whole = records()
    whole.records[1, 0] = np.nan
    assert whole.rows(np.array([1])).units.tolist() == [3]
    assert whole.last(2).records.shape == (2, 2, 10)
    apart = whole.rounds_apart()
    assert apart.units.tolist() == [1, 1, 1, 3, 3]
    assert np.array_equal(apart.records[:, 0], whole.records[whole.played])
