"""A submission is replayed: the rewards are those of the mechanisms, whatever the file claims.

Its table says the same however it is written; a wrong one says what is wrong.
"""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from daedalus.checks import CannotRunError
from daedalus.design.designers.base import DesignerContext
from daedalus.design.designers.random import RandomDesigner
from daedalus.design.designers.submission import SubmissionSettings, read_submission
from daedalus.design.env import DesignEnv
from daedalus.evaluation import episodes
from daedalus.evaluation.episodes import compare
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import FIELDS, Mechanism
from tests.populations import in_both_markets

ENV = DesignEnv.of(MarketSettings("strategic"), in_both_markets(3).in_market("strategic"))


@pytest.fixture(scope="module")
def steps() -> pd.DataFrame:
    return compare(ENV, {"random": RandomDesigner()}, 3, 7)


def replayed(steps: pd.DataFrame, folder: Path, seed: int = 7, **settings: str) -> pd.DataFrame:
    steps.to_csv(folder / "steps.csv", index=False)
    built = SubmissionSettings(file=str(folder / "steps.csv"), **settings)
    return compare(ENV, {"submission": built.build(DesignerContext(ENV, seed))}, 3, seed)


def test_the_steps_of_a_run_earn_the_same_again(steps: pd.DataFrame, tmp_path: Path) -> None:
    again = replayed(steps.assign(reward=1.0), tmp_path)  # what the file claims does not count
    assert again.drop(columns="designer").equals(steps.drop(columns="designer"))


def test_a_submission_plays_no_second_piece_of_episodes(
    steps: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(episodes, "AT_ONCE", 2)  # its third row would be the first one again
    with pytest.raises(CannotRunError, match=r"episodes: 3; the submission .* plays at most 2"):
        replayed(steps, tmp_path)


def test_of_several_designers_one_is_chosen(steps: pd.DataFrame, tmp_path: Path) -> None:
    both = pd.concat([steps, steps.assign(designer="other", reserve_price=0.5)])
    assert (replayed(both, tmp_path, of="other")["reserve_price"] == 0.5).all()
    with pytest.raises(ValueError, match=r"line 32: episode 0, step 1 stands twice; .*designer.of"):
        replayed(both, tmp_path)


def test_a_step_without_a_row_is_malformed(steps: pd.DataFrame, tmp_path: Path) -> None:
    again = replayed(steps[steps["step"] != 2], tmp_path)
    missing = again["step"] == 2
    assert not again.loc[missing, "valid"].any() and (again.loc[missing, "reward"] == 0).all()
    assert again.loc[~missing, "valid"].all()


def test_a_file_that_names_populations_plays_there_alone(
    steps: pd.DataFrame, tmp_path: Path
) -> None:
    named = pd.concat(
        [steps.assign(population="a"), steps.assign(population="b", reserve_price=0.5)]
    )
    named.to_csv(tmp_path / "steps.csv", index=False)
    settings = SubmissionSettings(file=str(tmp_path / "steps.csv"))
    assert [settings.plays(name) for name in "abc"] == [True, True, False]
    designer = settings.build(DesignerContext(ENV, 7, population="b"))
    assert (compare(ENV, {"it": designer}, 3, 7)["reserve_price"] == 0.5).all()
    with pytest.raises(ValueError, match=r"no row of the population c, but of a, b"):
        settings.build(DesignerContext(ENV, 7, population="c"))
    steps.to_csv(tmp_path / "steps.csv", index=False)
    assert settings.plays("c") and settings.build(DesignerContext(ENV, 7, population="c"))


def test_another_seed_is_named(steps: pd.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="line 2, column seed: 8, but this run has seed=7"):
        replayed(steps.assign(seed=8), tmp_path)


def test_a_mechanism_that_is_not_allowed_is_named(steps: pd.DataFrame, tmp_path: Path) -> None:
    steps.assign(auction_type="first_price").to_csv(tmp_path / "steps.csv", index=False)
    settings = SubmissionSettings(file=str(tmp_path / "steps.csv"))
    env = replace(ENV, allowed={"auction_type": ("vcg",)})
    with pytest.raises(
        ValueError, match=r"steps\.csv, episode 0, step 1: auction_type: .*write vcg"
    ):
        settings.build(DesignerContext(env, 7))


def test_a_missing_file_is_named() -> None:
    with pytest.raises(ValueError, match=r"'none\.csv' is no file; give a CSV"):
        SubmissionSettings(file="none.csv")


def test_a_designer_without_a_row_is_named(steps: pd.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no row of the designer nobody, but of random"):
        replayed(steps, tmp_path, of="nobody")


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
            table([*NAMES, " note"], [[*row, ""] for row in CELLS]),
            "line 1: column note stands twice",
        ),
        (table(NAMES, CELLS) + "0,2\n", "line 4: 2 cells; give one for each of the 15 columns"),
        (table(NAMES, [[*row, "x"] for row in CELLS]), "line 2: 16 cells"),
        (table(NAMES, CELLS, end="\n\n") + "1,2,3\n", "line 7: 3 cells"),
        (table(NAMES, [*changed("note", "a\nb", 0), ["1"]]), "line 5: 1 cells"),
        (table(NAMES, [*CELLS, CELLS[0]]), "line 4: episode 0, step 1 stands twice"),
        (
            table(NAMES, [*CELLS, changed("episode", "01")[1]]),
            "line 4: episode 1, step 2 stands tw",
        ),
        (table(NAMES, [*CELLS, ["0", "1", "stage3", *[""] * 12]]), "line 4: .* stands twice"),
        (table(NAMES, CELLS, ";"), "lacks the columns episode, step"),
        (table(NAMES, []), "has no mechanism"),
        (table(NAMES, [["0", "1", "stage3", *[""] * 12]]), "has no mechanism"),
        ("", "lacks the columns episode, step, auction_type"),
        ("\n\n", "lacks the columns episode, step"),
        (table(NAMES[1:], [row[1:] for row in CELLS]), "lacks the columns episode$"),
        (table(NAMES, CELLS).encode("utf-16"), r"is no CSV file in UTF-8 \(invalid start"),
        (table(NAMES, CELLS).encode("latin-1"), r"is no CSV file in UTF-8 \(invalid continuation"),
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
