"""Tables over a sweep, from run directories made by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from omegaconf import OmegaConf

from daedalus.evaluation import leaderboard_figures
from daedalus.sweeps import collect_sweep, differences_over_seeds


def write_job(
    directory: Path,
    number: int,
    rows: list[dict[str, object]],
    *overrides: str,
    confidence: float = 0.95,
) -> None:
    hydra = directory / str(number) / ".hydra"
    hydra.mkdir(parents=True)
    evaluation = {"episodes": 40, "confidence": confidence, "resamples": 999}
    OmegaConf.save({"evaluation": evaluation}, directory / str(number) / "config.yaml")
    (hydra / "overrides.yaml").write_text("".join(f"- {each}\n" for each in overrides))
    pd.DataFrame(rows).to_csv(directory / str(number) / "summary.csv", index=False)
    write_sweep(directory, "seed=0")


def write_sweep(directory: Path, *overrides: str) -> None:
    """Write what Hydra writes before the first job."""
    OmegaConf.save({"hydra": {"overrides": {"task": overrides}}}, directory / "multirun.yaml")


def leaderboard_rows(gain: float) -> list[dict[str, object]]:
    scores = {"random": 0.0, "planner": 1.0, "informed_greedy": 0.4, "best_fixed": 0.8 + gain}
    return [
        {
            "designer": name,
            "mean": 0.2 + 0.3 * score,
            "valid": 1.0,
            "population": population,
            "normalised": score,
        }
        for population in ("crowd", "scarce")
        for name, score in scores.items()
    ]


def write_launches(job: Path, *errors: str) -> None:
    job.mkdir()
    launches = [{"error": error} if error else {} for error in errors]
    (job / "provenance.json").write_text(json.dumps(launches))


def test_the_table_of_jobs_has_the_state_of_each(tmp_path: Path) -> None:
    write_sweep(tmp_path, "+experiment=search", "seed=range(3)", "reward=composite,published")
    write_launches(tmp_path / "0", "")
    (tmp_path / "0" / "finished").touch()
    write_launches(tmp_path / "1", "", "ValueError: too few")
    write_launches(tmp_path / "2", "ValueError: too few", "")
    (tmp_path / "3").mkdir()
    collect_sweep(tmp_path)
    jobs = pd.read_csv(tmp_path / "jobs.csv", keep_default_na=False)
    assert list(jobs["state"]) == [
        "finished", "failed", "unfinished", "unfinished", "waiting", "waiting",
    ]  # fmt: skip
    assert list(jobs["error"]) == ["", "ValueError: too few", "", "", "", ""]
    assert list(jobs["seed"]) == [0, 0, 1, 1, 2, 2]
    assert list(jobs["reward"][:2]) == ["composite", "published"]
    assert set(jobs["experiment"]) == {"search"} and list(jobs["job"]) == list(range(6))


def test_seeds_are_replicates_within_each_population(tmp_path: Path) -> None:
    for seed in range(3):
        write_job(tmp_path, seed, leaderboard_rows(0.01 * seed), f"seed={seed}")
    collect_sweep(tmp_path)
    seeds = pd.read_csv(tmp_path / "seeds.csv")
    assert len(seeds) == 2 * 4
    assert (seeds["seeds"] == 3).all()


def write_comparisons(folder: Path, *seeds: int) -> None:
    """Write jobs that compare two designers, one job for each seed."""
    for number, seed in enumerate(seeds):
        gain = 0.02 * seed
        rows = [{"designer": "base", "mean": 0.4}, {"designer": "trained", "mean": 0.4 + gain}]
        write_job(folder, number, rows, f"seed={seed}")
        pair = {"designer": "trained", "reference": "base", "difference": gain, "improves": True}
        pd.DataFrame([pair]).to_csv(folder / str(number) / "differences.csv", index=False)
    collect_sweep(folder)


def test_intervals_over_seeds_are_students_t(tmp_path: Path) -> None:
    write_comparisons(tmp_path, 1, 2)
    seeds = pd.read_csv(tmp_path / "seeds.csv").set_index("designer").loc["trained"]
    half = 12.7062 * 0.01  # t(1), 97.5 %; the bootstrap interval was [lowest, highest]
    assert seeds["mean"] == pytest.approx(0.43)
    assert seeds[["mean_low", "mean_high"]].tolist() == pytest.approx([0.43 - half, 0.43 + half])
    (pair,) = pd.read_csv(tmp_path / "seed_differences.csv").to_dict("records")
    assert (pair["designer"], pair["reference"], pair["seeds"]) == ("trained", "base", 2)
    assert (pair["difference_low"], pair["improves"]) == (pytest.approx(0.03 - half), False)


def test_differences_over_seeds_say_when_a_designer_improves(tmp_path: Path) -> None:
    write_comparisons(tmp_path, 2, 3, 4, 3)  # seed 3 ran twice and counts once
    (pair,) = pd.read_csv(tmp_path / "seed_differences.csv").to_dict("records")
    half = 4.302653 * 0.02 / np.sqrt(3)  # t(2), 97.5 %
    assert (pair["seeds"], pair["improves"]) == (3, True)
    assert pair["difference_low"] == pytest.approx(0.06 - half, abs=1e-6)
    seeds = pd.read_csv(tmp_path / "seeds.csv").set_index("designer")["seeds"]
    assert seeds.to_dict() == {"base": 3, "trained": 3}


@pytest.mark.filterwarnings("error")
def test_one_seed_has_no_interval_and_supports_no_claim() -> None:
    rows = [{"designer": "trained", "reference": "base", "difference": 0.1, "improves": True}]
    table = pd.DataFrame(rows).assign(seed=[4], lr=[0.1])
    (pair,) = differences_over_seeds(table, ["seed", "lr"], 0.95).to_dict("records")
    assert (pair["seeds"], pair["difference"], pair["lr"]) == (1, 0.1, 0.1)
    assert all(np.isnan(pair[each]) for each in ("difference_low", "difference_high", "improves"))


def test_a_sweep_of_leaderboards_is_one_leaderboard(tmp_path: Path) -> None:
    for seed in range(3):
        write_job(tmp_path, seed, leaderboard_rows(0.01 * seed), f"seed={seed}")
    collect_sweep(tmp_path)
    totals = pd.read_csv(tmp_path / "leaderboard.csv").set_index("designer")
    assert (totals["seeds"] == 3).all()
    half = 4.302653 * 0.01 / np.sqrt(3)  # t(2), 97.5 %
    assert totals.loc["best_fixed", "over_informed_greedy_low"] == pytest.approx(0.41 - half)
    assert totals.loc["best_fixed", "iqm"] == pytest.approx(0.81)
    drawn = {path.stem for path in (tmp_path / "figures").glob("*.png")}
    assert drawn == {"leaderboard", "scores", "profiles", "intervals", "improvement"}


def test_jobs_that_share_populations_are_the_leaderboard_of_whole_jobs(tmp_path: Path) -> None:
    whole, shared = tmp_path / "whole", tmp_path / "shared"
    rng, number = np.random.default_rng(0), 0
    for seed in range(3):
        rows = [
            row | {"seed": seed, "valid": rng.random()} for row in leaderboard_rows(0.01 * seed)
        ]
        write_job(whole, seed, rows, f"seed={seed}")
        for population, shard in (("scarce", 1), ("crowd", 0)):
            mine = [row for row in rows if row["population"] == population]
            write_job(shared, number, mine, f"seed={seed}", f"evaluation.shard={shard}")
            collect_sweep(shared)
            number += 1
            known = pd.read_csv(shared / "leaderboard.csv")["seeds"]
            assert (known == max(1, seed + 1 - number % 2)).all()  # seeds without a gap
    collect_sweep(whole)
    one, other = (pd.read_csv(each / "leaderboard.csv") for each in (whole, shared))
    pd.testing.assert_frame_equal(one, other, check_exact=True)


@pytest.mark.parametrize(("table", "column"), [("seeds.csv", "mean"), ("leaderboard.csv", "iqm")])
def test_intervals_of_a_sweep_have_the_confidence_of_its_runs(
    table: str, column: str, tmp_path: Path
) -> None:
    widths = []
    for confidence in (0.5, 0.99):
        folder = tmp_path / str(confidence)
        for seed in range(5):
            rows = leaderboard_rows(0.01 * seed)
            write_job(folder, seed, rows, f"seed={seed}", confidence=confidence)
        collect_sweep(folder)
        row = pd.read_csv(folder / table).set_index("designer").loc[["best_fixed"]].iloc[0]
        widths.append(row[f"{column}_high"] - row[f"{column}_low"])
    assert widths[0] < widths[1]


def test_figures_of_a_sweep_have_the_settings_of_its_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def note(scores: pd.DataFrame, totals: pd.DataFrame, confidence: float) -> dict:
        seen.append(confidence)
        return {}

    monkeypatch.setattr(leaderboard_figures, "leaderboard_figures", note)
    for seed in range(2):
        write_job(tmp_path, seed, leaderboard_rows(0.0), f"seed={seed}", confidence=0.5)
    collect_sweep(tmp_path)
    assert seen == [0.5]


def test_leaderboards_of_several_settings_are_not_mixed(tmp_path: Path) -> None:
    for number, setting in enumerate((0.1, 0.2)):
        write_job(tmp_path, number, leaderboard_rows(0.0), "seed=0", f"other={setting}")
    collect_sweep(tmp_path)
    assert not (tmp_path / "leaderboard.csv").exists()


def test_overrides_that_follow_the_seed_are_one_setting(tmp_path: Path) -> None:
    follows = "designer.checkpoint=${run_of_seed:outputs/sweeps/grpo_mixture/now}/model"
    for seed in range(3):
        rows = [row | {"seed": seed} for row in leaderboard_rows(0.01 * seed)]
        write_job(tmp_path, seed, rows, f"seed={seed}", follows, "resume=true", "workers=2")
    collect_sweep(tmp_path)
    assert not {"resume", "workers"} & set(pd.read_csv(tmp_path / "sweep.csv"))
    assert list(pd.read_csv(tmp_path / "sweep.csv").filter(like="seed")) == ["seed"]
    assert (pd.read_csv(tmp_path / "seeds.csv")["seeds"] == 3).all()
    assert (pd.read_csv(tmp_path / "leaderboard.csv")["seeds"] == 3).all()
