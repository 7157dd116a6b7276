"""Engines of others load the reward in processes of their own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from daedalus.launch.from_config import make_env
from daedalus.market.mechanism import Mechanism
from daedalus.market.parsing import format_mechanism
from daedalus.training.sources.make_source import make_source
from tests.service.conftest import catalogue, serving  # noqa: F401  # catalogue is a fixture
from tests.training.conftest import make_run

ROOT = Path(__file__).parents[1]
STEPS, SEEDS = 3, (5, 6)
RULES = [
    Mechanism(auction_type="first_price", reserve_price=0.2),
    Mechanism(auction_type="vcg", coalition_policy="restrict"),
    Mechanism(collusion_penalty=3.0, coalition_policy="penalize_suspected"),
]


VERL = """
score = compute_score("market", answer, "3")
assert "torch" not in sys.modules
print(score)
"""


@pytest.mark.slow
def test_the_page_s_scripts_hand_the_reward_to_verl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "scale.md").read_text()
    ours, theirs = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, Any] = {}
    exec(ours, names)
    rows = [json.loads(line) for line in Path("prompts.jsonl").read_text().splitlines()]
    assert [row["state"] for row in rows] == list(range(names["settings"].states))
    config = names["config"]
    run = make_run(make_env(config), tmp_path, config.training)
    source = make_source(None, run, "grpo")  # no model plays up to the states
    assert rows[3]["prompt"] == source.prompts[3]["prompt"]
    text = format_mechanism(RULES[2])
    script = f"import sys\nanswer = {text!r}\n{theirs}{VERL}"
    path = {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env=os.environ | path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    step = SimpleNamespace(global_step=0)
    size = config.training.grpo.group_size
    chats = [[{"role": "assistant", "content": text}]] * size
    logged: dict[str, float] = {}
    trained = source.reward(chats, [3] * size, step, logged.__setitem__)
    assert [float(done.stdout)] * size == trained and logged["validity"] == 1.0
