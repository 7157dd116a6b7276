"""Whatever a log looks like: the estimate is the same, or the file is refused in one sentence."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daedalus.checks import CannotRunError
from daedalus.lab.bids.estimator import Estimator
from daedalus.lab.bids.log import log_of
from daedalus.lab.bids.settings import BidLogSettings
from daedalus.lab.bids.text_table import parse_table
from tests.lab.bids.written import best_of, sales_of, text_of

ROWS = [*sales_of(60, 3, 1), *((f"t{a}", b) for a, b in sales_of(40, 2, 2))]
COLOURS = ("red", "green", "blue")
PLACE = re.compile(r"line \d+")


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> float:
    return best_of(tmp_path_factory.mktemp("usual"), text_of(ROWS))


@st.composite
def files(draw: st.DrawFn) -> tuple[bytes, dict[str, object]]:
    """Draw a file of the same bids in another form: dialect, encoding, order, extra columns."""
    separator, decimal = draw(st.sampled_from([",", ";", "\t", "|"])), draw(st.sampled_from(".,"))
    others = draw(st.permutations(["price", "note", "row", "lot", "flag"]))
    extra = others[: draw(st.integers(0, 3))]
    header = draw(st.permutations(["auction", "bid", *extra]))
    order = draw(st.permutations(range(len(ROWS)))) if draw(st.booleans()) else range(len(ROWS))
    prefix = draw(st.sampled_from(["", "lot ", "№ ", "0", "-", "=", "NA"]))
    quoting = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    out = io.StringIO()
    ends = draw(st.sampled_from(["\n", "\r\n"]))
    writer = csv.writer(out, delimiter=separator, quoting=quoting, lineterminator=ends)
    writer.writerow(draw(st.sampled_from([str, str.upper, str.title]))(name) for name in header)
    for place in order:
        auction, bid = ROWS[place]
        cells = {
            "auction": prefix + auction,
            "bid": f"{bid:.2f}".replace(".", decimal),
            "price": f"{2 * bid:.2f}".replace(".", decimal),
            "note": f"bid of {bid}, “final”",
            "row": str(place),
            "lot": f"{auction} {place}",
            "flag": "x" * (place % 2),
        }
        if draw(st.integers(0, 40)) == 0:
            out.write(ends)
        writer.writerow(cells[name] for name in header)
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
    told = draw(st.booleans())
    return out.getvalue().encode(encoding), {"decimal": decimal} if told else {}


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(file=files())
def test_the_form_of_a_file_does_not_move_the_estimate(
    file: tuple[bytes, dict[str, object]], usual: float
) -> None:
    data, chosen = file
    with TemporaryDirectory() as folder:
        assert best_of(Path(folder), data, **chosen) == usual


DAMAGES = {
    "an extra cell": lambda cells: [*cells, "7"],
    "a cell too few": lambda cells: cells[:-1],
    "an empty cell": lambda cells: [cells[0], "", *cells[2:]],
    "no sale": lambda cells: ["", *cells[1:]],
    "no number": lambda cells: [cells[0], "n/a", *cells[2:]],
    "a unit": lambda cells: [cells[0], f"{cells[1]} EUR", *cells[2:]],
    "a negative": lambda cells: [cells[0], f"-{cells[1]}", *cells[2:]],
    "nothing": lambda cells: [cells[0], "0", *cells[2:]],
    "infinity": lambda cells: [cells[0], "inf", *cells[2:]],
    "two marks": lambda cells: [cells[0], '"1.2,3"', *cells[2:]],
    "other digits": lambda cells: [cells[0], "\u0663", *cells[2:]],
    "a colour that differs": lambda cells: [*cells[:2], "1"],
    "no colour": lambda cells: [*cells[:2], ""],
}


@settings(max_examples=80, deadline=None)
@given(place=st.integers(0, len(ROWS) - 1), damage=st.sampled_from(sorted(DAMAGES)))
def test_one_damaged_cell_is_refused_with_its_line_or_its_column_is_left_out(
    place: int, damage: str
) -> None:
    """No damage of one cell moves an estimate without a word."""
    rows = [[a, str(b), COLOURS[int(a[-1]) % 3]] for a, b in ROWS]
    rows[place] = DAMAGES[damage](rows[place])
    chosen = BidLogSettings()
    try:
        table = parse_table(text_of(rows, "auction,bid,colour"), chosen)
        log = log_of(table, chosen, "damaged")
    except CannotRunError as error:
        assert PLACE.search(str(error)) and "\n" not in str(error)
        return
    assert "colour" in damage
    assert any(note.kind == "left out" and "colour" in note.text for note in log.notes)


def estimated(rows: list[tuple[object, ...]], header: str) -> tuple[float, float, list[float]]:
    """Return the best reserve, the mean usual bid, and quantiles of values, of a log."""
    chosen = BidLogSettings()
    log = log_of(parse_table(text_of(rows, header), chosen), chosen, "log")
    estimator = Estimator.of(log, chosen)
    estimate = estimator.estimate()
    return estimator.unit, estimate.money, estimate.values.tolist()


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(seed=st.randoms(use_true_random=False), factor=st.sampled_from([0.001, 0.5, 3.0, 1e6]))
def test_scale_permutation_and_names_do_not_matter(seed: object, factor: float) -> None:
    """Bids in another unit scale the estimate; other orders and names leave each bit."""
    unit, money, values = estimated(list(ROWS), "auction,bid")
    scaled = estimated([(a, repr(b * factor)) for a, b in ROWS], "auction,bid")
    assert scaled[0] == pytest.approx(factor * unit) and scaled[1] == pytest.approx(factor * money)
    assert scaled[2] == pytest.approx(values)
    mixed = list(ROWS)
    seed.shuffle(mixed)  # type: ignore[attr-defined]
    names = {a: f"n{place}" for place, a in enumerate(sorted({a for a, _ in ROWS}, reverse=True))}
    renamed = [(b, names[a]) for a, b in mixed]
    assert estimated(renamed, "bid,auction") == (unit, money, values)
