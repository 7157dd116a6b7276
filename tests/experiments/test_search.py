"""The search for the best fixed mechanism, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.launching import play


@pytest.mark.slow
def test_it_tries_what_is_allowed_alone(tmp_path: Path) -> None:
    budget = ("candidates=8", "episodes=2", "sweeps=1", "sweep_episodes=2")
    changes = ["evaluation.episodes=2", *(f"designer.{each}" for each in budget)]
    rules = ["+allowed.auction_type=[vcg]", "+allowed.reserve_price={min: 0.2, max: 0.3}"]
    play(tmp_path, "+experiment=search", *changes, *rules)
    found = json.loads((tmp_path / "mechanism.json").read_text())
    assert found["auction_type"] == "vcg" and 0.2 <= found["reserve_price"] <= 0.3
