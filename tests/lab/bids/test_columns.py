"""A column is numbers, words or dates as a whole; what may be two is refused with its line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from daedalus.lab.bids.columns import Columns, number_of
from daedalus.lab.bids.settings import BidLogSettings
from daedalus.lab.bids.text_table import parse_table
from tests.lab.bids.written import best_of, estimator_of, notes_of, read, refusal, sales_of, text_of

ROWS = sales_of(120, 3, 1)
SIZES = np.exp(np.random.default_rng(9).normal(size=120)) * 1000


@pytest.mark.parametrize(
    ("cell", "point", "comma"),
    [
        ("1250.50", 1250.5, None),
        ("1,250.50", 1250.5, None),
        ("1.250,50", None, 1250.5),
        ("1 250,5", None, 1250.5),
        ("1\u202f250", 1250.0, 1250.0),
        ("1'250", 1250.0, 1250.0),
        ("1,250", 1250.0, 1.25),
        ("1.250", 1.25, 1250.0),
        ("0,125", None, 0.125),
        ("12,34,567", None, None),
        ("1,234,567", 1234567.0, None),
        ("-3e2", -300.0, -300.0),
        ("\u22123", -3.0, -3.0),
        (".5", 0.5, None),
        ("1_0", None, None),
        ("\u0663", None, None),
        ("inf", None, None),
        ("nan", None, None),
        ("1e999", None, None),
        ("0x10", None, None),
        ("", None, None),
    ],
)
def test_a_cell_is_a_number_by_a_decimal_mark(
    cell: str, point: float | None, comma: float | None
) -> None:
    assert (number_of(cell, "."), number_of(cell, ",")) == (point, comma)


def of_size(write: object) -> str:
    """Return a log in which bids grow with the size of the goods, written by a function."""
    rows = [(a, round(b * SIZES[int(a)] / 1000, 4), write(int(a))) for a, b in ROWS]  # type: ignore[operator]
    return text_of(rows, "auction,bid,size")


def test_thousands_and_units_are_numbers_as_plain_ones_are(tmp_path: Path) -> None:
    plain = estimator_of(tmp_path, of_size(lambda a: f"{SIZES[a]:.1f}"))
    explained = plain.estimate().levels.explained
    assert explained > 0.3
    for write in (lambda a: f'"{SIZES[a]:,.1f}"', lambda a: f"{SIZES[a]:.1f} ha"):
        other = estimator_of(tmp_path, of_size(write))
        assert other.estimate().levels.explained == explained
    assert "size as numbers (ha)" in notes_of(other.log, "used")


@pytest.mark.parametrize("odd", ["3000 ha", "inf", "abc", "1_0", "1,0,0", "$5"])
def test_one_cell_that_is_no_number_is_refused_with_its_line(tmp_path: Path, odd: str) -> None:
    text = of_size(lambda a: f'"{odd}"' if a == 5 else f"{SIZES[a]:.1f}")
    assert f"column size, line 17: {odd} is no number" in refusal(tmp_path, text)


@pytest.mark.parametrize("missing", ["", "NA", "-", "null"])
def test_a_missing_number_is_refused_with_its_line(tmp_path: Path, missing: str) -> None:
    text = of_size(lambda a: missing if a == 5 else f"{SIZES[a]:.1f}")
    assert "column size is empty in 3 rows, first in line 17" in refusal(tmp_path, text)


def test_a_number_that_may_be_two_is_refused_unless_something_tells(tmp_path: Path) -> None:
    rows = [(a, f"{1000 + 10 * b:,.0f}") for a, b in ROWS]
    text = text_of(rows, "auction;bid", ";")
    assert "line 2: 1,341 may be 1341 or 1.341; choose the decimal mark" in refusal(tmp_path, text)
    money, thousandths = (best_of(tmp_path, text, decimal=mark) for mark in ".,")
    assert money == pytest.approx(1000 * thousandths)
    told = text_of([(*row, "2,5") for row in rows], "auction;bid;size", ";")
    assert best_of(tmp_path, told) == pytest.approx(thousandths)
    point = text_of([(a, f"{b:.3f}") for a, b in ROWS])
    assert best_of(tmp_path, point) == best_of(tmp_path, text_of(ROWS))


@pytest.mark.parametrize(
    ("header", "cell"), [("Monat", "01.2024"), ("time", "10.30"), ("latitude", "52.52")]
)
def test_points_in_other_columns_do_not_turn_thousands_into_decimals(
    tmp_path: Path, header: str, cell: str
) -> None:
    """Bids of 1.250 once became thousandths of those of 950."""
    money = [round(10 + 100 * b) for _, b in ROWS]
    rows = [(a, f"{b:,}".replace(",", "."), cell) for (a, _), b in zip(ROWS, money, strict=True)]
    said = refusal(tmp_path, text_of(rows, f"auction;bid;{header}", ";"))
    assert "3.423 may be 3.423 or 3423; choose the decimal mark" in said
    told = text_of([(*row, "0,5") for row in rows], f"auction;bid;{header};price", ";")
    assert sorted(read(tmp_path, told, words=[header]).bids) == sorted(money)
    point = text_of([(*row, "0.5") for row in rows], f"auction;bid;{header};reserve", ";")
    assert 3.423 in read(tmp_path, point).bids


@pytest.mark.parametrize(("bid", "size", "mark"), [("1,250", "2.5", "."), ("1.250", "2,5", ",")])
def test_another_column_may_tell_what_parts_thousands(bid: str, size: str, mark: str) -> None:
    table = parse_table(f"auction;bid;size\n1;{bid};{size}\n", BidLogSettings())
    numbers = Columns(table, None, ["auction"], ["bid"]).numbers("bid")
    assert numbers.values == [1250.0] and numbers.decimal == mark


def test_two_decimal_marks_in_a_column_are_refused(tmp_path: Path) -> None:
    text = text_of([(a, f'"{b:.2f}"') for a, b in ROWS]).replace(".", ",", 1)
    said = refusal(tmp_path, text)
    assert "column bid, line 2: 34,13 is no number with the decimal mark ." in said


def test_codes_with_a_zero_in_front_are_words(tmp_path: Path) -> None:
    text = text_of([(a, b, f"0{int(a) % 4}123") for a, b in ROWS], "auction,bid,post code")
    assert "post code as words" in notes_of(read(tmp_path, text), "used")
    numbers = text.replace(",0", ",9")
    assert "post code as numbers" in notes_of(read(tmp_path, numbers), "used")
    assert "post code as words" in notes_of(read(tmp_path, numbers, words=["post code"]), "used")


@pytest.mark.parametrize(
    "dates",
    [
        ("2020-01-31", "2021-02-28"),
        ("2020-01-01T00:00:00+02:00", "2021-01-01T00:00:00-05:00"),  # two time zones
        ("31.01.2020", "28.02.2021"),
        ("01/31/2020", "02/28/2021"),
        ("2020", "2021"),
        ("20200131", "20210228"),
    ],
)
def test_dates_become_years(tmp_path: Path, dates: tuple[str, str]) -> None:
    text = text_of([(a, b, dates[int(a) % 2]) for a, b in ROWS], "auction,bid,date")
    assert set(read(tmp_path, text).covariates["year"]) == {"2020", "2021"}


@pytest.mark.parametrize("date", ["33000", "soon", "2020-13-41", "", "0"])
def test_what_is_no_date_is_refused_with_its_line(tmp_path: Path, date: str) -> None:
    rows = [(a, b, date if a == "2" else "2020-01-31") for a, b in ROWS]
    said = refusal(tmp_path, text_of(rows, "auction,bid,date"))
    assert f"column date, line 8: {date or 'an empty cell'} is no date" in said


def test_a_column_of_another_role_tells_nothing_of_the_decimal_mark() -> None:
    table = parse_table("auction;bid\n1.5;1,250\n", BidLogSettings())
    with pytest.raises(ValueError, match=r"1,250 may be 1250 or 1\.25"):
        Columns(table, None, ["auction"]).numbers("bid")
