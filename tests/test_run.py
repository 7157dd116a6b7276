"""The command line: its help, its mistakes, and the tables that its sweeps leave."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pandas as pd
import pytest
from joblib.externals.loky.process_executor import TerminatedWorkerError
from submitit.core.utils import FailedSubmissionError, UncompletedJobError

import run as command_line
from daedalus.config import (
    ConfigError,
    compose_config,
    first_screen,
    help_text,
)
from daedalus.config.paths import ROOT


def run(
    *arguments: str, cwd: Path, variables: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "run.py"), *arguments]
    environment = os.environ | (variables or {})
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)


def test_no_arguments_show_how_to_begin(tmp_path: Path) -> None:
    answer = run(cwd=tmp_path)
    assert answer.returncode == 2
    assert answer.stderr.strip() == first_screen().strip()
    assert help_text().startswith(first_screen())
    assert "+experiment=grpo_stage3" in answer.stderr and "Traceback" not in answer.stderr


def test_settings_without_an_experiment_ask_for_one(tmp_path: Path) -> None:
    answer = run("seed=1", cwd=tmp_path)
    assert answer.returncode == 1
    assert answer.stderr.strip().startswith("nothing to run: choose +experiment=NAME")
    assert not list(tmp_path.iterdir())


def test_the_arguments_of_a_function_are_checked_as_the_command_line_is(tmp_path: Path) -> None:
    wrong = ("+experiment=boxplot", "market=classic", "population.strategic.units=1")
    with pytest.raises(ConfigError, match=r"does not read population\.strategic\.units"):
        compose_config(*wrong)
    answer = run(*wrong, cwd=tmp_path)
    assert answer.returncode == 1
    assert "does not read population.strategic.units" in answer.stderr


def test_an_old_name_in_a_file_says_what_it_was_renamed_to(tmp_path: Path) -> None:
    (tmp_path / "experiment").mkdir()
    old = "# @package _global_\ntask: compare\nmarket: { rules: classic }\n"
    (tmp_path / "experiment" / "mine.yaml").write_text(old)
    answer = run(f"hydra.searchpath=[file://{tmp_path}]", "+experiment=mine", cwd=tmp_path)
    assert answer.returncode == 1
    assert "market.rules: renamed to market.name" in answer.stderr


def test_help_and_dry_compose_do_without_the_heavy_libraries() -> None:
    script = (
        "import sys, run; from daedalus.config import help_text, register, to_config\n"
        "from hydra import compose, initialize_config_dir\n"
        "assert 'grpo_stage3' in help_text()\n"
        "register()\n"
        "with initialize_config_dir(str(run.CONF), version_base='1.3'):\n"
        "    to_config(compose('config', overrides=['+experiment=grpo_stage3']))\n"
        "print([name for name in ('torch', 'numba', 'pandas', 'wandb') if name in sys.modules])"
    )
    answer = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"


def test_a_mistake_on_the_command_line_is_one_message(tmp_path: Path) -> None:
    answer = run("+experiment=boxplot", "training.grpo.stepz=3", cwd=tmp_path)
    assert answer.returncode == 1
    assert "Did you mean steps?" in answer.stderr
    assert "Traceback" not in answer.stderr
    assert not list(tmp_path.rglob("*.csv"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["+experiment=smoke", "+training.grpo.lr=1e-4"], "Did you mean training.grpo.learning_r"),
        (["+experiment=boxplot", "+hydra.foo=1", "hydra.run.dir=a/b"], "hydra.foo: no such sett"),
        (["+experiment=boxplot", "designer=null"], "a group takes the name of one of its files"),
        (["+experiment=boxplot", "population=broken"], "broken.yaml"),
        (["+experiment=grpo_stage3", "seed=4294967296"], "seed: 4294967296; give an integer from"),
    ],
)
def test_a_refused_run_is_one_message_and_no_folder(
    arguments: list[str], said: str, tmp_path: Path
) -> None:
    (tmp_path / "conf" / "population").mkdir(parents=True)
    (tmp_path / "conf" / "population" / "broken.yaml").write_text("name: [1")
    (tmp_path / "here").mkdir()
    path = f"hydra.searchpath=[file://{tmp_path}/conf]"
    answer = run(path, *arguments, cwd=tmp_path / "here")
    assert answer.returncode == 1 and said in answer.stderr
    assert "Traceback" not in answer.stderr and len(answer.stderr.splitlines()) <= 5
    assert not list((tmp_path / "here").iterdir())


@pytest.mark.slow
def test_a_refused_job_of_a_sweep_is_in_its_table(tmp_path: Path) -> None:
    answer = run("-m", "+experiment=boxplot", "evaluation.episodes=0", "seed=0", cwd=tmp_path)
    assert answer.returncode == 1 and "evaluation.episodes: 0; give" in answer.stderr
    (job,) = pd.read_csv(next(tmp_path.rglob("jobs.csv"))).to_dict("records")
    assert job["state"] == "failed" and "evaluation.episodes: 0" in job["error"]


def test_a_machine_without_slurm_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    answer = run("-m", "hydra/launcher=slurm", "+experiment=boxplot", "seed=0,1", cwd=tmp_path)
    assert answer.returncode == 1
    assert "this machine has no sbatch" in answer.stderr and "Traceback" not in answer.stderr
    assert not list(tmp_path.iterdir())


def test_a_launcher_without_a_sweep_is_refused(tmp_path: Path) -> None:
    answer = run("hydra/launcher=slurm", "+experiment=boxplot", cwd=tmp_path)
    assert answer.returncode == 1
    assert "add -m" in answer.stderr and "Traceback" not in answer.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["-m", "+experiment=smoke", "seed=0,1"], "-m: several processes train one run"),
        (["--cfg", "job", "+experiment=smoke"], "--cfg: several processes train one run"),
        (["+experiment=boxplot"], "task: compare; only grpo and sft run in several processes"),
    ],
)
def test_what_several_processes_cannot_share_is_refused(
    arguments: list[str], hint: str, tmp_path: Path
) -> None:
    first_of_two = {"LOCAL_RANK": "0", "RANK": "0", "WORLD_SIZE": "2"}
    answer = run(*arguments, f"hydra.run.dir={tmp_path}/run", cwd=tmp_path, variables=first_of_two)
    assert answer.returncode == 1
    assert hint in answer.stderr and "Traceback" not in answer.stderr
    assert not (tmp_path / "run" / "config.yaml").exists()


def test_a_job_that_slurm_lost_says_how_to_go_on() -> None:
    lost, refused = UncompletedJobError("Job 3 did not run"), FailedSubmissionError("no partition")
    assert "Job 3 did not run" in message(lost) and "resume=true" in message(lost)
    assert message(refused) == "no partition"
    killed = message(TerminatedWorkerError("exit codes: SIGKILL(-9)"))
    assert "other jobs stop" in killed and "resume=true" in killed
    with pytest.raises(ValueError, match="a mistake of ours"):
        message(ValueError("a mistake of ours"))


def message(error: Exception) -> str:
    """Return what the command line says of an error; raise it if it needs a traceback."""
    with patch.object(command_line, "main", side_effect=error), patch("sys.argv", ["run.py", "x"]):
        with pytest.raises(SystemExit) as stopped:
            command_line.cli()
    return str(stopped.value)


@pytest.mark.slow
def test_sweep_leaves_one_tidy_table(tmp_path: Path) -> None:
    keys = ["population=stage0,stage1", "seed=0,1", "evaluation.episodes=4", "tracking=files"]
    answer = run("-m", "+experiment=baselines", *keys, cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    tables = list(tmp_path.glob("outputs/sweeps/baselines/*/sweep.csv"))
    assert len(tables) == 1
    table = pd.read_csv(tables[0])
    assert len(table) == 4 * 4  # jobs x designers
    assert set(zip(table["population"], table["seed"], strict=True)) == {
        (stage, seed) for stage in ("stage0", "stage1") for seed in (0, 1)
    }
    assert table.groupby(["population", "seed"])["designer"].nunique().eq(4).all()
    seeds = pd.read_csv(tables[0].with_name("seeds.csv"))
    assert len(seeds) == 2 * 4  # populations x designers
    assert (seeds["seeds"] == 2).all()
    first = table[(table["population"] == "stage0") & (table["designer"] == "random")]
    assert seeds.loc[0, "mean"] == pytest.approx(first["mean"].mean())
    assert (seeds["mean_low"] <= seeds["mean"]).all() and (
        seeds["mean"] <= seeds["mean_high"]
    ).all()


@pytest.mark.slow
def test_sweeping_the_designer_keeps_both_columns(tmp_path: Path) -> None:
    keys = ["designer=heuristic,random_published", "evaluation.episodes=4", "tracking=files"]
    answer = run("-m", "+experiment=boxplot", *keys, cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    table = pd.read_csv(next(tmp_path.glob("outputs/sweeps/boxplot/*/sweep.csv")))
    assert set(table["override.designer"]) == {"heuristic", "random_published"}
    assert {"heuristic", "random_published", "random"} <= set(table["designer"])


@pytest.mark.slow
def test_a_changed_baseline_is_played_beside_the_shipped_one(tmp_path: Path) -> None:
    keys = ["designer.mechanism.reserve_price=0.9", "evaluation.episodes=4", "tracking=files"]
    answer = run("+experiment=boxplot", *keys, cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    table = pd.read_csv(next(tmp_path.glob("outputs/boxplot/*/summary.csv")))
    means = table.set_index("designer")["mean"]
    assert means["informed_greedy_changed"] < 0.1 < means["informed_greedy"]
