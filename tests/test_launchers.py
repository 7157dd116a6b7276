"""Launchers of sweeps: several jobs on this machine, and jobs of a real Slurm of one node."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pytest

from tests import slurm
from tests.launching import run_here, wait_for

ROOT = Path(__file__).parents[1]
SMALL = "model.hidden_size=32 model.layers=2 model.heads=2 model.intermediate_size=64".split()
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
SHORT = "training.grpo.max_completion_tokens=16 evaluation.episodes=2 evaluation.resamples=100"
SILENT = """defaults: [endpoint]
base_url: http://127.0.0.1:9/v1
model: any
retries: 0
"""
"""A designer that fails when it is asked."""
TRAINING = ["+experiment=smoke", "training.grpo.steps=8", *SHORT.split(), *SMALL, "seed=0,1"]

LOCAL = ["hydra/launcher=local", "hydra.launcher.n_jobs=2"]
SLURM = ["hydra/launcher=slurm", "hydra.launcher.cpus_per_task=1"]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Yield the environment of a Slurm with two cores."""
    if slurm.missing():
        pytest.skip(slurm.missing())
    try:
        with slurm.running(tmp_path_factory.mktemp("slurm")) as environment:
            yield environment
    except slurm.DidNotStartError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which a sweep trained without an interruption, one job after another."""
    folder = tmp_path_factory.mktemp("whole")
    run_here(folder, "-m", "hydra/launcher=basic", *TRAINING, "tracking=files")
    return folder


def launch(folder: Path, environment: dict[str, str], *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(ROOT / "run.py"), "-m", *words, "tracking=files"],
        cwd=folder,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def launch_here(folder: Path, cluster: dict[str, str], *words: str) -> None:
    """Sweep from this process, whose jobs Slurm starts as it does those of another."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLURM_CONF", cluster["SLURM_CONF"])
        run_here(folder, "-m", *SLURM, *words, "tracking=files")


def states(folder: Path) -> list[str]:
    (table,) = folder.glob("outputs/sweeps/*/*/jobs.csv")
    return list(pd.read_csv(table)["state"])


def has_checkpoint(folder: Path, task: int) -> bool:
    """Return whether a job has a complete checkpoint of at least 3 steps."""
    from daedalus.training.checkpoints import completed_steps  # slow to import

    return any(completed_steps(each) >= 3 for each in left(folder, f"{task}/checkpoints/grpo"))


def left(folder: Path, name: str) -> list[Path]:
    """Return what the sweep in a folder left under a name."""
    return sorted(folder.glob(f"outputs/sweeps/*/*/{name}"))


def signals_of(history: Path) -> list[dict[str, float]]:
    """Return the training signals of a run, without its times."""
    steps = json.loads(history.read_text())
    return [{name: step[name] for name in ("step", "reward", "loss")} for step in steps]


def first_steps(log: Path) -> list[float]:
    """Return the times of the steps before the checkpoint, which a run that starts over changes."""
    records = [json.loads(line) for line in log.read_text().splitlines()]
    return [each["generation_seconds"] for each in records if each["phase"] == "grpo"][:3]


def variables_of(process: int) -> dict[str, str]:
    entries = Path(f"/proc/{process}/environ").read_text().split("\0")
    return dict(entry.split("=", 1) for entry in entries if "=" in entry)


def process_of(log: Path) -> int:
    """Return the process that writes a job's log."""
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):  # not ours, or gone
            if link.readlink() == log:
                return int(link.parts[2])
    raise AssertionError(f"no process has {log} open")


def held_at_a_checkpoint(folder: Path) -> list[int]:
    """Stop each of two jobs at a checkpoint, where one waits for the other; return the processes.

    So a few steps are enough: none of them is done before it is killed.
    """
    held: dict[int, int] = {}

    def both() -> bool:
        for task in {0, 1} - held.keys():
            if has_checkpoint(folder, task):
                held[task] = process_of(left(folder, f"{task}/run.log")[0])
                os.kill(held[task], signal.SIGSTOP)
        return len(held) == 2

    wait_for(both)
    return [held[task] for task in range(2)]


@pytest.mark.parametrize("launcher", ["local", "slurm"])
def test_a_job_that_fails_leaves_the_others(
    launcher: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    (tmp_path / "conf" / "designer").mkdir(parents=True)
    (tmp_path / "conf" / "designer" / "silent.yaml").write_text(SILENT)
    words = [f"hydra.searchpath=[file://{tmp_path}/conf]", "+experiment=boxplot"]
    words += ["evaluation.episodes=2", "designer=silent,heuristic"]
    if launcher == "slurm":
        with pytest.raises(SystemExit) as stopped:
            launch_here(tmp_path, request.getfixturevalue("cluster"), *words)
        output = str(stopped.value)
    else:
        sweep = launch(tmp_path, dict(os.environ), *LOCAL, *words)
        output, _ = sweep.communicate(timeout=480)
        assert sweep.returncode == 1
    assert "no server at http://127.0.0.1:9/v1" in output
    (table,) = tmp_path.glob("outputs/sweeps/*/*/jobs.csv")
    jobs = pd.read_csv(table)
    assert list(jobs["designer"]) == ["silent", "heuristic"]
    assert list(jobs["state"]) == ["failed", "finished"]
    assert "no server at http://127.0.0.1:9/v1" in jobs["error"][0]
    assert set(pd.read_csv(table.with_name("sweep.csv"))["job"]) == {1}
    if launcher == "slurm":
        launches = json.loads((table.parent / "1" / "provenance.json").read_text())
        assert launches[-1]["cores"] == 1


def start_at_once(job: str, cluster: dict[str, str]) -> None:
    """Start a job that was queued again, for which Slurm waits two minutes."""

    def asked(*command: str) -> str:
        answer = subprocess.run(command, env=cluster, capture_output=True, text=True)
        return answer.stdout

    wait_for(lambda: "JobState=PENDING" in asked("scontrol", "show", "job", job))
    asked("scontrol", "update", f"JobId={job}", "StartTime=now")


def test_killed_and_requeued_jobs_go_on(
    tmp_path: Path, cluster: dict[str, str], whole: Path
) -> None:
    broken = tmp_path
    waiting = launch(broken, cluster, *SLURM, *TRAINING)
    first, second = held_at_a_checkpoint(broken)
    before = [first_steps(each) for each in left(broken, "*/metrics.jsonl")]
    job = variables_of(second)["SLURM_JOB_ID"]
    os.kill(first, signal.SIGKILL)
    os.kill(second, signal.SIGUSR2)  # as Slurm does before it takes a job's place
    os.kill(second, signal.SIGCONT)
    start_at_once(job, cluster)
    wait_for(lambda: states(broken) == ["unfinished", "finished"])
    waiting.kill()  # without accounting, Slurm does not tell it of the killed job
    launch_here(broken, cluster, *TRAINING, "resume=true")
    assert_went_on(broken, before, whole)


def test_local_jobs_share_the_cores_and_go_on_after_a_kill(tmp_path: Path, whole: Path) -> None:
    environment = dict(os.environ)
    for name in THREADS:
        environment.pop(name, None)
    sweep = launch(tmp_path, environment, *LOCAL, *TRAINING)
    workers = held_at_a_checkpoint(tmp_path)
    assert sorted(workers) == sorted(workers_of(sweep.pid))
    before = [first_steps(each) for each in left(tmp_path, "*/metrics.jsonl")]
    cores = len(os.sched_getaffinity(0))
    for name in THREADS:
        assert {variables_of(each)[name] for each in workers} == {str(max(1, cores // 2))}
    os.kill(workers[0], signal.SIGKILL)
    output, _ = sweep.communicate(timeout=480)
    assert sweep.returncode == 1 and "resume=true" in output and "Traceback" not in output
    basic = ["-m", "hydra/launcher=basic"]  # the test of Slurm resumes in new processes
    run_here(tmp_path, *basic, *TRAINING, "tracking=files", "resume=true")
    assert_went_on(tmp_path, before, whole)


def workers_of(process: int) -> list[int]:
    """Return the processes in which the local launcher runs jobs."""
    found = subprocess.run(["pgrep", "-P", str(process)], capture_output=True, text=True)
    commands = {int(each): Path(f"/proc/{each}/cmdline") for each in found.stdout.split()}
    return [each for each, command in commands.items() if "popen_loky" in command.read_text()]


def assert_went_on(broken: Path, before: list[list[float]], whole: Path) -> None:
    """Check that interrupted jobs kept their first steps, and ended as uninterrupted ones."""
    assert states(broken) == ["finished", "finished"]
    histories = [json.loads(each.read_text()) for each in left(broken, "*/training_history.json")]
    assert before == [[step["generation_seconds"] for step in each[:3]] for each in histories]
    assert left(broken, "sweep.csv")[0].read_text() == left(whole, "sweep.csv")[0].read_text()
    assert [signals_of(each) for each in left(broken, "*/training_history.json")] == [
        signals_of(each) for each in left(whole, "*/training_history.json")
    ]
