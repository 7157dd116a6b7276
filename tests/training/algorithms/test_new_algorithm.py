"""The worked example of an algorithm, in a copy of the project: four files, and it trains."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest

from tests import forked

ROOT = Path(__file__).parents[3]
DIFF = ROOT / "docs" / "examples" / "rloo.diff"
SMALL = """
training=smoke training.rloo.steps=2 training.rloo.prompts_per_step=2 training.rloo.group_size=2
training.rloo.micro_batch=4 training.rloo.states=4 training.rloo.futures=2
training.rloo.max_completion_tokens=8 model.hidden_size=32 model.layers=2 model.heads=2
model.intermediate_size=64 evaluation.episodes=2 evaluation.resamples=100 tracking=files
""".split()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a copy of the project with the four files of the example."""
    for name in ("daedalus", "experiments", "conf"):
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / "run.py", tmp_path)
    alone = os.environ | {"GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
    subprocess.run(["git", "apply", str(DIFF)], cwd=tmp_path, env=alone, check=True)
    return tmp_path


def test_an_algorithm_touches_at_most_four_files() -> None:
    assert 0 < DIFF.read_text().count("\n+++ b/") <= 4


@pytest.mark.slow
def test_four_files_are_an_algorithm(copy: Path) -> None:
    words = ["+experiment=rloo_stage3", *SMALL, "hydra.run.dir=out"]
    done = forked.run(str(copy / "run.py"), *words, cwd=copy)
    assert done.returncode == 0, done.stderr[-3000:]
    out = copy / "out"
    records = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    steps = [each for each in records if each["phase"] == "rloo"]
    assert [each["step"] for each in steps] == [1, 2]
    assert {"loss", "reward", "validity", "composite"} <= set(steps[0])
    assert not [each for each in records if each["phase"] == "grpo"]
    assert len(pd.read_csv(out / "training_history.csv")) == 2
    assert (out / "model" / "model.safetensors").exists()
    assert "trained" in set(pd.read_csv(out / "summary.csv")["designer"])
