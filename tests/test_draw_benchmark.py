"""The second benchmark is what the rule draws from the hash of the commit that brought it."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from dataclasses import asdict
from pathlib import Path

import pytest

from daedalus.launch.config.compose import compose_config
from deploy.draw_benchmark import NAMES, drawn_benchmark, text_of

ROOT = Path(__file__).parents[1]
FILE = ROOT / "conf" / "populations" / "benchmark_2.yaml"
RULE = "deploy/draw_benchmark.py"
(COMMIT,) = re.findall(r"draw_benchmark ([0-9a-f]{40})$", FILE.read_text(), re.MULTILINE)


def test_the_file_is_what_the_rule_draws() -> None:
    assert FILE.read_text() == text_of(COMMIT)


def test_the_commit_is_the_one_that_brought_the_rule() -> None:
    if not holds_rule(COMMIT):
        pytest.skip("this copy does not have the history")
    assert not holds_rule(f"{COMMIT}^")


def holds_rule(revision: str) -> bool:
    found = subprocess.run(["git", "cat-file", "-e", f"{revision}:{RULE}"], cwd=ROOT)
    return found.returncode == 0


def test_another_seed_draws_others_within_the_same_limits() -> None:
    other = drawn_benchmark("1" * 40)
    assert tuple(other) == NAMES and other != drawn_benchmark(COMMIT)
    assert all(4 <= other[name]["bidders"] <= 16 for name in NAMES[:7])
    assert any(each["bidders"] > 16 for each in other.values())


@pytest.mark.slow
def test_the_card_has_the_hash_of_both_lists_to_test_in() -> None:
    shown = re.findall(
        r"^\| `(benchmark\w*)` \| `(\w{64})` \|$", (ROOT / "docs/card.md").read_text(), re.M
    )
    assert dict(shown) == {name: hash_of(name) for name in ("benchmark", "benchmark_2")}


def hash_of(populations: str) -> str:
    """Return the SHA-256 of a list of populations, as they are composed."""
    composed = compose_config("task=oracle", "designer=search", f"populations={populations}")
    described = {name: asdict(each) for name, each in composed.populations.items()}
    text = json.dumps(described, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
