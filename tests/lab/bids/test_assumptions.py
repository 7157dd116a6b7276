"""Each assumption has a row, and the check compares with the bids of the log."""

from __future__ import annotations

import numpy as np
import pytest

from daedalus.lab.bids.assumptions import fit_by_size, sensitivity
from daedalus.lab.bids.estimator import Estimate, Estimator
from daedalus.lab.bids.verdict import Verdict
from tests.lab.bids.conftest import make_estimator
from tests.lab.bids.simulated import estimator_of_table, table_of


def test_every_kind_of_assumption_is_changed(
    estimator: Estimator, estimate: Estimate, verdict: Verdict
) -> None:
    table = sensitivity(estimator, estimate, verdict).set_index("assumption")
    assert set(table["kind"]) == {
        "as estimated", "number of bidders", "what bidders knew", "boundary", "format",
        "collusion", "asymmetry", "single sales",
    }  # fmt: skip
    assert table.loc["as estimated", "best"] == pytest.approx(verdict.policy.multiple)
    assert table.loc["as estimated", "gain"] == pytest.approx(
        100 * verdict.gain / verdict.reward, rel=1e-6
    )
    best = table["best"]
    assert best["bidders bid all that the sale is worth to them"] < best["as estimated"]
    assert (
        best["bidders expected one rival fewer, as in a ring of two"]
        >= best["bidders expected one rival more"]
    )
    assert best["one bidder has 20 % higher values"] > best["as estimated"]


def test_bounds_are_assumptions_of_ascending_sales(verdict: Verdict) -> None:
    ascending = make_estimator(format="ascending")
    kinds = sensitivity(ascending, ascending.estimate(), verdict)
    shown = set(kinds.loc[kinds["kind"] == "format", "assumption"])
    assert shown == {
        "values are the lowest that bids allow",
        "values are the highest that bids allow",
    }
    assert fit_by_size(ascending, ascending.estimate()).empty


def test_the_estimate_explains_the_prices(estimator: Estimator, estimate: Estimate) -> None:
    table = fit_by_size(estimator, estimate).set_index("bidders")
    assert list(table["sales"]) == [120, 120]
    assert np.allclose(table["explained"], table["paid"], rtol=0.1)
    assert table.loc[2, "median_markup"] == pytest.approx(100, abs=20)  # v = 2 b
    assert table.loc[3, "mean_markup"] == pytest.approx(50, abs=15)  # v = 3/2 b


def test_prices_are_explained_with_the_reserves_of_sales_with_as_many_bidders() -> None:
    """The reserves of all sales were taken, though few of those with two bidders had a low one.

    Second-price bids have no markup, and sales that fail earn nothing.
    """
    rng = np.random.default_rng(1)
    sizes = np.repeat([2, 3], 2000)
    reserves = np.where(rng.random(4000) < 0.85, sizes == 2, sizes == 3) * 0.7 + 0.1
    table = table_of([rng.random(n) for n in sizes], reserve=list(reserves))
    second = estimator_of_table(table, format="second_price")
    found = fit_by_size(second, second.estimate())
    assert np.allclose(found["explained"], found["paid"], rtol=0.03)
    assert (found["median_markup"] == 0).all() and not second.log.sold.all()


@pytest.mark.slow
def test_prices_are_explained_where_sales_share_what_the_log_does_not_show() -> None:
    """Levels that bidders share counted alike, though high ones pay more."""
    rng = np.random.default_rng(2)
    level = np.exp(0.6 * rng.normal(size=(3000, 1)))
    table = table_of(level * (0.5 + rng.random((3000, 2))), reserve=[1.0] * 3000)
    second = estimator_of_table(table, format="second_price", outliers=None)
    assert second.parts is not None
    found = fit_by_size(second, second.estimate())
    assert np.allclose(found["explained"], found["paid"], rtol=0.05)
