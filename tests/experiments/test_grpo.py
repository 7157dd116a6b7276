"""Training runs from the command line: what they leave, and that they resume."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numba
import numpy as np
import pandas as pd
import pytest
import torch

from daedalus.design.search.distillation import DistillationData
from daedalus.market.mechanism import FIELDS
from daedalus.runs.folder import RunFolder
from tests import forked
from tests.launching import play, run_here, wait_for

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


NARROW = "model.hidden_size=32 model.layers=2 model.heads=2 model.intermediate_size=64".split()
SHORT = ["training.grpo.max_completion_tokens=24", "evaluation.episodes=2"]


def launch(cwd: Path, *overrides: str) -> forked.Forked:
    return forked.start("run.py", "+experiment=smoke", *overrides, cwd=cwd, out=cwd / "log.txt")


def grpo_records(run: Path) -> list[dict[str, float]]:
    lines = (run / "metrics.jsonl").read_text().splitlines(keepends=True)
    records = [json.loads(line) for line in lines if line.endswith("\n")]
    return [record for record in records if record["phase"] == "grpo"]


def test_a_killed_run_resumes_and_finishes(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    overrides = ["training.grpo.steps=6", "model=tiny_qlora", *NARROW, *SHORT]
    process = launch(tmp_path, *overrides)
    wait_for(lambda: list(tmp_path.glob("outputs/smoke/*/checkpoints/grpo/checkpoint-3")), process)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    (run,) = tmp_path.glob("outputs/smoke/*")
    assert not (run / "finished").exists() and not (run / "model").exists()
    before = grpo_records(run)[:2]  # checkpoint 3 may be cut short, 2 is whole
    run_here(tmp_path, "+experiment=smoke", *overrides, "resume=true")
    assert [run] == list(tmp_path.glob("outputs/smoke/*"))
    history = json.loads((run / "training_history.json").read_text())
    assert [record["step"] for record in history] == list(range(1, 7))
    assert grpo_records(run)[:2] == before  # their seconds too: it went on and did not start over
    assert (run / "finished").exists()
    assert (tmp_path / "log.txt").read_text().count("sampled at temperature 1") == 1
    assert "sampled at temperature 1" not in capfd.readouterr().out


@pytest.fixture(scope="module")
def smoke(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Do a run in a process of its own, whose market has two threads; return where it began."""
    folder = tmp_path_factory.mktemp("smoke")
    threads = {"NUMBA_NUM_THREADS": "2", "OMP_NUM_THREADS": "1"}  # PyTorch's may move last bits
    command = [sys.executable, str(ROOT / "run.py"), "+experiment=smoke", "tracking=wandb", *NARROW]
    with (folder / "log.txt").open("wb") as log:
        done = subprocess.run(command, cwd=folder, env=os.environ | threads, stdout=log, stderr=log)
    assert done.returncode == 0, (folder / "log.txt").read_text()
    return folder


def numbers_of(run: Path) -> tuple[list[dict[str, float]], str]:
    """Return all that a run logged except times, and its table of episodes."""
    records = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    kept = [
        {key: value for key, value in record.items() if not key.endswith("seconds")}
        for record in records
    ]
    return kept, (run / "episodes.csv").read_text()


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Let this process compute on one thread."""
    before = torch.get_num_threads(), numba.get_num_threads()
    torch.set_num_threads(1)
    numba.set_num_threads(1)
    yield
    torch.set_num_threads(before[0])
    numba.set_num_threads(before[1])


@pytest.mark.usefixtures("one_thread")
def test_same_seed_same_numbers(smoke: Path, tmp_path: Path) -> None:
    (one,) = smoke.glob("outputs/smoke/*")
    play(tmp_path, "+experiment=smoke", *NARROW)
    assert numbers_of(one) == numbers_of(tmp_path)


def test_smoke_run_leaves_everything(smoke: Path) -> None:
    told = (smoke / "log.txt").read_text()
    assert "weave" not in told and "kernels" not in told  # an advert, and what no run needs
    (run,) = smoke.glob("outputs/smoke/*")
    for name in (
        "config.yaml provenance.json metrics.jsonl training_history.json training_history.csv "
        "steps.csv episodes.csv summary.csv differences.csv answers.jsonl answers.csv "
        "figures/boxplot.png "
        "figures/metrics.png figures/learning_curves.png model/model.safetensors finished"
    ).split():
        assert (run / name).exists(), name
    assert list(run.glob("wandb/offline-run-*"))
    (record,) = json.loads((run / "provenance.json").read_text())
    assert record["packages"]["trl"] and "smoke" in record["command"]
    assert set(pd.read_csv(run / "summary.csv")["designer"]) == {
        "random", "informed_greedy", "trained",
    }  # fmt: skip


SMALL_RUN = (
    """
training.portfolio.populations=1 training.portfolio.episodes=2 training.sft.steps=2
training.sft.batch_size=4 training.sft.examples=32 training.sft.validity_prompts=4
training.sft.teacher.rounds=2 training.sft.teacher.states=16
training.grpo.steps=1 training.grpo.prompts_per_step=2 training.grpo.group_size=2
training.grpo.micro_batch=4 training.grpo.states=8 training.grpo.futures=2 evaluation.episodes=2
evaluation.baselines.search.candidates=4 evaluation.baselines.search.sweeps=0
""".split()
    + NARROW
)


def test_a_planned_run_keeps_its_portfolio_and_its_prompt_and_is_on_its_own_reward(
    tmp_path: Path,
) -> None:
    own = ["reward=published", "training.sft.teacher.improvements=1"]
    play(tmp_path, "+experiment=grpo_mixture", "tracking=files", *SMALL_RUN, *own)
    run = RunFolder(tmp_path)
    portfolio = pd.read_csv(run.portfolio)
    assert list(portfolio) == list(FIELDS) and len(portfolio) >= 1
    prompt = json.loads((run.model / "prompt.json").read_text())
    assert prompt["compact"] and prompt["mechanism"] and prompt["averages"]
    summary = pd.read_csv(run.summary)
    assert set(summary["designer"]) == {"random", "informed_greedy", "search", "trained"}
    data = DistillationData.read(run.distillation_data)
    left = 10 - np.rint(10 * data.features[:, -1])[:, None]  # steps
    assert (data.rewards >= left).all() and (data.rewards <= 4 * left).all()  # R gives at most 1
    (record,) = grpo_records(tmp_path)
    assert {"format", "welfare", "fairness", "composite"} <= set(record)
    steps = pd.read_csv(tmp_path / "steps.csv")
    played = steps[steps["designer"] == "random"]
    assert (played["reward"] >= 1.0 + played["composite"]).all()
