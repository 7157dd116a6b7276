"""The oracle and a random designer, played on a service through the client."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from openenv.validation.parsers.openenv_yaml import OpenEnvYamlParser

from daedalus.evaluation.scale import scale_named
from daedalus.service.openenv.catalogue import Catalogue
from daedalus.service.openenv.client import DaedalusClient
from daedalus.service.openenv.messages import DaedalusAction
from daedalus.service.openenv.oracle import main, measured_ends
from tests.service.conftest import serving

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def address(catalogue: Catalogue, shipped: Catalogue) -> Iterator[str]:
    """Serve what ``make serve`` offers; the markets of ``catalogue`` have been compiled."""
    with serving(shipped) as found:
        yield found


def test_a_step_has_its_reward_on_the_scale_and_null_where_there_is_none(address: str) -> None:
    with DaedalusClient(base_url=address).sync() as session:
        assert "normalised" not in session.reset(seed=1, population="stage4").metadata
        step = session.step(DaedalusAction())
        assert step.metadata["normalised"] == scale_named("stage4").normalise(step.reward)
        for change in ({"n_agents": 9}, {"episode_length": 4}, {"objective": "revenue"}):
            session.reset(seed=1, population="stage4", **change)
            assert session.step(DaedalusAction()).metadata["normalised"] is None


def test_a_server_that_changes_the_bidders_is_not_measured(catalogue: Catalogue) -> None:
    with serving(catalogue) as other, DaedalusClient(base_url=other).sync() as session:
        with pytest.raises(ValueError, match="stage3: the server changes its bidders"):
            measured_ends(session, "stage3", episodes=1)


@pytest.mark.slow
def test_the_script_of_the_manifest_prints_what_it_measured(address: str) -> None:
    oracle = OpenEnvYamlParser().parse(ROOT).capabilities.oracle
    assert oracle is not None and oracle.form == "script"
    asked = [ROOT / oracle.location, *given(address, "stage1")]
    python = os.environ | {"PYTHON": sys.executable}
    done = subprocess.run(asked, env=python, cwd="/", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr  # both ends are where the manifest says
    check_told(done.stdout, "stage1")


def given(address: str, population: str) -> list[str]:
    return ["--address", address, "--episodes", "20", "--population", population]


def check_told(printed: str, population: str) -> None:
    told = json.loads(printed)
    assert (told["population"], told["episodes"]) == (population, 20)
    assert -0.1 < told["floor"] < 0.1 < 0.9 < told["oracle"]


@pytest.mark.slow
def test_each_population_has_ends_of_its_own_or_none(
    address: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("sys.argv", ["oracle", *given(address, "stage3")])
    main()
    check_told(capsys.readouterr().out, "stage3")
    monkeypatch.setattr("sys.argv", ["oracle", *given(address, "nowhere")])
    with pytest.raises(SystemExit, match="has no oracle"):
        main()
