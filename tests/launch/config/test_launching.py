"""What Hydra launches leaves true tables, and what it cannot launch is refused in one sentence."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from daedalus.design.designers.random import RandomSettings
from daedalus.launch.config.compose import quoted
from daedalus.launch.config.jobs import jobs_of_sweep
from daedalus.launch.config.task_parts import Task
from daedalus.runs.files import read_table
from experiments import compare
from tests.launching import Start, starter

MINE = """# @package _global_
defaults: [boxplot, override /tracking: files]
hydra: { mode: MULTIRUN, sweeper: { params: { seed: "0,13" } } }
"""


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Start:
    return starter(tmp_path, monkeypatch)


def jobs(sweep: Path) -> pd.DataFrame:
    return read_table(sweep / "jobs.csv").set_index("job", drop=False)


def only_sweep(folder: Path) -> Path:
    (sweep,) = folder.glob("outputs/sweeps/*/*")
    return sweep


@pytest.mark.slow
def test_a_shuffled_sweep_says_which_job_had_which_seed_and_goes_on(
    start: Start, tmp_path: Path
) -> None:
    with pytest.raises(SystemExit, match="no luck"):
        start("-m", "seed=shuffle(3,13,2)")
    sweep = only_sweep(tmp_path)
    first = jobs(sweep)
    assert sorted(first["seed"]) == [2, 3, 13]
    failed = first["seed"] == 13
    assert list(first["state"]) == ["failed" if each else "finished" for each in failed]
    assert list(first["error"] == "RuntimeError: no luck") == list(failed)
    table = read_table(sweep / "sweep.csv")
    assert (first.loc[table["job"], "seed"].to_numpy() == table["seed"]).all()
    assert set(read_table(sweep / "seeds.csv")["designer"]) == {"random", "null"}
    with pytest.raises(SystemExit, match="no luck"):
        start("-m", "seed=shuffle(5,13,2)", "resume=true")
    assert only_sweep(tmp_path) == sweep
    again = jobs(sweep)
    assert sorted(again["seed"]) == [2, 3, 5, 13]
    assert (again.loc[first["job"], "seed"] == first["seed"]).all()  # each in its own folder


@pytest.mark.slow
def test_a_sweep_from_an_experiment_file_has_all_its_jobs(start: Start, tmp_path: Path) -> None:
    (tmp_path / "conf" / "experiment").mkdir(parents=True)
    (tmp_path / "conf" / "experiment" / "mine.yaml").write_text(MINE)
    with pytest.raises(SystemExit, match="no luck"):
        start(f"--config-dir={tmp_path}/conf", "+experiment=mine")
    sweep = only_sweep(tmp_path)
    table = jobs(sweep)
    sources = [launch.sources for launch in jobs_of_sweep(sweep).values()]
    assert sources == 2 * [[f"file://{tmp_path}/conf"]]
    assert list(table["seed"]) == [0, 13]
    assert list(table["state"]) == ["finished", "failed"]


@pytest.mark.slow
def test_populations_by_pattern_in_folders_of_one_s_own(start: Start, tmp_path: Path) -> None:
    own = ["hydra.output_subdir=null", "hydra.sweep.dir='my [sweep]'"]
    own.append("hydra.sweep.subdir='p=${population.name}/[${hydra.job.num}]'")
    own += ["hydra.mode=MULTIRUN", "hydra/launcher=local", "hydra.launcher.n_jobs=1"]
    start("population=glob(stage*,exclude=[stage2,stage3,stage4])", *own)
    sweep = tmp_path / "my [sweep]"
    assert list(jobs(sweep)["job"]) == ["p=stage0/[0]", "p=stage1/[1]"]
    assert list(read_table(sweep / "sweep.csv")["population"]) == ["stage0"] * 2 + ["stage1"] * 2


@pytest.mark.filterwarnings("error::UserWarning")
@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["hydra/launcher='slurm'", "hydra.mode=RUN"], "add -m"),
        (["hydra.mode=MULTIRUN", "hydra/launcher=submitit_slurm"], "submitit_slurm: this machine"),
        (["-m", "seed=0", "hydra.run.dir=a"], "hydra.run.dir is read by single runs alone: set hy"),
        (["hydra.sweep.dir=a"], "hydra.sweep.dir is read by sweeps alone: add -m"),
        (["--multirun", "seed=range(0)", "resume=true"], "resume=true: a sweep without a job"),
        pytest.param(
            *(["-m", "population=glob(nothing*)"], "a sweep without a job"), marks=pytest.mark.slow
        ),
        pytest.param(
            *(["-m", "seed=interval(0,3)"], "does not support sweep type"), marks=pytest.mark.slow
        ),
        pytest.param(
            *(["-m", "seed=0", "hydra.sweep.subdir=../x"], "hydra.sweep.subdir: ../x; give each"),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_what_cannot_be_launched_is_refused(
    arguments: list[str], hint: str, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit) as refused:
        start(*arguments)
    assert hint in str(refused.value)
    assert not list(tmp_path.rglob("*.csv"))
    assert "without a job" not in hint or not list(tmp_path.iterdir())


FOLDER = "it's [/b] $x$, a=b ü"


@pytest.mark.slow
def test_odd_names_go_through_a_whole_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / FOLDER / "population").mkdir(parents=True)
    population = 'defaults: [stage1, _self_]\nname: "007"\n'
    (tmp_path / FOLDER / "population" / "007.yaml").write_text(population)
    names = ["NA", "1e3", "True", "$\\x$", "a[/b]c", 'so "so", a|b']
    play = compare.main

    def with_names(config: Task, out: Path) -> None:
        config.evaluation.baselines |= dict.fromkeys(names, RandomSettings())
        play(config, out)

    start = starter(tmp_path, monkeypatch, with_names)
    own = [f"hydra.searchpath=[{quoted(f'file://{tmp_path}/{FOLDER}')}]", "population=007"]
    own += [f"hydra.sweep.dir={quoted(f'{FOLDER} sweep')}", "hydra.sweep.subdir='[/x] ${seed}'"]
    own += ["evaluation.episodes=2", "evaluation.resamples=100", "market.episode_length=2"]
    start("-m", *own, "seed=0,1", "+designer@evaluation.baselines.null=random")
    sweep = tmp_path / f"{FOLDER} sweep"
    for table in ("seeds.csv", "sweep.csv", "[/x] 0/summary.csv", "[/x] 1/episodes.csv"):
        assert {*names, "null"} <= set(read_table(sweep / table)["designer"])
    assert set(read_table(sweep / "sweep.csv")["population"]) == {"007"}
    shown = capsys.readouterr().out
    assert all(f"│ {name} " in shown for name in names)
    assert str(sweep / "[/x] 0" / "figures" / "boxplot.png") in shown
    assert (sweep / "[/x] 0" / "figures" / "boxplot.png").exists()
