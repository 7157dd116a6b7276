"""Asking the designer of the package: a prompt, a mechanism, and what it earns beside others."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from daedalus.evaluation.scale import scale_of
from daedalus.market.mechanism import FIELDS
from daedalus.runs.pretrained import read_pretrained
from experiments import ask
from experiments.build import make_env
from tests.config.composing import composed

SHORT = ["evaluation.episodes=3", "evaluation.resamples=100"]


def test_it_shows_what_the_designer_sets_and_earns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = composed("+experiment=ask", "population=stage4", "seed=5", *SHORT)
    ask.main(config, tmp_path)
    told = capsys.readouterr().out
    assert told.startswith(f"designer: {read_pretrained()}\n\nstage4, seed 5. It reads:\nround_")
    assert all(f" {name} " in told for name in FIELDS)
    assert "averages: {welfare:" in told and "mean R over 3 episodes" in told
    summary = pd.read_csv(tmp_path / "summary.csv", index_col="designer")
    assert list(summary.index) == ["random", "informed_greedy", "best_own", "trained"]
    assert summary.valid["trained"] == 1 and f" {summary['mean']['trained']:.3f} [" in told
    first = pd.read_csv(tmp_path / "steps.csv").query("designer == 'trained'").iloc[0]
    scale = scale_of(make_env(config))
    assert first.auction_type in told and scale is not None


def test_a_population_without_an_oracle_has_no_such_row(tmp_path: Path) -> None:
    config = composed("+experiment=ask", "population=crowd", "market.episode_length=2", *SHORT)
    ask.main(config, tmp_path)
    rows = list(pd.read_csv(tmp_path / "summary.csv").designer)
    assert rows == ["random", "informed_greedy", "trained"]
