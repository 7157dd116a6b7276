"""The command line: its help, its mistakes, and the tables that its sweeps leave."""

from __future__ import annotations

import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pandas as pd
import pytest
from joblib.externals.loky.process_executor import TerminatedWorkerError
from omegaconf import OmegaConf
from submitit.core.utils import FailedSubmissionError, UncompletedJobError

from daedalus.launch import command_line
from daedalus.launch.config.compose import compose_both
from daedalus.launch.config.help import first_screen, help_text
from daedalus.launch.config.paths import ROOT
from daedalus.launch.config.task_parts import Task
from daedalus.runs.folder import RunFolder
from tests import forked
from tests.launch.config.composing import own_experiment
from tests.launching import wait_for


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command line in a new process."""
    command = [sys.executable, str(ROOT / "run.py"), *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True)


def fork(
    *arguments: str, cwd: Path, variables: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run it in a process that need not import, once another slow test has started the server."""
    return forked.run("run.py", *arguments, cwd=cwd, environment=os.environ | (variables or {}))


def test_no_arguments_show_how_to_begin(tmp_path: Path) -> None:
    answer = run(cwd=tmp_path)
    assert answer.returncode == 2
    said = answer.stderr.removeprefix("Reading the settings ...\n")  # said on a busy machine
    assert said.strip() == first_screen().strip()
    assert help_text().startswith(first_screen())
    assert "+experiment=grpo_stage3" in answer.stderr and "Traceback" not in answer.stderr


def test_a_help_that_cannot_be_written_is_said_in_a_sentence(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, str(ROOT / "run.py"), "--help"]
        answer = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert answer.returncode and "No space left" in answer.stderr.splitlines()[0]


@pytest.mark.slow
def test_a_folder_that_cannot_be_written_is_said_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir(mode=0o500)
    place = "kept" if os.getuid() else "/sys"  # root may write everywhere but there
    answer = fork("+experiment=boxplot", f"hydra.run.dir={place}/run", cwd=tmp_path)
    told = answer.stderr.strip().splitlines()[-1]
    assert answer.returncode == 1 and f"{place}/run: " in told
    assert "give access to it, or another folder with hydra.run.dir=FOLDER" in told


@pytest.mark.slow
def test_a_first_word_is_the_name_of_an_experiment(tmp_path: Path) -> None:
    told = run("baselines", "seed=3", "--cfg", "job", cwd=tmp_path).stdout
    asked = compose_both("+experiment=baselines", "seed=3")[0]
    assert OmegaConf.create(told) == asked and asked.seed == 3
    answer = run("baseline", cwd=tmp_path)
    assert answer.returncode == 1 and "Did you mean baselines?" in answer.stderr


@pytest.mark.parametrize(
    "options",
    [["--config-dir", "."], ["--config-dir=."], ["-cd=."], ["--config-d", "."], ["--cfg", "job"]],
)
def test_what_a_task_does_not_read_is_told_whatever_options_stand_beside_it(
    options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_experiment(tmp_path, "# @package _global_\ndefaults: [override /task: theory]\n")
    name = "theory" if "--cfg" in options else "mine"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", "")
    words = [f"+experiment={name}", "market=classic", *options]
    monkeypatch.setattr(sys, "argv", ["run.py", *words])
    with pytest.raises(SystemExit, match="market=classic: theory does not read market; leave it"):
        command_line.cli()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["+experiment=boxplot", "+hydra.foo=1", "hydra.run.dir=a/b"], "hydra.foo: no such sett"),
        (["+experiment=boxplot", ""], "an empty word"),
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
    answer = fork(path, *arguments, cwd=tmp_path / "here")
    assert answer.returncode == 1 and said in answer.stderr
    assert "Traceback" not in answer.stderr and len(answer.stderr.splitlines()) <= 5
    assert not list((tmp_path / "here").iterdir())


@pytest.mark.slow
def test_a_refused_job_of_a_sweep_is_in_its_table(tmp_path: Path) -> None:
    answer = fork("-m", "+experiment=boxplot", "evaluation.episodes=0", "seed=0", cwd=tmp_path)
    assert answer.returncode == 1 and "evaluation.episodes: 0; give" in answer.stderr
    (job,) = pd.read_csv(next(tmp_path.rglob("jobs.csv"))).to_dict("records")
    assert job["state"] == "failed" and "evaluation.episodes: 0" in job["error"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["-m", "+experiment=smoke", "seed=0,1"], "-m: several processes train one run"),
        (["--cfg", "job", "+experiment=smoke"], "--cfg: several processes train one run"),
        (["+experiment=boxplot"], "task: compare; several processes run only grpo. Start"),
    ],
)
def test_what_several_processes_cannot_share_is_refused(
    arguments: list[str], hint: str, tmp_path: Path
) -> None:
    first_of_two = {"LOCAL_RANK": "0", "RANK": "0", "WORLD_SIZE": "2"}
    answer = fork(*arguments, f"hydra.run.dir={tmp_path}/run", cwd=tmp_path, variables=first_of_two)
    assert answer.returncode == 1
    assert hint in answer.stderr and "Traceback" not in answer.stderr
    assert not (tmp_path / "run" / "config.yaml").exists()


def test_a_job_that_slurm_lost_says_how_to_go_on() -> None:
    lost, refused = UncompletedJobError("Job 3 did not run"), FailedSubmissionError("no partition")
    assert "Job 3 did not run" in message(lost) and "resume=true" in message(lost)
    assert message(refused) == "no partition"
    killed = message(TerminatedWorkerError("exit codes: SIGKILL(-9)"))
    assert "other jobs stop" in killed and "resume=true" in killed
    mistake = message(ValueError("a mistake of ours"))
    assert mistake.startswith("ValueError: a mistake of ours (")
    assert mistake.endswith("DAEDALUS_TRACEBACK=1 shows the traceback")


def message(error: Exception) -> str:
    """Return what the command line says of an error."""
    with patch.object(command_line, "main", side_effect=error), patch("sys.argv", ["run.py", "x"]):
        with pytest.raises(SystemExit) as stopped:
            command_line.cli()
    return str(stopped.value)


QUICK = "tracking=files evaluation.episodes=4 evaluation.resamples=200".split()
QUIET = ["hydra/job_logging=none", "hydra/hydra_logging=none"]


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., str]:
    """Run boxplot in ``run`` here, in this process, to its failure; return what it says."""
    monkeypatch.setenv("PYTHONPATH", "")
    monkeypatch.chdir(tmp_path)

    def end(*arguments: str) -> str:
        where = [] if "-m" in arguments else ["hydra.run.dir=run"]
        words = ["run.py", *arguments, "+experiment=boxplot", *where, *QUICK, *QUIET]
        monkeypatch.setattr(sys, "argv", words)
        monkeypatch.setattr(sys, "orig_argv", ["python", *words])
        with pytest.raises(SystemExit) as stopped:
            command_line.cli()
        return str(stopped.value)

    return end


def fail(*_: object) -> None:
    raise ZeroDivisionError("no bidders\nto divide by")


@pytest.mark.slow
def test_a_failing_designer_is_one_sentence_and_its_traceback_is_kept(
    ended: Callable[..., str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("daedalus.design.designers.random.RandomDesigner.propose", fail)
    told = ended()
    log = Path.cwd() / "run" / "run.log"
    assert told.startswith("designer random failed: ZeroDivisionError: no bidders to divide by (")
    assert told.endswith(f"line {fail.__code__.co_firstlineno + 1}). The traceback is in {log}")
    assert log.read_text().startswith("Traceback") and "in play_episodes" in log.read_text()
    (launch,) = json.loads(Path("run/provenance.json").read_text())
    assert launch["error"] == "ZeroDivisionError: no bidders\nto divide by"
    gc.collect()
    assert "Traceback" not in capfd.readouterr().err
    monkeypatch.setenv("DAEDALUS_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        ended()


@pytest.mark.slow
def test_a_failed_job_of_a_sweep_says_the_same(
    ended: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("experiments.compare.main", fail)
    told = ended("-m", "seed=0,1")
    (sweep,) = Path.cwd().glob("outputs/sweeps/boxplot/*")
    assert told.endswith(f"The traceback is in {sweep}/0/run.log")
    assert list(pd.read_csv(sweep / "jobs.csv")["state"]) == ["failed", "failed"]


@pytest.mark.slow
def test_an_endpoint_without_a_server_is_one_sentence(ended: Callable[..., str]) -> None:
    server = ["designer=endpoint", "designer.model=x", "designer.retries=0"]
    told = ended(*server, "designer.base_url=http://127.0.0.1:9/v1")
    assert told.startswith("designer endpoint failed: base_url: no server at http://127.0.0.1:9/v1")
    assert "EndpointError" in Path("run/run.log").read_text()
    shutil.rmtree("run")
    unset = ended(*server, "designer.api_key_variable=UNSET_KEY")
    assert "UNSET_KEY is not set; run `export UNSET_KEY=KEY`" in unset and "\n" not in unset


@pytest.mark.parametrize("kept", [False, True])
def test_a_stopped_run_says_what_goes_on(
    kept: bool,
    ended: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    def stop(config: Task, out: Path) -> None:
        if kept:
            RunFolder(out).portfolio.touch()
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("experiments.compare.main", stop)
    monkeypatch.setattr(os, "_exit", sys.exit)
    assert ended("seed=1", "resume=false") == "130"
    begins, said = capfd.readouterr().err.split("\n", 1)
    assert begins == f"compare: loading its libraries; the results go to {Path.cwd()}/run"
    begun = "python run.py seed=1 +experiment=boxplot hydra.run.dir=run"
    if kept:
        assert said.startswith(f"Stopped; kept are: portfolio searched. To go on: {begun}")
        assert said.endswith(f" {QUIET[-1]} resume=true\n")
    else:
        assert said.startswith(f"Stopped; compare has kept nothing yet. To start anew: {begun}")
        assert said.endswith(f" {QUIET[-1]}\n")
    assert said.count("\n") == 1


@pytest.mark.slow
def test_a_resumed_run_says_what_it_finds(
    ended: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(command_line.logger, "info", said.append)
    assert "run has no run to resume; leave it out" in ended("resume=true")
    monkeypatch.setattr("experiments.compare.main", fail)
    ended()
    ended("resume=true")
    assert said.pop() == f"starts anew in {Path.cwd()}/run"
    Path("run/portfolio.csv").touch()
    ended("resume=true")
    assert said.pop() == f"goes on in {Path.cwd()}/run: portfolio searched"
    Path("run/finished").touch()
    with pytest.raises(pytest.fail.Exception):  # it does not exit
        ended("resume=true")
    assert said.pop() == f"{Path.cwd()}/run has finished; to start a new run, leave resume=true out"
    with pytest.raises(pytest.fail.Exception):
        ended()
    assert (
        said.pop()
        == f"{Path.cwd()}/run has finished; to start a new run, name another hydra.run.dir"
    )


@pytest.mark.slow
@pytest.mark.parametrize("launcher", ["basic", "local"])
def test_stopping_a_real_run_leaves_one_sentence_and_no_process(
    launcher: str, tmp_path: Path
) -> None:
    sweep = ["-m", "hydra/launcher=local", "seed=0,1"] if launcher == "local" else ["seed=0"]
    command = [sys.executable, str(ROOT / "run.py"), *sweep, "+experiment=boxplot", *QUICK]
    process = subprocess.Popen(
        [*command, "evaluation.episodes=1000000"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait_for(lambda: [*tmp_path.rglob("phases.csv"), *tmp_path.rglob("run.log")], process, 240)
    time.sleep(1.0)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    *before, last = errors.strip().splitlines()
    assert last.startswith("Stopped"), errors
    assert all("loading its libraries" in each or "Reading" in each for each in before), errors
    wait_for(lambda: not living_in(process.pid), seconds=30)  # one of a sweep may still be ending


def living_in(group: int) -> list[str]:
    """Return the states of the processes of a group that have not ended."""
    stats = [stat_of(each) for each in Path("/proc").glob("[0-9]*")]
    return [state for number, state in stats if number == group and state != "Z"]


def stat_of(process: Path) -> tuple[int, str]:
    """Return the process group and the state of a process."""
    try:
        state, _, group = (process / "stat").read_text().rpartition(")")[2].split()[:3]
    except OSError:  # it has ended
        return 0, "Z"
    return int(group), state
