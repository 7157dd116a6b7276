"""Covariates and what bids of a sale have in common are taken out of bids."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from daedalus.checks import CannotRunError
from daedalus.lab.bids.estimator import Estimator
from daedalus.lab.bids.levels import Regression, design_of, first_words
from daedalus.lab.bids.log import BidLog
from daedalus.lab.bids.screens import Residuals
from daedalus.lab.bids.settings import BidLogSettings
from daedalus.lab.theory.distributions import Numbers
from tests.lab.bids.simulated import first_price_bids, log_of_table, table_of
from tests.lab.bids.written import best_of, estimator_of, notes_of, sales_of, text_of

RNG = np.random.default_rng(5)


def one_more(levels: Numbers) -> Numbers:
    return 1 + levels


def made(sales: int, common: float = 0.0) -> tuple[BidLog, np.ndarray]:
    """Return a log with known levels: size to the power 0.7, grades, and a common part."""
    size, grade = np.exp(RNG.normal(size=sales)), RNG.integers(3, size=sales)
    level = size**0.7 * np.exp(np.array([0.0, 0.3, -0.4])[grade] + common * RNG.normal(size=sales))
    bids = [
        level[sale] * first_price_bids(one_more, 2 + sale % 3, 1, RNG)[0] for sale in range(sales)
    ]
    table = table_of(bids, size=list(size), grade=[f"g{each}" for each in grade])
    log = log_of_table(table)  # its sales have another order
    return log, level[log.sales["auction"].str[1:].astype(int)]


def test_the_regression_finds_the_slopes() -> None:
    log, level = made(600)
    levels = Regression.of(log).fit(np.ones(600), True)
    assert levels.slopes["log size"] == pytest.approx(0.7, abs=0.01)
    assert levels.slopes["grade g1"] == pytest.approx(0.3, abs=0.03)
    told = levels.slopes["constant"] + design_of(log) @ levels.slopes.drop("constant")
    assert np.allclose(np.exp(told), levels.observable)
    ratio = levels.observable / level
    assert ratio.std() / ratio.mean() < 0.02
    assert levels.common < 0.1 and levels.explained > 0.9


def test_what_is_common_is_found_and_taken_out() -> None:
    log, level = made(900, common=0.5)
    levels = Regression.of(log).fit(np.ones(900), True)
    own = np.log(1 + 0.3).item()  # about the spread of log bids within a sale
    assert 0.5**2 / (0.5**2 + own**2) * 0.8 < levels.common < 1.0
    around = np.log(levels.total / level)
    assert around.std() < 0.2 < np.log(levels.observable / level).std()
    relative = np.log(log.bids / levels.total[log.sale])
    means = np.bincount(log.sale, relative) / log.bidders
    expected = (relative.var() / log.bidders).mean()  # as of bids that are not correlated
    assert means.var() == pytest.approx(expected, rel=0.35)
    assert np.array_equal(Regression.of(log).fit(np.ones(900), False).total, levels.observable)


def test_weights_count_sales() -> None:
    log, _ = made(200)
    twice = np.where(np.arange(200) < 100, 2.0, 0.0)
    levels = Regression.of(log).fit(twice, True)
    half = log.keep(np.arange(200) < 100, "{}")
    alone = Regression.of(half).fit(np.ones(100), True)
    assert levels.slopes["log size"] == pytest.approx(alone.slopes["log size"])
    assert np.allclose(levels.total[:100], alone.total)


def test_numbers_words_and_rare_words_become_columns() -> None:
    bids = [np.array([1.0, 2.0])] * 60
    sign = [(-1.0) ** sale for sale in range(60)]
    word = ["common"] * 35 + ["other"] * 20 + [f"rare {sale}" for sale in range(5)]
    log = log_of_table(table_of(bids, sign=sign, word=word))
    assert list(design_of(log)) == ["sign", "word other", "word others"]
    assert first_words(log) == {"word": "common"}
    reserved = log_of_table(table_of(bids, reserve=[0.5] * 60))
    assert list(design_of(reserved)) == ["log reserve"]
    free = log_of_table(table_of(bids, reserve=[0.0] * 60))
    assert list(design_of(free)) == []


@pytest.mark.parametrize("factor", [1e-4, 1e-2, 1e2, 1e4])
def test_one_sale_in_another_unit_does_not_move_the_reserve(tmp_path: Path, factor: float) -> None:
    """Low errors are seen as high ones are."""
    rows = sales_of(120, 3, 1)
    wrong = text_of([(a, b * factor if a == "7" else b) for a, b in rows])
    right = best_of(tmp_path, text_of([row for row in rows if row[0] != "7"]))
    assert best_of(tmp_path, wrong) == pytest.approx(right)
    assert "1 sale (7) left out" in notes_of(estimator_of(tmp_path, wrong).log, "dropped")


@pytest.mark.parametrize("factor", [1e-4, 1e-2, 1e2])
def test_one_bid_in_another_unit_hardly_moves_the_reserve(tmp_path: Path, factor: float) -> None:
    rows = sales_of(120, 3, 1)
    wrong = [(a, b * factor if row == 22 else b) for row, (a, b) in enumerate(rows)]
    assert best_of(tmp_path, text_of(wrong)) == pytest.approx(
        best_of(tmp_path, text_of(rows)), rel=0.04
    )


def test_bids_that_are_mostly_alike_are_no_errors(tmp_path: Path) -> None:
    """Six bids of ten at 100, or bids bunched at a reserve, left most sales out."""
    rng = np.random.default_rng(5)
    alike = [(a, 100 if rng.random() < 0.6 else b) for a, b in sales_of(200, 3, 2)]
    bunched = [(a, max(b, 40), 40) for a, b in sales_of(120, 3, 3)]
    for text, sales in ((text_of(alike), 200), (text_of(bunched, "auction,bid,reserve"), 120)):
        estimator = estimator_of(tmp_path, text)
        assert len(estimator.log.sales) == sales
        values = estimator.estimate().values
        assert np.isfinite(values).all() and values[0] < values[-1]


def test_many_far_sales_are_kept_and_told(tmp_path: Path) -> None:
    rows = [(a, b * (1e-6 if int(a) < 15 else 1)) for a, b in sales_of(120, 3, 1)]
    log = estimator_of(tmp_path, text_of(rows)).log
    assert len(log.sales) == 120 and "too many to be errors" in notes_of(log, "doubt")


def test_too_few_sales_after_errors_are_refused(tmp_path: Path) -> None:
    rows = [(a, b * (1e4 if a == "3" else 1)) for a, b in sales_of(50, 3, 1)]
    with pytest.raises(ValueError, match="give at least 50 such auctions"):
        estimator_of(tmp_path, text_of(rows))


@pytest.mark.parametrize("factor", [1.0, 1e10])
def test_the_unit_of_a_column_does_not_matter(factor: float) -> None:
    """Beside huge numbers those of grades and of bidders were taken for nothing."""
    rng = np.random.default_rng(2)
    acres, grade = rng.integers(3, size=300) * 1.0, rng.integers(2, size=300)
    level = np.exp(0.5 * acres + 0.7 * grade)
    bids = [level[sale] * first_price_bids(one_more, 2, 1, rng)[0] for sale in range(300)]
    columns = {"acres": list(factor * acres), "grade": [f"g{each}" for each in grade]}
    log = log_of_table(table_of(bids, **columns))
    regression = Regression.of(log)
    levels = regression.fit(np.ones(300), False)
    assert levels.slopes["acres"] * factor == pytest.approx(0.5, abs=0.02)
    assert levels.slopes["grade g1"] == pytest.approx(0.7, abs=0.03)
    told = levels.slopes["constant"] + design_of(log) @ levels.slopes.drop("constant")
    assert np.allclose(np.exp(told), levels.observable)
    residuals = Residuals.of(log, regression.design)
    assert residuals.left.std() == pytest.approx(0.11, abs=0.03)


@pytest.mark.parametrize(("columns", "said"), [(5, ""), (20, "doubt"), (58, "refused")])
def test_many_columns_for_few_sales_are_a_doubt_or_refused(columns: int, said: str) -> None:
    """With as many columns as sales all bids were explained, and every check passed."""
    rng = np.random.default_rng(3)
    numbers = {f"c{each}": list(rng.normal(size=60)) for each in range(columns)}
    log = log_of_table(table_of(list(1.0 + rng.random((60, 2))), **numbers))
    if said == "refused":
        with pytest.raises(CannotRunError, match=r"59 columns for 60 sales.*bid_log.covariates"):
            Estimator.of(log, BidLogSettings())
        return
    told = notes_of(Estimator.of(log, BidLogSettings()).log, "doubt")
    assert ("21 columns for 60 sales" in told) == (said == "doubt")
