"""The worked example of an algorithm, in a copy of the project: four files, and it trains."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[3]
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
    page = (ROOT / "docs" / "architecture.md").read_text()
    files = re.findall(r"```\w+\n# ([\w/]+\.\w+)\n(.*?)```", page, re.DOTALL)
    assert len(files) == 4
    for name, text in files:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(_with_field(path.read_text(), text) if path.exists() else text)
    return tmp_path


def _with_field(settings: str, shown: str) -> str:
    """Return the settings of training with the shown import and, after GRPO's, the shown field."""
    imported, field = (f"{line}\n" for line in shown.splitlines() if line)
    first = "from daedalus.training.algorithms"
    settings = settings.replace(first, f"{imported}{first}", 1)
    return re.sub(r"( +grpo: GrpoSettings = .*\n)", rf"\1{field}", settings)


@pytest.mark.slow
def test_four_files_are_an_algorithm(copy: Path) -> None:
    command = [sys.executable, "run.py", "+experiment=rloo_stage3", *SMALL]
    done = subprocess.run(
        [*command, "hydra.run.dir=out"], cwd=copy, capture_output=True, text=True, check=False
    )
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
