"""The typed client: it speaks in types, and imports nothing of the server."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from daedalus.service.openenv.client import DaedalusClient
from daedalus.service.openenv.messages import DaedalusAction, DaedalusState

BEGIN = {"seed": 5, "population": "stage4", "n_agents": 9, "episode_length": 3}
ROOT = Path(__file__).parents[3]


def test_the_typed_client_speaks_in_types(address: str) -> None:
    with DaedalusClient(base_url=address).sync() as env:
        result = env.reset(**BEGIN)
        assert result.observation.mechanism.to_mechanism().reserve_price == 0.1
        result = env.step(DaedalusAction(reserve_price=0.3, coalition_policy="restrict"))
        assert result.observation.mechanism.coalition_policy == "restrict"
        assert result.reward == result.observation.reward == result.metadata["scores"]["composite"]
        state = env.state()
    assert isinstance(state, DaedalusState)
    assert (state.population, state.n_agents, state.rewards) == ("stage4", 9, [result.reward])


@pytest.mark.slow
def test_the_client_does_without_the_server() -> None:
    script = (
        "import sys, daedalus.service.openenv.client\n"
        "ours = {name for name in sys.modules if name.startswith('daedalus')}\n"
        "print(sorted(each for each in ours if 'service' in each or 'env' in each))\n"
        "print([name for name in ('numba', 'torch', 'hydra') if name in sys.modules])"
    )
    answer = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    modules = [
        f"daedalus.service{name}"
        for name in (
            "",
            ".openenv",
            ".openenv.checked_types",
            ".openenv.client",
            ".openenv.messages",
        )
    ]
    assert answer.stdout.splitlines() == [str(modules), "[]"]
