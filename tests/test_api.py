"""The reference of the Python interface: one command writes it, and the public names are in it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import daedalus
import daedalus.doors.gym
from daedalus.design.designers.discovery import designer_settings
from daedalus.market.mechanism import EFFECTS

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("api")
    command = ["make", "-o", "setup", f"RUN={sys.executable}", f"API={out}", "api"]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return out


@pytest.mark.slow
def test_the_public_names_are_in_the_reference(pages: Path) -> None:
    page = {
        path.relative_to(pages).with_suffix("").as_posix().replace("/", "."): path.read_text()
        for path in pages.rglob("*.html")
    }
    for name in (*daedalus.__all__, "Market.fork", "Step.outcome"):
        assert f'id="{name}"' in page["daedalus.doors.public"], name
    for effect in EFFECTS.values():
        assert effect in page["daedalus.doors.public"].replace("&#39;", "'").replace("\n", " "), (
            effect
        )
    for name in daedalus.doors.gym.__all__:
        assert f'id="{name}"' in page["daedalus.doors.gym"], name
    for module, settings in designer_settings().items():
        assert f'id="{settings.__name__}"' in page[f"daedalus.design.designers.{module}"], module
    assert 'id="DaedalusClient.fork"' in page["daedalus.service.openenv.client"]
    assert 'id="Grpo"' in page["daedalus.launch.config.tasks"]
    for name, text in page.items():
        assert name == "index" or f'href="{name.replace(".", "/")}.html"' in page["index"]
        assert not re.search(r" at 0x[0-9a-f]+", text), f"{name} shows the address of an object"
