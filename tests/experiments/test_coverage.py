"""The experiment writes the coverage of each kind of log, and goes on where it stopped."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from daedalus.launch.config import compose_config
from experiments import coverage

SMALL = ("tracking=files", "coverage.logs=2", "coverage.resamples=20", "coverage.sales=[60]")


@pytest.mark.slow
def test_it_writes_a_row_for_each_quantity_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = compose_config("+experiment=coverage", *SMALL, "coverage.kinds=[clean,rounded]")
    coverage.main(config, tmp_path)
    table = pd.read_csv(tmp_path / "coverage.csv")
    assert table["kind"].value_counts().to_dict() == {"clean": 5, "rounded": 5}
    assert (table["logs"] == 2).all() and table["coverage"].between(0.0, 1.0).all()
    assert (tmp_path / "figures" / "coverage.png").is_file()
    rows = pd.read_csv(tmp_path / "logs.csv")
    rows[rows["kind"] == "clean"].to_csv(tmp_path / "logs.csv", index=False)
    played: list[str] = []
    cell = coverage._cell
    monkeypatch.setattr(coverage, "_cell", lambda *args: played.append(args[1]) or cell(*args))
    coverage.main(config, tmp_path)
    assert played == ["rounded"]
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "logs.csv"), rows)
