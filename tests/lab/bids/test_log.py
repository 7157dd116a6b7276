"""Logs are read, and what cannot be used is refused in one sentence."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from daedalus.checks import CannotRunError
from daedalus.lab.bids.log import load_bids
from daedalus.lab.bids.settings import BidLogSettings
from daedalus.launch.config.paths import CONF
from tests.lab.bids.simulated import log_of_table, table_of
from tests.lab.bids.written import notes_of, read, sales_of, text_of

BIDS = [np.array([1.0, 2.0, 3.0])] * 60
SETTINGS = BidLogSettings()


def refusal(table: pd.DataFrame, **settings: object) -> str:
    with pytest.raises(CannotRunError) as caught:
        log_of_table(table, **settings)
    return str(caught.value)


def test_a_csv_file_names_its_log(tmp_path: Path) -> None:
    path = tmp_path / "sales.csv"
    table_of(BIDS).sample(frac=1.0, random_state=0).to_csv(path, index=False)
    log = load_bids(str(path), SETTINGS)
    assert log.name == "sales" and len(log.sales) == 60 and len(log.bids) == 180
    assert (log.bidders == 3).all() and (log.paid == 3.0).all() and log.reserves is None


def test_bids_keep_bidders_and_sales_covariates_in_any_order_and_where_sales_are_left_out() -> None:
    rng = np.random.default_rng(0)
    table = table_of(list(rng.random((60, 3))), grade=["a", "b"] * 30).assign(
        bidder=list("abc") * 60
    )
    table.loc[0, "bidder"] = ""
    alone = {"auction": "one", "bid": 0.5, "bidder": "d", "grade": "a"}
    table = pd.concat([table, pd.DataFrame([alone])])
    log = log_of_table(table.sample(frac=1.0, random_state=0))
    assert log.bidder is not None and len(log.bidder) == 180
    names = dict(zip(table["bid"], table["bidder"], strict=True))
    assert [names[bid] for bid in log.bids] == list(log.bidder)
    grades = dict(zip(table["auction"], table["grade"], strict=True))
    assert [grades[auction] for auction in log.sales["auction"]] == list(log.covariates["grade"])
    assert log_of_table(table.drop(columns="bidder")).bidder is None


def test_a_missing_file_and_no_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CannotRunError, match="no such file; give a CSV, or timber"):
        load_bids(str(tmp_path / "nowhere.csv"), SETTINGS)
    with pytest.raises(CannotRunError, match="bids: none; give bids=FILE"):
        load_bids("", SETTINGS)


@pytest.mark.parametrize(
    ("bid", "said"),
    [
        ("$5", "line 4: $5 is no number; write digits alone"),
        ("", "is no number"),
        ("inf", "is no number"),
        (-2.0, "line 4: -2.0 is negative"),
        (0.0, "a bid of 0 is no bid"),
    ],
)
def test_bids_that_are_no_amounts_are_refused_with_their_line(bid: object, said: str) -> None:
    table = table_of(BIDS).astype(object)
    table.loc[2, "bid"] = bid
    assert said in refusal(table)


def test_a_log_of_winning_bids_is_refused_and_single_bids_are_left_out() -> None:
    winners = table_of([np.array([3.0])] * 60)
    assert "60 of 60 auctions have one bid, as in a log of winning bids" in refusal(winners)
    log = log_of_table(table_of([*BIDS, np.array([5.0])]))
    assert len(log.sales) == 60 and "1 sale (A00060) with one bid left out" in log.notes[-1].text


def test_too_few_auctions_are_refused_and_rare_sizes_left_out() -> None:
    assert "give at least 50 such auctions" in refusal(table_of(BIDS[:20]))
    log = log_of_table(table_of([*BIDS, np.arange(1.0, 8.0)]))
    assert set(log.bidders) == {3} and "share their number of bidders" in log.notes[-1].text


def test_bids_and_reserves_in_two_units_are_refused() -> None:
    said = refusal(table_of(BIDS, reserve=[150.0] * 60))
    assert "0.0133 times the reserve" in said and "in the same unit" in said
    assert "100 times" in refusal(table_of([100 * each for each in BIDS], reserve=[2.0] * 60))
    log = log_of_table(table_of(BIDS, reserve=[1.0] * 60))
    assert log.reserves is not None and (log.reserves == 1.0).all() and log.covariates.empty
    assert "line 2: -1.0 is negative" in refusal(table_of(BIDS, reserve=[-1.0] * 60))


def test_what_winners_pay_follows_the_format() -> None:
    second = log_of_table(table_of(BIDS), format="second_price")
    assert (second.paid == 2.0).all()
    reserved = log_of_table(table_of(BIDS, reserve=[2.5] * 60), format="second_price")
    assert (reserved.paid == 2.5).all()
    assert (log_of_table(table_of(BIDS), format="ascending").paid == 3.0).all()


def test_gaps_are_refused() -> None:
    grades = [None, *["a", "b"] * 29, "a"]
    assert "column grade is empty in 3 rows" in refusal(table_of(BIDS, grade=grades))
    empty = table_of(BIDS).astype({"auction": object})
    empty.loc[0, "auction"] = None
    assert "line 2 has no sale" in refusal(empty)


@pytest.mark.parametrize("change", [{"format": "dutch"}, {"resamples": 5}, {"bandwidth": 0.0}])
def test_settings_out_of_range_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(change))):
        BidLogSettings(**change)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["first_price", "second_price", "ascending"])
def test_a_sale_that_does_not_reach_its_reserve_earns_nothing(tmp_path: Path, kind: str) -> None:
    rows = [(a, round(2 * b + 0.01, 2), 80) for a, b in sales_of(200, 2, 5)]
    log = read(tmp_path, text_of(rows, "auction,bid,reserve"), format=kind)
    unsold = ~log.sold
    assert 0.3 < unsold.mean() < 0.8 and (log.paid[unsold] == 0.0).all()
    assert (log.paid[~unsold] >= 80.0).all()


@pytest.mark.parametrize("name", ["2020-01", "null", "日本", "stage3", "a b'c=d,e", "1e5", "true"])
def test_the_name_of_a_population_is_a_word_of_the_command_line(tmp_path: Path, name: str) -> None:
    log = read(tmp_path, text_of(sales_of(60, 3, 1)), name=f"{name}.csv")
    assert re.fullmatch(r"log_\w*", log.population, re.ASCII) and log.name == name
    assert not (CONF / "population" / f"{log.population}.yaml").exists()


def test_reserves_of_some_sales_alone_are_a_doubt(tmp_path: Path) -> None:
    rows = [(a, b, 5 * (int(a) % 2)) for a, b in sales_of(120, 3, 1)]
    log = read(tmp_path, text_of(rows, "auction,bid,reserve"))
    assert "60 of 120 sales have no reserve" in notes_of(log, "doubt")
    none = read(tmp_path, text_of([(a, b, 0) for a, b, _ in rows], "auction,bid,reserve"))
    assert "0 in all sales" in notes_of(none, "left out")


def test_a_few_sales_without_a_reserve_are_left_out(tmp_path: Path) -> None:
    """One of them took the reserve from all."""
    rows = [(a, b, 0 if a == "7" else 5) for a, b in sales_of(120, 3, 1)]
    log = read(tmp_path, text_of(rows, "auction,bid,reserve"))
    assert log.reserves is not None and (log.reserves == 5).all() and len(log.sales) == 119
    assert "1 sale (7) without a reserve left out" in notes_of(log, "dropped")
