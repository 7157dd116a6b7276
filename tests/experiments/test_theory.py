"""The experiment writes its table and figures."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pandas as pd
import pytest

from daedalus.lab.theory.check_rows import Row
from daedalus.lab.theory.revenue_checks import CASES, GRID
from daedalus.launch.config.compose import compose_config
from experiments.theory import main


@pytest.mark.slow
def test_the_experiment_writes_its_table_and_figures(tmp_path: Path) -> None:
    config = compose_config("+experiment=theory", "evaluation.episodes=2", "tracking=files")
    main(config, tmp_path)
    assert list(pd.read_csv(tmp_path / "summary.csv")) == [
        field.name for field in dataclasses.fields(Row)
    ]
    assert len(pd.read_csv(tmp_path / "reserves.csv")) == len(CASES) * len(GRID)
    figures = sorted(path.stem for path in (tmp_path / "figures").glob("*.png"))
    assert figures == ["learned_bids", "reserves"]
