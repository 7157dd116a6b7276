"""A file of mechanisms is read whole and checked, and a wrong one says what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from daedalus.market.mechanism import FIELDS, Mechanism
from daedalus.market.mechanism_table import read_mechanisms
from daedalus.training.settings import PortfolioSettings

HEADER = ",".join(FIELDS)
ROW = ",".join(map(str, Mechanism(reserve_price=0.18).to_dict().values()))


def changed(old: str, new: str) -> str:
    return f"{HEADER}\n{ROW.replace(old, new)}\n"


def test_a_table_is_read_in_order(tmp_path: Path) -> None:
    other = ROW.replace("second_price", "first_price")
    (tmp_path / "a.csv").write_text(f"{HEADER}\n{ROW}\n{other}\n")
    mechanisms = read_mechanisms(tmp_path / "a.csv")
    assert mechanisms == [
        Mechanism(reserve_price=0.18),
        Mechanism(auction_type="first_price", reserve_price=0.18),
    ]
    assert PortfolioSettings(populations=1, file=str(tmp_path / "a.csv")).file


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("auction_type,reserve_price\nvcg,0.1\n", "lacks the columns reveal_reserve, reveal_comp"),
        (f"{HEADER},lr\n{ROW},1\n", r"has other columns \(lr\)"),
        (f"{HEADER}\n", "has no mechanism"),
        ("", "lacks the columns auction_type"),
        (f"{HEADER}\n{ROW},5\n", "line 2: 12 cells; give one for each of the 11 columns of line 1"),
        (f"{HEADER}\n{ROW}\n{ROW.rpartition(',')[0]}\n", "line 3: 10 cells; give one"),
        (changed("0.18", "5"), "line 2, column reserve_price: 5.0 is not allowed; give"),
        (changed("0.18", "nan"), "line 2, column reserve_price: 'nan' is not allowed; give a nu"),
        (changed("True", ""), "line 2, column reveal_clearing_price: '' is not allowed; write"),
        (changed("second_price", "dutch"), "line 2, column auction_type: 'dutch' is not"),
        (b"\xff\xfe\x00", "is no CSV file"),
        (b"a,b\x00,c\n1,2,3\n", "is no CSV file|lacks the columns"),
    ],
)
def test_another_file_is_refused(content: str | bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "portfolio.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=said):
        read_mechanisms(path)
    with pytest.raises(ValueError, match=r"^file: .*; give a run's portfolio\.csv, or null"):
        PortfolioSettings(populations=1, file=str(path))
