"""The timber sales come from a package that may be absent."""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from daedalus.checks import CannotRunError
from daedalus.lab.bids.assumptions import fit_by_size
from daedalus.lab.bids.estimator import Estimator, revenue_curve
from daedalus.lab.bids.log import bid_log
from daedalus.lab.bids.settings import BidLogSettings
from daedalus.lab.bids.timber import timber_table
from daedalus.lab.bids.value_quantiles import LEVELS
from daedalus.lab.bids.verdict import MULTIPLES
from tests.lab.bids.simulated import best_multiple


def leave_package(folder: Path) -> None:
    data = folder / "simple_fpa" / "data"
    data.mkdir(parents=True)
    (data.parent / "__init__.py").write_text("raise ImportError('statsmodels')\n")
    head = ",auctionid,hhi,forest,adv_value,year,state,volume_total_1,actual_bid\n"
    rows = ["0,0,0.5,3,700,82,30,62,800\n", "1,0,0.5,3,700,82,30,62,900\n"]
    rows += [f"{row},1,0.5,3,700,82,30,62,900\n" for row in range(2, 11)]
    (data / "haile_data.csv").write_text(head + "".join(rows))


def test_the_data_is_read_without_importing_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_package(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    table = timber_table()
    assert "simple_fpa" not in sys.modules
    assert list(table["bid"]) == [800, 900]  # the sale with nine bids is left out
    assert set(table) == {
        "auction", "bid", "reserve", "volume", "concentration", "forest", "state", "year",
    }  # fmt: skip
    assert table["forest"].iloc[0] == "3"


def test_without_the_package_a_sentence_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("daedalus.lab.bids.timber.find_spec", lambda _: None)
    ways = r"pip install -e '\.\[bids\]' in a checkout, or anywhere pip install .* simple_fpa=="
    with pytest.raises(CannotRunError, match=ways):
        timber_table()


needs_data = pytest.mark.skipif(find_spec("simple_fpa") is None, reason="needs the extra bids")


@needs_data
@pytest.mark.slow
def test_the_estimate_is_near_what_others_found() -> None:
    """Markups at six bidders, and the exclusion of Andreyanov & Franguridi (arXiv 2106.13856).

    They take covariates alone out of bids, trim a twentieth at either end, and exclude 0.187.
    """
    settings = BidLogSettings()
    estimator = Estimator.of(bid_log(timber_table(), settings, "timber"), settings)
    estimate = estimator.estimate()
    markups = fit_by_size(estimator, estimate).set_index("bidders")["mean_markup"]
    assert 10 < markups[6] < 25 and markups[2] > markups[4] > markups[6]  # in percent
    assert markups[2] == markups.max()  # a last bit moves single ones by some points
    assert 0.6 < best_multiple(estimate, MULTIPLES) <= 1.0
    plain = replace(estimator, settings=replace(settings, common_part=False)).estimate()
    curve = revenue_curve(plain.values, plain.shares)
    assert LEVELS[curve.argmax()] == pytest.approx(0.05 + 0.9 * 0.187, abs=0.1)
    assert 0.001 < curve.max() / curve[0] - 1 < 0.01  # they gain about 0.3 % on no reserve
