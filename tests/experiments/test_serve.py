"""The experiment that serves: it finds the designer, and it answers until it is interrupted."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import requests

from daedalus.design.rewards.stack import RewardStack
from daedalus.runs.pretrained import FOLDER
from daedalus.service.openenv.catalogue import Catalogue
from daedalus.service.settings import ServiceSettings
from experiments.serve import find_designer, make_catalogue
from tests.launch.config.composing import composed, failure
from tests.runs.trained_runs import leave_trained_run

ROOT = Path(__file__).parents[2]


def test_the_newest_designer_that_was_trained_here_is_found(tmp_path: Path) -> None:
    shipped, _ = find_designer(ServiceSettings(), tmp_path)
    assert shipped is not None and shipped.checkpoint == str(FOLDER)
    assert shipped == find_designer(ServiceSettings(checkpoint="pretrained"), tmp_path)[0]
    newest = leave_trained_run(tmp_path / "sweeps/grpo/1/0", time=2_000)
    older = leave_trained_run(tmp_path / "grpo/2", time=1_000)
    smoke = leave_trained_run(tmp_path / "smoke/1", "+experiment=smoke", time=3_000)
    found, choice = find_designer(ServiceSettings(constrained=True), tmp_path, RewardStack())
    assert found is not None and found.checkpoint == str(newest) and found.constrained
    assert [path for path, _ in choice.passed_over] == [smoke]
    named, _ = find_designer(ServiceSettings(checkpoint=str(older)), tmp_path)
    assert named is not None and named.checkpoint == str(older)
    assert find_designer(ServiceSettings(checkpoint="none"), tmp_path)[0] is None


@pytest.mark.slow
def test_what_is_configured_is_where_visitors_begin() -> None:
    shipped = make_catalogue(composed("+experiment=serve", "population=stage1"))
    assert shipped.default == "stage1" and "mixture" in shipped.populations
    names = ["composite", "revenue", "welfare", "surplus", "balanced"]
    assert shipped.objective == "composite" and list(shipped.objectives) == names
    own = make_catalogue(composed("+experiment=serve", "population=crowd", "reward=published"))
    assert own.default == "configured" and len(own.populations) == len(shipped.populations) + 1
    assert own.objective == "configured" and list(own.objectives) == [*names, "configured"]
    fresh = make_catalogue(composed("+experiment=serve", "market=fresh", "reward=revenue"))
    assert fresh.market == "fresh" and list(fresh.markets) == ["strategic", "fresh", "classic"]
    assert [each.warmup_rounds for each in fresh.markets.values()] == [20, 3, 3]
    assert fresh.objective == "revenue"
    short = make_catalogue(composed("+experiment=serve", "market.episode_length=4"))
    assert (short.market, short.markets["strategic"].episode_length) == ("strategic", 4)
    with pytest.raises(ValueError, match="stage9"):
        Catalogue(own.populations, "stage9", own.market, own.markets, 10)
    with pytest.raises(ValueError, match="bazaar"):
        Catalogue(fresh.populations, fresh.default, "bazaar", fresh.markets, 10)


@pytest.mark.slow
def test_it_serves_until_interrupted(tmp_path: Path) -> None:
    settings = ["service.port=0", "service.checkpoint=none"]
    command = [sys.executable, str(ROOT / "run.py"), "+experiment=serve", *settings]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    address = next(
        found[0] for line in process.stdout if (found := re.search(r"http://[\d.:]+", line))
    )
    assert address.startswith("http://127.0.0.1:")
    first = requests.post(f"{address}/reset", json={"seed": 1}, timeout=480).json()
    assert first["info"]["population"] == "stage3"
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=480)
    assert "Stopped" in rest and process.returncode == 0
    assert list(tmp_path.glob("outputs/serve/*/finished"))


@pytest.mark.slow
def test_a_bidder_must_be_chosen_before_it_is_changed() -> None:
    assert composed("+experiment=serve").bidder is None
    assert "first choose one by bidder=endpoint" in failure("+experiment=serve", "bidder.memory=3")
    assert "bidder.model: not set" in failure("+experiment=serve", "bidder=endpoint")
