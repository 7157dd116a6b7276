"""Columns that say what was sold are used; others are left out by name, with the reason."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.lab.bids.written import best_of, estimator_of, notes_of, read, refusal, sales_of, text_of

ROWS = sales_of(120, 3, 1)
PLAIN = text_of(ROWS)
RNG = np.random.default_rng(0)
YEARS = RNG.integers(1, 5, 120)


BIDS = defaultdict(list)
for auction, bid in ROWS:
    BIDS[auction].append(bid)
HIGHEST = {auction: max(bids) for auction, bids in BIDS.items()}
WINNERS = {auction: f"b{bids.index(max(bids))}" for auction, bids in BIDS.items()}


def with_column(name: str, write: Callable[[str], object]) -> str:
    """Return the log with one more column, whose cells follow from the sale."""
    return text_of([(a, b, write(a)) for a, b in ROWS], f"auction,bid,{name}")


def year_of(auction: str) -> int:
    return int(YEARS[int(auction)])


@pytest.mark.parametrize("name", ["bidders", "year", "reserve in force", "constant", "number"])
def test_a_column_may_have_a_name_that_the_library_uses(tmp_path: Path, name: str) -> None:
    """Its numbers count as those of any other column do, whatever it is called."""
    mine, other = (with_column(each, year_of) for each in (name, "size"))
    assert best_of(tmp_path, mine) == pytest.approx(best_of(tmp_path, other))
    slopes = estimator_of(tmp_path, mine).estimate().levels.slopes
    assert len(slopes) == 2 and slopes.index.is_unique


def test_a_year_and_a_date_do_not_overwrite_each_other(tmp_path: Path) -> None:
    rows = [(a, b, YEARS[int(a)], f"{1990 + int(a) % 2}-01-31") for a, b in ROWS]
    log = read(tmp_path, text_of(rows, "auction,bid,year,date"))
    assert list(log.covariates) == ["year", "year of sale"]
    assert set(log.covariates["year"]) == {1.0, 2.0, 3.0, 4.0}


@pytest.mark.parametrize("name", ["price", "won", "id", "company", "row"])
def test_what_differs_within_a_sale_is_left_out_by_name(tmp_path: Path, name: str) -> None:
    values = {
        "price": [b for _, b in ROWS],
        "won": ["yes" if b == HIGHEST[a] else "no" for a, b in ROWS],
        "id": range(7000, 7360),
        "company": [f"c{row % 3}" for row in range(360)],
        "row": range(360),
    }
    rows = [(*row, value) for row, value in zip(ROWS, values[name], strict=True)]
    text = text_of(rows, f"auction,bid,{name}")
    assert best_of(tmp_path, text) == best_of(tmp_path, PLAIN)
    assert f"{name}: it differs within a sale (" in notes_of(read(tmp_path, text), "left out")
    said = refusal(tmp_path, text, covariates=[name])
    assert f"column {name} cannot be a covariate: it differs within a sale" in said


@pytest.mark.parametrize(
    ("write", "why"),
    [
        (lambda a: HIGHEST[a], "it is a price"),
        (lambda a: sorted(BIDS[a])[-2], "it is a price"),
        (lambda a: HIGHEST[a] if int(a) % 3 else 0, "it is a price"),
        (lambda a: round(1.19 * HIGHEST[a], 2), "it follows from the highest bid"),
        (lambda a: round(1.19 * HIGHEST[a], 2) if int(a) % 3 else 0, "it follows from the highest"),
        (lambda a: "Sold" if int(a) % 3 else "Bought in", "it tells whether a sale sold"),
        (lambda a: sum(BIDS[a]), "it follows from the sum of the bids"),
        (lambda a: sum(BIDS[a]) / 3, "it follows from the sum of the bids"),
        (lambda a: 1000 + int(a), "it numbers the sales"),
        (lambda a: "EUR", "it is the same in all sales"),
        (lambda a: f"note {a}", "each of its words has fewer than 10 sales"),
        (lambda a: "", "it is empty"),
    ],
)
def test_what_says_nothing_of_the_goods_is_left_out(
    tmp_path: Path, write: Callable[[str], object], why: str
) -> None:
    text = with_column("extra", write)
    assert best_of(tmp_path, text) == best_of(tmp_path, PLAIN)
    assert f"extra: {why}" in notes_of(read(tmp_path, text), "left out")


def test_the_winner_is_no_covariate(tmp_path: Path) -> None:
    who = [f"b{row % 3}" for row in range(360)]
    rows = [(a, b, who[row], WINNERS[a]) for row, (a, b) in enumerate(ROWS)]
    log = read(tmp_path, text_of(rows, "auction,bid,bidder,buyer"))
    assert "buyer: it is the winner" in notes_of(log, "left out") and log.covariates.empty


@pytest.mark.parametrize("words", [("closed", "offered again"), (1, 0), ("A", "B")])
def test_what_follows_from_the_reserve_that_was_met_is_no_covariate(
    tmp_path: Path, words: tuple[object, object]
) -> None:
    rows = [(a, b, 50, words[HIGHEST[a] < 50], "AB"[int(a) % 2]) for a, b in ROWS]
    log = read(tmp_path, text_of(rows, "auction,bid,reserve,what happened,kind"))
    assert list(log.covariates) == ["kind"]
    assert "what happened: it tells whether a sale sold" in notes_of(log, "left out")


def test_a_word_that_few_failed_sales_share_is_a_covariate(tmp_path: Path) -> None:
    failed = sorted(HIGHEST, key=HIGHEST.__getitem__)[:5]
    reserve = max(HIGHEST[a] for a in failed) + 0.01
    rows = [(a, b, reserve, "wet" if a in failed else "dry") for a, b in ROWS]
    assert list(read(tmp_path, text_of(rows, "auction,bid,reserve,kind")).covariates) == ["kind"]


@pytest.mark.parametrize("name", ["winner", "Buyer ID", "sale_status", "result"])
@pytest.mark.parametrize("gap", ["", "x"])
def test_a_column_that_is_called_as_an_outcome_counts_if_it_is_named(
    tmp_path: Path, name: str, gap: str
) -> None:
    """Its words were once covariates if no column of bidders was named."""
    text = with_column(name, lambda a: WINNERS[a] if int(a) % 4 else gap)
    log = read(tmp_path, text)
    assert log.covariates.empty
    assert f"{name}: by its name it is known after the sale" in notes_of(log, "left out")
    if gap:
        assert list(read(tmp_path, text, covariates=[name]).covariates) == [name]
    else:
        assert "is empty in 90 rows" in refusal(tmp_path, text, covariates=[name])


@pytest.mark.parametrize("name", ["buyer's premium", "state", "statuses of soil", "resulting size"])
def test_a_name_that_only_holds_such_a_word_is_a_covariate(tmp_path: Path, name: str) -> None:
    assert list(read(tmp_path, with_column(name, year_of)).covariates) == [name]


def test_a_reserve_that_differs_within_a_sale_is_refused(tmp_path: Path) -> None:
    rows = [(a, b, 10.0 + (a == "4") * (row % 3)) for row, (a, b) in enumerate(ROWS)]
    said = refusal(tmp_path, text_of(rows, "auction,bid,reserve"))
    assert "column reserve, line 15: auction 4 has another reserve in line 14" in said


def test_a_column_of_reserves_by_another_name_is_a_doubt(tmp_path: Path) -> None:
    log = read(tmp_path, with_column("reserve_price", year_of))
    assert "give bid_log.reserve=reserve_price" in notes_of(log, "doubt")


def test_columns_that_are_not_named_are_told(tmp_path: Path) -> None:
    rows = [(a, b, YEARS[int(a)], int(a) % 2) for a, b in ROWS]
    text = text_of(rows, "auction,bid,size,grade")
    log = read(tmp_path, text, covariates=["Size"])
    assert list(log.covariates) == ["size"]
    assert "grade: bid_log.covariates does not name it." in notes_of(log, "left out")


def test_categories_that_are_called_others_are_not_merged_with_rare_ones(tmp_path: Path) -> None:
    words = [f"rare{n}" for n in range(5)] + ["others"] * 40 + ["common"] * 75
    estimator = estimator_of(tmp_path, with_column("kind", lambda a: words[int(a)]))
    assert "5 words with fewer than 10 sales" in notes_of(estimator.log, "used")
    slopes = estimator.estimate().levels.slopes
    assert {"kind others", "kind others, rare"} == set(slopes.index[1:])


def test_the_number_of_bids_and_means_are_results(tmp_path: Path) -> None:
    rows = [*ROWS, *((f"s{a}", b) for a, b in sales_of(60, 2, 5))]
    sizes = {a: sum(other == a for other, _ in rows) for a, _ in rows}
    means = {a: sum(b for other, b in rows if other == a) / sizes[a] for a in sizes}
    text = text_of([(a, b, sizes[a], means[a]) for a, b in rows], "auction,bid,came,mean")
    told = notes_of(read(tmp_path, text), "left out")
    assert "came: it follows from the number of bids" in told
    assert "mean: it follows from the mean of the bids" in told
