"""The table of a submission says the same however it is written; a wrong one says what is wrong."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from daedalus.design.designers.submission_table import read_submission
from daedalus.market.mechanism import FIELDS, Mechanism

ROW = ",".join(map(str, Mechanism(reserve_price=0.18).to_dict().values()))
NAMES = ["episode", "step", "population", *FIELDS, "note"]
CELLS = [["0", "1", "stage3", *ROW.split(","), ""], ["1", "2", "stage3", *ROW.split(","), "é"]]
READ = {(0, 1): Mechanism(reserve_price=0.18), (1, 2): Mechanism(reserve_price=0.18)}
Cells = list[list[str]]


def table(names: list[str], rows: Cells, separator: str = ",", end: str = "\n") -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator=end).writerows([names, *rows])
    return text.getvalue()


def submission(content: str | bytes, folder: Path) -> dict[tuple[int, int], Mechanism]:
    path = folder / "steps.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_submission(path, "", 0, "stage3")


def changed(column: str, cell: str, row: int = 1) -> Cells:
    """Return the rows with another cell."""
    rows = [list(each) for each in CELLS]
    rows[row][NAMES.index(column)] = cell
    return rows


@pytest.mark.parametrize(
    "content",
    [
        table(NAMES, CELLS),
        table(NAMES, CELLS).encode("utf-8-sig"),
        table(NAMES, CELLS, end="\r\n"),
        table(NAMES, CELLS, end="\r"),
        table(NAMES, CELLS).replace(",True", ",TRUE").replace(",False", ",FALSE"),
        table(NAMES, CELLS).replace(",True", ",true").replace(",False", ",false"),
        table(NAMES, CELLS).replace(",", " ,\t "),
        table(NAMES, CELLS).replace("second_price", '"second_price"'),
        table(NAMES, CELLS).replace("second_price", ' "second_price"'),
        table(NAMES, CELLS).replace("\n", "\n\n") + "," * 14 + "\n",
        table(NAMES, CELLS).replace("0.18", "+1.8e-1"),
        table(NAMES, CELLS).replace("0.18", ".18"),
        table(NAMES[::-1], [row[::-1] for row in CELLS]),
        table(["", *NAMES, ""], [["7", *row, ""] for row in CELLS]),
        table(NAMES, changed("note", "a,b\nc", 0)),
        table(NAMES, [*CELLS, ["5", "1", "stage3", *[""] * 12]]),
        table(NAMES, [*CELLS, ["0", "1", "stage4", *ROW.split(","), ""]]),
    ],
)
def test_a_submission_says_the_same_however_it_is_written(
    content: str | bytes, tmp_path: Path
) -> None:
    assert submission(content, tmp_path) == READ


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        ("episode", ["-1", "1_0", "٣", "1.0", "1e0", "+1", "NaN", "", "one", "0x1", "9" * 5000]),
        ("step", ["0", "-1", "1_0", "٣", "1.0", "nan", "", "inf"]),
        (
            "reserve_price",
            ["nan", "inf", "-inf", "1_0", "0_1.5", "٣", "", "-0.1", "0,5", "0x0", "1"],
        ),
        ("shill_penalty", ["3.1", "-1e-9", "none", "1e999", "$1", "1%"]),
        ("reveal_reserve", ["1", "0", "yes", "", "T", "nan", "1.0", "True False"]),
        ("auction_type", ["VCG", "dutch", "", "vcg,", "1", "all_pay"]),
        ("coalition_policy", ["Allow", "", "forbid"]),
        ("population", [""]),
    ],
)
def test_a_wrong_cell_is_named_by_line_and_column(
    column: str, cells: list[str], tmp_path: Path
) -> None:
    for cell in cells:
        with pytest.raises(ValueError, match=rf"line 3, column {column}: .*; (give|write|choose)"):
            submission(table(NAMES, changed(column, cell)), tmp_path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            table([*NAMES, "step"], [[*row, "1"] for row in CELLS]),
            "line 1: column step stands twice",
        ),
        (
            table([*NAMES, " note"], [[*row, ""] for row in CELLS]),
            "line 1: column note stands twice",
        ),
        (table(NAMES, CELLS) + "0,2\n", "line 4: 2 cells; give one for each of the 15 columns"),
        (table(NAMES, [[*row, "x"] for row in CELLS]), "line 2: 16 cells"),
        (table(NAMES, [CELLS[0], [*CELLS[1], ""]]), "line 3: 16 cells"),
        (table(NAMES, CELLS, end="\n\n") + "1,2,3\n", "line 7: 3 cells"),
        (table(NAMES, [*changed("note", "a\nb", 0), ["1"]]), "line 5: 1 cells"),
        (table(NAMES, [*CELLS, CELLS[0]]), "line 4: episode 0, step 1 stands twice"),
        (
            table(NAMES, [*CELLS, changed("episode", "01")[1]]),
            "line 4: episode 1, step 2 stands tw",
        ),
        (table(NAMES, [*CELLS, ["0", "1", "stage3", *[""] * 12]]), "line 4: .* stands twice"),
        (table(NAMES, CELLS, ";"), "line 1: semicolons separate the columns; write commas"),
        (table(NAMES, CELLS, "\t"), "line 1: tabs separate the columns; write commas"),
        (table(NAMES, CELLS, "|"), "line 1: bars separate the columns; write commas"),
        (table(NAMES, []), "has no mechanism"),
        (table(NAMES, [["0", "1", "stage3", *[""] * 12]]), "has no mechanism"),
        ("", "lacks the columns episode, step, auction_type"),
        ("\n\n", "lacks the columns episode, step"),
        (table(NAMES[1:], [row[1:] for row in CELLS]), "lacks the columns episode$"),
        (table(NAMES, CELLS).encode("utf-16"), r"is no CSV file in UTF-8 \(line 1"),
        (table(NAMES, CELLS).encode("latin-1"), r"is no CSV file in UTF-8 \(line 3: "),
        (table(NAMES, CELLS) + 'x"y"z,"', r"is no CSV file \(line 4: "),
        (table(NAMES, changed("auction_type", 'v"c"g')).replace('""', '"'), r"\(line 3: "),
    ],
)
def test_a_wrong_table_is_named_by_its_line(
    content: str | bytes, said: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=said) as refused:
        submission(content, tmp_path)
    assert "\n" not in str(refused.value)
