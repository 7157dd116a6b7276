"""Tables over a sweep, from run directories made by hand."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from daedalus.sweeps import collect_sweep


def write_job(directory: Path, number: int, rows: list[dict[str, object]], *overrides: str) -> None:
    hydra = directory / str(number) / ".hydra"
    hydra.mkdir(parents=True)
    (hydra / "overrides.yaml").write_text("".join(f"- {each}\n" for each in overrides))
    pd.DataFrame(rows).to_csv(directory / str(number) / "summary.csv", index=False)


def leaderboard_rows(gain: float) -> list[dict[str, object]]:
    scores = {"random": 0.0, "planner": 1.0, "informed_greedy": 0.4, "best_fixed": 0.8 + gain}
    return [
        {"designer": name, "mean": 0.2 + 0.3 * score, "population": who, "normalised": score}
        for who in ("crowd", "scarce")
        for name, score in scores.items()
    ]


def test_seeds_are_replicates_within_each_population(tmp_path: Path) -> None:
    for seed in range(3):
        write_job(tmp_path, seed, leaderboard_rows(0.01 * seed), f"seed={seed}")
    collect_sweep(tmp_path)
    seeds = pd.read_csv(tmp_path / "seeds.csv")
    assert len(seeds) == 2 * 4
    assert (seeds["seeds"] == 3).all()


def test_a_sweep_of_leaderboards_is_one_leaderboard(tmp_path: Path) -> None:
    for seed in range(3):
        write_job(tmp_path, seed, leaderboard_rows(0.01 * seed), f"seed={seed}")
    collect_sweep(tmp_path)
    totals = pd.read_csv(tmp_path / "leaderboard.csv").set_index("designer")
    assert (totals["seeds"] == 3).all()
    assert totals.loc["best_fixed", "over_informed_greedy_low"] > 0.39
    assert totals.loc["best_fixed", "iqm"] == pytest.approx(0.81)


def test_leaderboards_of_several_settings_are_not_mixed(tmp_path: Path) -> None:
    for number, setting in enumerate((0.1, 0.2)):
        write_job(tmp_path, number, leaderboard_rows(0.0), "seed=0", f"other={setting}")
    collect_sweep(tmp_path)
    assert not (tmp_path / "leaderboard.csv").exists()
