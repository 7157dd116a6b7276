"""The experiment plays published experiments and writes what agrees."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from daedalus.lab.studies import tacit_collusion
from daedalus.launch.config import compose_config
from experiments.published_play import main

SMALL = ("designer.candidates=8", "designer.episodes=2", "designer.sweeps=1")


@pytest.mark.slow
def test_it_writes_each_number_beside_its_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tacit_collusion, "ROUNDS", 2000)
    small = (*SMALL, "designer.sweep_episodes=4", "evaluation.episodes=2", "tracking=files")
    main(compose_config("+experiment=published_play", *small), tmp_path)
    found = pd.read_csv(tmp_path / "summary.csv")
    assert found["source"].value_counts().to_dict() == {
        "Dütting et al. 2019": 8,
        "Banchio & Skrzypacz 2022": 5,
        "Akbarpour & Li 2020": 4,
        "Rawat 2023": 2,
    }
    assert found["ours"].notna().all() and found["target"].notna().all()
    assert {path.stem for path in (tmp_path / "figures").iterdir()} >= {"published_play"}
    assert len(pd.read_csv(tmp_path / "myersonnet.csv")) == 4 * 5
