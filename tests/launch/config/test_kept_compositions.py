"""What tests keep of a composition is what Hydra composes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from omegaconf import OmegaConf

from daedalus.launch.config.compose import compose_both
from daedalus.launch.config.paths import ROOT

COMMANDS = [
    ["+experiment=grpo_stage3"],
    ["+experiment=grpo_stage3", "population=stage2", "seed=3", "evaluation.episodes=7"],
    [
        "+experiment=baselines",
        "+designer@evaluation.baselines.mine=fixed",
        "~evaluation.baselines.random",
    ],
    ["+experiment=baselines", "population=stage1", "+reward.weights.welfare=0.5"],
]
ELSEWHERE = f"""
import json
from omegaconf import OmegaConf
from daedalus.launch.config.compose import compose_both
print(json.dumps([OmegaConf.to_yaml(compose_both(*each)[0]) for each in {COMMANDS}]))
"""


@pytest.mark.slow
def test_a_kept_composition_is_hydra_s_own() -> None:
    """Another process keeps nothing."""
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE], cwd=ROOT, stdout=subprocess.PIPE, check=True
    )
    own = json.loads(done.stdout)
    for _ in range(2):
        assert [OmegaConf.to_yaml(compose_both(*each)[0]) for each in COMMANDS] == own
    assert len(set(own)) == len(COMMANDS)
