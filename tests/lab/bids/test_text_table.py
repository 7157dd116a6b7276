"""A file is read as text: encoding, separator, header and lines; or it is refused in a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from daedalus.lab.bids.settings import BidLogSettings
from daedalus.lab.bids.text_table import USUAL_NAMES, parse_table, usual_column
from tests.lab.bids.written import best_of, notes_of, read, refusal, sales_of, text_of

ROWS = sales_of(120, 3, 1)
PLAIN = text_of(ROWS)


@pytest.fixture
def usual(tmp_path: Path) -> float:
    return best_of(tmp_path, PLAIN)


def test_the_first_usual_name_is_the_default_and_goes_before_the_others() -> None:
    usual = BidLogSettings()
    assert {key: names[0] for key, names in USUAL_NAMES.items()} == {
        key: getattr(usual, key) for key in USUAL_NAMES
    }
    assert usual_column("bid", ["lot", " Amount"]) == " Amount"
    assert usual_column("bid", ["price", "Bid"]) == "Bid"
    assert usual_column("bid", ["price", "amount"]) is None
    assert usual_column("bid", ["area"]) is None


@pytest.mark.parametrize(
    "text",
    [
        text_of([(a, str(b).replace(".", ",")) for a, b in ROWS]),  # a decimal comma, not quoted
        text_of([(a, b, "") for a, b in ROWS]),
        text_of([(a, b, 7) for a, b in ROWS]),
        PLAIN.replace("\n5,", "\n5,,", 1),
    ],
)
def test_a_row_wider_than_the_header_is_refused_with_its_line(tmp_path: Path, text: str) -> None:
    line = next(n for n, row in enumerate(text.splitlines(), 1) if n > 1 and row.count(",") > 1)
    assert f"line {line} has 3 cells" in refusal(tmp_path, text)


def test_a_row_narrower_than_the_header_is_refused_with_its_line(tmp_path: Path) -> None:
    lines = PLAIN.splitlines()
    lines[4] = lines[4].partition(",")[0]
    assert "line 5 has 1 cells" in refusal(tmp_path, "\n".join(lines))


def test_empty_lines_do_not_shift_the_line_of_a_message(tmp_path: Path) -> None:
    lines = ["", "", *PLAIN.splitlines()[:9], "", ", ", "7,abc"]
    assert "column bid, line 14: abc is no number" in refusal(tmp_path, "\n".join(lines))


@pytest.mark.parametrize("separator", [";", "\t", "|"])
@pytest.mark.parametrize("decimal", [".", ","])
def test_separators_and_decimal_marks_are_read(
    tmp_path: Path, usual: float, separator: str, decimal: str
) -> None:
    rows = [(a, str(b).replace(".", decimal)) for a, b in ROWS]
    text = text_of(rows, f"auction{separator}bid", separator)
    assert best_of(tmp_path, text) == usual
    assert best_of(tmp_path, text, separator=separator, decimal=decimal) == usual
    assert best_of(tmp_path, f"sep={separator}\r\n" + text) == usual


@pytest.mark.parametrize("header", ["Auction,Bid", "AUCTION, BID", "\ufeffauction,bid"])
def test_headers_are_read_without_regard_to_case_and_spaces(
    tmp_path: Path, usual: float, header: str
) -> None:
    assert best_of(tmp_path, text_of(ROWS, header)) == usual


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_encodings_are_read(tmp_path: Path, usual: float, encoding: str) -> None:
    text = text_of([(f"Straße {a}", b) for a, b in ROWS])
    assert best_of(tmp_path, text.encode(encoding)) == usual
    assert "Straße 0" in set(read(tmp_path, text.encode(encoding)).sales["auction"])


def test_another_encoding_is_named_or_refused(tmp_path: Path, usual: float) -> None:
    text = text_of([(f"Ł{a}", b) for a, b in ROWS])
    assert best_of(tmp_path, text.encode("cp1250"), encoding="cp1250") == usual
    with pytest.raises(ValueError, match=r"encoding: .* is unknown; choose utf-8"):
        read(tmp_path, text, encoding="klingon")
    assert "no text in utf-16" in refusal(tmp_path, b"\xff\xfe" + PLAIN.encode("utf-16-le") + b"x")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"PK\x03\x04rest", "a spreadsheet"),
        (b"\x1f\x8brest", "compressed"),
        (b"", "there is no header"),
        (b"auction,bid\n", "no bid below its header"),
        (b"auction,bid\n1,\x00\n", "line 2 has a NUL character"),
        ("auction,bid\nJos\ufffd,2\n".encode(), "line 2 has a character that was lost"),
        (b'auction,bid\n1,2\n1,"3\n1,4\n', "line 3: unexpected end of data"),
        (b'auction,bid\n1,"2"x\n', "line 2: ',' expected"),
        (b"auction,bid,bid\n1,2,3\n", "line 1: the column bid stands there twice"),
        (b"\nauction,bid,Size,Size \n1,2,3,4\n", "line 2: the column Size stands there twice"),
        (b"lot,amount\n1,2\n", "no columns auction and bid among lot, amount; rename yours, or"),
        (b"lot,amount\n1,2\n", "which they are (bid_log.auction=lot bid_log.bid=amount)"),
        (b"id,x,bid\n1,2,3\n", "which it is (bid_log.auction=COLUMN)"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path: Path, data: bytes, why: str) -> None:
    assert why in refusal(tmp_path, data)


def test_an_index_of_the_rows_is_left_out(tmp_path: Path, usual: float) -> None:
    text = text_of([(row, *each) for row, each in enumerate(ROWS)], ",auction,bid")
    assert best_of(tmp_path, text) == usual
    assert "1 column without a name" in notes_of(read(tmp_path, text), "left out")


def test_a_name_that_fits_exactly_goes_before_one_of_another_case() -> None:
    table = parse_table("Bid,bid,BID\n1,2,3\n", BidLogSettings())
    assert table.find("bid") == "bid" and table.find("none") is None
    with pytest.raises(ValueError, match="differ in case alone"):
        table.find("biD")


def test_the_rows_and_their_separator_are_told(tmp_path: Path) -> None:
    told = notes_of(read(tmp_path, PLAIN), "read")
    assert "360 rows; commas separate cells." in told and "decimal mark of bids is a point" in told
    spaced = text_of([(f"{a} ", b) for a, b in ROWS])
    assert "360 rows had spaces" in notes_of(read(tmp_path, spaced), "merged")
