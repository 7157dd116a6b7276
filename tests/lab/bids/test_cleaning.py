"""Rows that are no bids, or stand there twice, are dropped or refused; names are texts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.lab.bids.written import best_of, notes_of, read, refusal, sales_of, text_of

ROWS = sales_of(120, 3, 1)
PLAIN = text_of(ROWS)


def test_names_of_sales_are_texts(tmp_path: Path) -> None:
    for names in (("1", "01"), ("100", "1E2"), (str(2**53), str(2**53 + 1)), ("S1", "s1")):
        renamed = {"3": names[0], "4": names[1]}
        log = read(tmp_path, text_of([(renamed.get(a, f"x{a}"), b) for a, b in ROWS]))
        assert len(log.sales) == 120 and set(names) < set(log.sales["auction"])
        alike = f"{' and '.join(sorted(names))}." in notes_of(log, "doubt")
        assert alike == (names[0] != str(2**53))


def test_spaces_around_names_do_not_count(tmp_path: Path) -> None:
    spaced = [(f"{a} " if row % 2 else f"\u00a0{a}", b) for row, (a, b) in enumerate(ROWS)]
    assert best_of(tmp_path, text_of(spaced)) == best_of(tmp_path, PLAIN)


@pytest.mark.parametrize(
    "names", [("", ""), ("NA", "None"), ("", "NA"), ("null", "nan"), ("?", "-"), ("n/a", "n/a"),
              ("Unknown", "unknown"), ("ANONYMOUS", "none")]
)  # fmt: skip
@pytest.mark.parametrize("kind", ["first_price", "ascending"])
def test_unknown_bidders_count_each(tmp_path: Path, names: tuple[str, str], kind: str) -> None:
    """In ascending sales all but the highest bid of somebody called unknown were once dropped."""
    rows = sales_of(80, 4, 4)
    who = ["a", *names, "z"]
    text = text_of([(*row, who[place % 4]) for place, row in enumerate(rows)], "auction,bid,bidder")
    log = read(tmp_path, text, format=kind)
    assert (log.bidders == 4).all() and log.bidder is not None and set(log.bidder) == {"a", "z", ""}
    assert best_of(tmp_path, text) == best_of(tmp_path, text_of(rows))
    assert "160 rows" in notes_of(log, "missing") and not notes_of(log, "doubt")


@pytest.mark.parametrize("name", ["phone", "Online", "FLOOR", "proxy"])
def test_a_bidder_called_as_its_way_to_bid_is_a_doubt(tmp_path: Path, name: str) -> None:
    rows = [(*row, name if place % 3 else "a") for place, row in enumerate(ROWS)]
    log = read(tmp_path, text_of(rows, "auction,bid,bidder"), format="ascending")
    assert f"bidder {name}, in 240 rows, counts as one bidder" in notes_of(log, "doubt")
    bids = [bid for _, bid in ROWS]
    counted = [*bids[::3], *map(max, bids[1::3], bids[2::3])]  # of two bids the higher one
    assert (log.bidders == 2).all() and sorted(log.bids) == sorted(counted)


def test_a_sale_called_na_counts_as_a_name(tmp_path: Path) -> None:
    log = read(tmp_path, text_of([("NA" if a == "5" else a, b) for a, b in ROWS]))
    assert "sale NA, in 3 rows, counts as a name." in notes_of(log, "doubt")


def test_a_bidder_who_bids_twice_is_told_with_both_lines(tmp_path: Path) -> None:
    rows = [(*row, place % 3) for place, row in enumerate(ROWS)]
    again = [*rows, ("7", 3.5, 0)]
    said = refusal(tmp_path, text_of(again, "auction,bid,bidder"))
    assert "line 362: bidder 0 bids twice in auction 7 (first in line 23)" in said
    twice = refusal(tmp_path, text_of([*rows, rows[21]], "auction,bid,bidder"))
    assert "with the same cells" in twice
    named = [(a, b, "phone" if who == 0 else who) for a, b, who in again]
    assert "leave the cell empty" in refusal(tmp_path, text_of(named, "auction,bid,bidder"))


@pytest.mark.parametrize("name", ["lot", "Item No.", "Los-Nr.", "Artikelnummer", "position"])
@pytest.mark.parametrize("kind", ["first_price", "ascending"])
@pytest.mark.parametrize("named", [False, True])
def test_lots_of_an_event_are_no_single_sale(
    tmp_path: Path, name: str, kind: str, named: bool
) -> None:
    """All lots of an event were once one sale, or each bidder's best lot its one bid."""
    rows = [(f"e{int(a) // 2}", b, f"L{a}", f"b{place % 3}") for place, (a, b) in enumerate(ROWS)]
    text = text_of(rows, f"auction,bid,{name},{'bidder' if named else 'who'}")
    said = refusal(tmp_path, text, format=kind)
    assert f"column {name} differs within most sales (as in lines 2 and 5)" in said
    assert f"name each by auction and {name} together" in said
    assert len(read(tmp_path, text, auction=name, format=kind).sales) == 120


@pytest.mark.parametrize("of_row", [True, False])
def test_a_column_of_lots_that_parts_no_sales_is_read(tmp_path: Path, of_row: bool) -> None:
    """It may number bids, or differ in a few sales by a slip."""
    lots = [place if of_row else place % 3 if a == "5" else 1 for place, (a, _) in enumerate(ROWS)]
    rows = [(*row, lot) for row, lot in zip(ROWS, lots, strict=True)]
    assert best_of(tmp_path, text_of(rows, "auction,bid,lot")) == best_of(tmp_path, PLAIN)


def monthly() -> list[tuple[object, ...]]:
    """Return sales whose numbers begin anew each month, with a bidder and the time of each bid."""
    dates = [f"2020-{1 + int(a) // 60:02}-01 9:{row % 60:02}" for row, (a, _) in enumerate(ROWS)]
    return [
        (int(a) % 60, b, f"b{row % 3}", date)
        for row, ((a, b), date) in enumerate(zip(ROWS, dates, strict=True))
    ]


def test_numbers_of_sales_that_begin_anew_are_a_doubt(tmp_path: Path) -> None:
    text = text_of(monthly(), "auction,bid,who,date")
    doubt = notes_of(read(tmp_path, text), "doubt")
    assert "In most sales bids have several dates (as in lines 2 and 182)" in doubt
    assert "name each by auction and date together" in doubt
    said = refusal(tmp_path, text_of(monthly(), "auction,bid,bidder,date"))
    assert "bidder b0 bids twice in auction 0 (first in line 2), with date 2020-01-01 and" in said
    assert "if names of sales are used again, name each by its column and date" in said


def test_times_of_bids_are_no_doubt(tmp_path: Path) -> None:
    rows = [(f"{a} {date[:7]}", b, date) for a, b, _, date in monthly()]  # type: ignore[index]
    log = read(tmp_path, text_of(rows, "auction,bid,date"), format="ascending")
    assert len(log.sales) == 120 and "several dates" not in notes_of(log, "doubt")


@pytest.mark.parametrize(
    "word",
    ["Total", "TOTAL:", "Sum", "Grand total", "Summe", "average", "Total of all bids", "Mean 2020",
     "Total A00012 (3)"],
)  # fmt: skip
def test_a_total_is_no_sale(tmp_path: Path, word: str) -> None:
    text = f"{PLAIN}{word},{sum(b for _, b in ROWS):.2f}\n"
    log = read(tmp_path, text)
    assert best_of(tmp_path, text) == best_of(tmp_path, PLAIN)
    assert "1 row (line 362) called " in notes_of(log, "dropped")


@pytest.mark.parametrize("name", ["Total Energies", "Mean Green Ltd", "Count Basie", "Sum & Sons"])
def test_a_bidder_whose_name_begins_like_a_total_stays(tmp_path: Path, name: str) -> None:
    rows = [(*row, name if place % 3 == 0 else f"b{place % 3}") for place, row in enumerate(ROWS)]
    log = read(tmp_path, text_of(rows, "auction,bid,bidder"))
    assert log.bidder is not None and (log.bidder == name).sum() == 120


def test_a_hostile_name_is_read_at_once(tmp_path: Path) -> None:
    """Each more number in it once took eight times as long."""
    name = f"total{' 11111111' * 40} x"
    rows = [(*row, name if place == 0 else f"b{place % 3}") for place, row in enumerate(ROWS)]
    log = read(tmp_path, text_of(rows, "auction,bid,bidder"))
    assert log.bidder is not None and (log.bidder == name).sum() == 1


def test_rows_of_a_bidder_called_total_are_named(tmp_path: Path) -> None:
    """Three of them may be a company."""
    rows = [(*row, "Total" if place in (0, 3, 6) else place) for place, row in enumerate(ROWS)]
    told = notes_of(read(tmp_path, text_of(rows, "auction,bid,bidder")), "dropped")
    assert "3 rows (lines 2, 5, 8) called Total" in told and "another name" in told


def test_a_sale_that_is_called_total_stays(tmp_path: Path) -> None:
    text = text_of([("Total" if a == "5" else a, b) for a, b in ROWS])
    assert "Total" in set(read(tmp_path, text).sales["auction"])


def test_sums_of_sales_are_refused(tmp_path: Path) -> None:
    sums = {a: sum(b for other, b in ROWS if other == a) for a, _ in ROWS}
    text = PLAIN + "".join(f"{a},{total:.2f}\n" for a, total in sums.items())
    assert "the highest bid is the sum of the others" in refusal(tmp_path, text)


@pytest.mark.parametrize("renamed", [False, True])
def test_a_log_that_stands_there_twice_is_refused(tmp_path: Path, renamed: bool) -> None:
    again = [(f"again {a}" if renamed else a, b) for a, b in ROWS]
    assert "delete the copies" in refusal(tmp_path, text_of([*ROWS, *again]))


def test_a_few_copies_are_a_doubt(tmp_path: Path) -> None:
    log = read(tmp_path, text_of([*sales_of(120, 6, 1), *sales_of(120, 3, 1), *ROWS[:3]]))
    assert "each bid stands there twice" not in notes_of(log, "doubt")
    more = [(f"s{a}", b) for a, b in sales_of(120, 6, 3)]
    log = read(tmp_path, text_of([*ROWS, *ROWS[:6], *more]))
    assert "In 2 sales each bid stands there twice" in notes_of(log, "doubt")


def test_ties_of_rounded_bids_are_no_copies(tmp_path: Path) -> None:
    rounded = [(a, max(round(b), 1)) for a, b in ROWS]
    assert len(read(tmp_path, text_of(rounded)).sales) == 120


@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_sales_whose_bids_are_all_equal_are_refused(tmp_path: Path, spread: float) -> None:
    rng = np.random.default_rng(0)
    prices = 5.0 + spread * rng.random(80).round(3)
    text = text_of([(sale, prices[sale]) for sale in range(80) for _ in range(3)])
    assert "80 of 80 sales" in refusal(tmp_path, text)


def test_an_unnamed_sale_is_refused_with_its_line(tmp_path: Path) -> None:
    lines = PLAIN.splitlines()
    lines[6] = lines[6].replace("1,", ",", 1)
    assert "line 7 has no sale in column auction; if it is a total, delete it" in refusal(
        tmp_path, "\n".join(lines)
    )


def test_a_column_that_is_named_has_to_be_there(tmp_path: Path) -> None:
    assert "no column buyer among auction, bid" in refusal(tmp_path, PLAIN, bidder="buyer")
    assert "no column grade" in refusal(tmp_path, PLAIN, covariates=["grade"])
    assert "column bid is chosen twice, for bid and bidder" in refusal(
        tmp_path, PLAIN, bidder="bid"
    )
    text = text_of([(*row, 7) for row in ROWS], "auction,bid,bidder")
    assert "bids twice" in refusal(tmp_path, text)
    assert best_of(tmp_path, text, bidder="") == best_of(tmp_path, PLAIN)
    named = PLAIN.replace("bid", "amount", 1)
    assert best_of(tmp_path, named, bid="amount") == best_of(tmp_path, PLAIN)
