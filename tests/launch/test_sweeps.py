"""Tables over a sweep, from run directories made by hand."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from threading import Barrier

import numpy as np
import pandas as pd
import pytest
from omegaconf import OmegaConf

from daedalus.evaluation import leaderboard_figures
from daedalus.launch import sweeps
from daedalus.launch.config.compose import quoted
from daedalus.launch.config.jobs import Launch, jobs_of_sweep
from daedalus.launch.sweeps import collect_sweep, differences_over_seeds
from daedalus.runs.files import locked, read_table
from daedalus.runs.folder import RunFolder
from tests.odd_names import ODD_NAMES


def write_job(
    directory: Path,
    place: int | str,
    rows: list[dict[str, object]],
    *overrides: str,
    confidence: float = 0.95,
) -> None:
    """Leave what a job leaves whose configuration is its overrides."""
    job = start_job(directory, place, *overrides)
    changes = dict(each.split("=", 1) for each in overrides if "resume" not in each)
    evaluation = {"episodes": 40, "confidence": confidence, "resamples": 999}
    config = {"seed": int(changes.pop("seed", 0)), "evaluation": evaluation, "changes": changes}
    OmegaConf.save(config, RunFolder(job).config)
    pd.DataFrame(rows).to_csv(RunFolder(job).summary, index=False)


def start_job(directory: Path, place: int | str, *overrides: str) -> Path:
    """Leave what a job leaves that has just started, and return its folder."""
    job = directory / str(place)
    job.mkdir(parents=True)
    number = len(jobs_of_sweep(directory))
    Launch(list(overrides), number=number, place=str(place)).write(job)
    return job


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


def write_leaderboards(folder: Path, seeds: int, confidence: float = 0.95) -> None:
    """Write jobs of a leaderboard, one for each seed, and the tables over them."""
    for seed in range(seeds):
        rows = leaderboard_rows(0.01 * seed)
        write_job(folder, seed, rows, f"seed={seed}", confidence=confidence)
    collect_sweep(folder)


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw no leaderboard, which takes seconds; one test has its figures."""
    monkeypatch.setattr(leaderboard_figures, "leaderboard_figures", lambda *_: {})


def write_launches(job: Path, *errors: str) -> None:
    launches = [{"error": error} if error else {} for error in errors]
    RunFolder(job).provenance.write_text(json.dumps(launches))


def test_the_table_of_jobs_has_the_state_of_each_that_has_started(tmp_path: Path) -> None:
    settings = [("composite", "seed=2"), ("published", "seed=0"), ("'pub,lished'", "seed=1")]
    jobs = [start_job(tmp_path, n, f"reward={r}", s) for n, (r, s) in enumerate(settings)]
    write_launches(jobs[0], "")
    RunFolder(jobs[0]).finished.touch()
    write_launches(jobs[1], "", "ValueError: too few")
    write_launches(jobs[2], "ValueError: too few", "")
    start_job(tmp_path, "a folder/[of] its own", "seed=3")
    (tmp_path / "4").mkdir()  # Hydra made it, and the job has not started
    collect_sweep(tmp_path)
    table = pd.read_csv(tmp_path / "jobs.csv", keep_default_na=False)
    assert list(table["job"]) == ["0", "1", "2", "a folder/[of] its own"]
    assert list(table["state"]) == ["finished", "failed", "unfinished", "unfinished"]
    assert list(table["error"]) == ["", "ValueError: too few", "", ""]
    assert list(table["seed"]) == [2, 0, 1, 3]  # as each recorded
    assert list(table["reward"]) == ["composite", "published", "pub,lished", ""]


def test_the_tables_keep_the_jobs_of_a_moved_sweep_and_of_no_other(tmp_path: Path) -> None:
    start_job(tmp_path / "outer", 0, "seed=0")
    start_job(tmp_path / "outer" / "inner", 0, "seed=1")
    (tmp_path / "outer").rename(tmp_path / "moved")
    assert [each.place for each in jobs_of_sweep(tmp_path / "moved").values()] == ["0"]


def collect_together(directory: Path, jobs: int, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Let jobs end together; return for each pass over all jobs whether it succeeded.

    The first pass fails.
    """
    passes: list[bool] = []
    met, real = Barrier(jobs), sweeps.job_states

    def locked_together(folder: Path) -> AbstractContextManager[None]:
        met.wait()
        return locked(folder)

    def states(folder: Path) -> pd.DataFrame:
        passes.append(bool(passes))
        if not passes[-1]:
            raise ValueError("killed")
        return real(folder)

    monkeypatch.setattr(sweeps, "locked", locked_together)
    monkeypatch.setattr(sweeps, "job_states", states)
    with ThreadPoolExecutor(jobs) as pool:
        ends = [pool.submit(collect_sweep, directory) for _ in range(jobs)]
    assert sum(end.exception() is not None for end in ends) == 1
    return passes


def test_of_jobs_that_end_together_one_writes_the_tables_for_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        write_job(tmp_path, number, [{"step_ms": 2.0}], f"seed={number}")
    assert collect_together(tmp_path, 4, monkeypatch) == [False, True]  # for all that wait
    assert len(pd.read_csv(tmp_path / "sweep.csv")) == 4


def test_a_resumed_job_replaces_its_rows_and_columns_are_joined(tmp_path: Path) -> None:
    write_job(tmp_path, 0, [{"step_ms": 2.0}], "seed=0")
    write_job(tmp_path, 1, [{"loss": 0.5}], "seed=1")
    collect_sweep(tmp_path)
    pd.DataFrame([{"step_ms": 7.0}]).to_csv(tmp_path / "0" / "summary.csv", index=False)
    collect_sweep(tmp_path)
    table = pd.read_csv(tmp_path / "sweep.csv")
    assert list(table["job"]) == [0, 1]
    assert list(table["step_ms"].dropna()) == [7.0] and list(table["loss"].dropna()) == [0.5]


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_a_repeated_seed_counts_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for number, seed in enumerate((0, 1, 0)):
        write_job(tmp_path, number, leaderboard_rows(0.01 * seed), f"seed={seed}")
    collect_sweep(tmp_path)
    assert (pd.read_csv(tmp_path / "seeds.csv")["seeds"] == 2).all()
    assert (pd.read_csv(tmp_path / "leaderboard.csv")["seeds"] == 2).all()
    assert pd.read_csv(tmp_path / "sweep.csv")["job"].nunique() == 3
    assert "job 2 has the configuration of job 0" in caplog.text


def test_the_seed_is_that_of_the_configuration(tmp_path: Path) -> None:
    for number, (experiment, seed) in enumerate((("one", 4), ("two", 7))):
        write_job(tmp_path, number, [{"mean": 0.5}], f"+experiment={experiment}")
        config = RunFolder(tmp_path / str(number)).config
        config.write_text(config.read_text().replace("seed: 0", f"seed: {seed}"))
    collect_sweep(tmp_path)
    table = pd.read_csv(tmp_path / "sweep.csv")
    assert set(zip(table["experiment"], table["seed"], strict=True)) == {("one", 4), ("two", 7)}


def test_an_override_leaves_a_column_of_its_name_as_it_is(tmp_path: Path) -> None:
    for number, name in enumerate(("heuristic", "planner")):
        rows = [{"designer": each, "mean": 0.5} for each in (name, "random")]
        write_job(tmp_path, number, rows, "seed=0", f"designer={name}")
    collect_sweep(tmp_path)
    table = pd.read_csv(tmp_path / "sweep.csv")
    assert set(table["override.designer"]) == {"heuristic", "planner"}
    assert set(table["designer"]) == {"heuristic", "planner", "random"}


@pytest.mark.parametrize("name", [*ODD_NAMES])
def test_odd_names_stay_in_the_tables(name: str, tmp_path: Path) -> None:
    for seed in range(2):
        rows = [{"designer": each, "mean": 0.1 * seed} for each in (name, "random")]
        settings = f"designer.name={quoted(name)}"
        write_job(tmp_path, seed, rows, settings, f"seed={seed}")
    collect_sweep(tmp_path)
    for table in ("sweep.csv", "seeds.csv"):
        read = read_table(tmp_path / table, "designer.name")
        assert set(read["designer"]) == {name, "random"}
        assert set(read["designer.name"]) == {name}
    assert list(read["seeds"]) == [2, 2]


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


@pytest.mark.slow
def test_a_sweep_of_leaderboards_is_one_leaderboard(tmp_path: Path) -> None:
    write_leaderboards(tmp_path, 3)
    seeds = pd.read_csv(tmp_path / "seeds.csv")
    assert len(seeds) == 2 * 4 and (seeds["seeds"] == 3).all()  # in each population
    totals = pd.read_csv(tmp_path / "leaderboard.csv").set_index("designer")
    assert (totals["seeds"] == 3).all()
    half = 4.302653 * 0.01 / np.sqrt(3)  # t(2), 97.5 %
    lead = totals.loc["best_fixed"]
    assert lead["over_informed_greedy_interval"].startswith("3 seeds and 2 population")
    assert 0.41 - 1.5 * half < lead["over_informed_greedy_low"] < 0.41 - 0.9 * half
    sure = pd.read_csv(tmp_path / "leaderboard_intervals.csv")
    sure = sure.set_index(["designer", "number"]).loc[("best_fixed", "mean_over_informed_greedy")]
    assert sure["half_width_over_seeds"] == pytest.approx(half)
    assert totals.loc["best_fixed", "iqm"] == pytest.approx(0.81)
    drawn = {path.stem for path in (tmp_path / "figures").glob("*.png")}
    assert drawn == {"leaderboard", "scores", "profiles", "intervals", "improvement"}


@pytest.mark.usefixtures("undrawn")
def test_a_designer_that_played_in_some_populations_alone_is_in_no_leaderboard(
    tmp_path: Path,
) -> None:
    for seed in range(2):
        rows = leaderboard_rows(0.01 * seed)
        rows.append(rows[-1] | {"designer": "submitted"})
        write_job(tmp_path, seed, rows, f"seed={seed}")
    collect_sweep(tmp_path)
    totals = pd.read_csv(tmp_path / "leaderboard.csv")
    assert set(totals["designer"]) == {"random", "planner", "informed_greedy", "best_fixed"}


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
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


@pytest.mark.usefixtures("undrawn")
def test_no_leaderboard_of_an_earlier_state_stays(tmp_path: Path) -> None:
    parts: dict[str, list[dict[str, object]]] = {"crowd": [], "scarce": []}
    for row in leaderboard_rows(0.0):
        parts[str(row["population"])].append(row)
    write_job(tmp_path, 0, parts["crowd"], "seed=0", "evaluation.shard=0")
    collect_sweep(tmp_path)
    figure = tmp_path / "figures" / "leaderboard.png"
    figure.parent.mkdir()
    figure.touch()
    other = figure.with_name("of_another_run.png")
    other.touch()
    write_job(tmp_path, 1, parts["scarce"], "seed=1", "evaluation.shard=1")
    collect_sweep(tmp_path)  # no seed has both populations
    assert not [*tmp_path.glob("leaderboard*.csv")] and [*figure.parent.iterdir()] == [other]
    write_job(tmp_path, 2, parts["crowd"], "seed=1", "evaluation.shard=0")
    collect_sweep(tmp_path)
    assert (pd.read_csv(tmp_path / "leaderboard.csv")["seeds"] == 1).all()


@pytest.mark.usefixtures("undrawn")
def test_a_leaderboard_waits_for_all_shards_of_a_seed(tmp_path: Path) -> None:
    for shard, population in enumerate(("crowd", "scarce")):
        rows = [row for row in leaderboard_rows(0.0) if row["population"] == population]
        overrides = ("seed=0", "evaluation.shards=2", f"evaluation.shard={shard}")
        write_job(tmp_path, shard, rows, *overrides)
        collect_sweep(tmp_path)
        assert (tmp_path / "leaderboard.csv").exists() == (shard == 1)


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize(("table", "column"), [("seeds.csv", "mean"), ("leaderboard.csv", "iqm")])
def test_intervals_of_a_sweep_have_the_confidence_of_its_runs(
    table: str, column: str, tmp_path: Path
) -> None:
    widths = []
    for confidence in (0.5, 0.99):
        folder = tmp_path / str(confidence)
        write_leaderboards(folder, 5, confidence)
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
    write_leaderboards(tmp_path, 2, confidence=0.5)
    assert seen == [0.5]


def test_leaderboards_of_several_settings_are_not_mixed(tmp_path: Path) -> None:
    for number, setting in enumerate((0.1, 0.2)):
        write_job(tmp_path, number, leaderboard_rows(0.0), "seed=0", f"other={setting}")
    collect_sweep(tmp_path)
    assert not (tmp_path / "leaderboard.csv").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
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


def test_jobs_without_an_evaluation_have_a_table(tmp_path: Path) -> None:
    for number in (0, 1):
        write_job(tmp_path, number, [{"step_ms": 2.0 + number}], f"seed={number}")
        path = RunFolder(tmp_path / str(number)).config
        config = OmegaConf.load(path)
        del config["evaluation"]
        OmegaConf.save(config, path)
    collect_sweep(tmp_path)
    assert list(pd.read_csv(tmp_path / "sweep.csv")["step_ms"]) == [2.0, 3.0]
