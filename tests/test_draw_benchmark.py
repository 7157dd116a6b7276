"""The second benchmark is what the rule draws from the hash of the commit that brought it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from deploy.draw_benchmark import NAMES, drawn_benchmark, text_of

ROOT = Path(__file__).parents[1]
FILE = ROOT / "conf" / "populations" / "benchmark_2.yaml"
RULE = "deploy/draw_benchmark.py"
(COMMIT,) = re.findall(r"draw_benchmark ([0-9a-f]{40})$", FILE.read_text(), re.MULTILINE)


def test_the_file_is_what_the_rule_draws() -> None:
    assert FILE.read_text() == text_of(COMMIT)


def test_the_commit_is_the_one_that_brought_the_rule() -> None:
    told = ["git", "log", "--diff-filter=A", "--format=%H", "--", RULE]
    found = subprocess.run(told, cwd=ROOT, capture_output=True, text=True).stdout.split()
    if not found:
        pytest.skip("this copy has no history")
    assert found[-1] == COMMIT


def test_another_seed_draws_others_within_the_same_limits() -> None:
    other = drawn_benchmark("1" * 40)
    assert tuple(other) == NAMES and other != drawn_benchmark(COMMIT)
    assert all(4 <= other[name]["bidders"] <= 16 for name in NAMES[:7])
    assert any(each["bidders"] > 16 for each in other.values())
