"""mypy refuses a wrong word of an enumerated field, and takes every word that the market takes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from daedalus.lab.bids.settings import LOG_FORMATS
from daedalus.market.interface import MARKETS
from daedalus.market.mechanism import CHOICES
from daedalus.market.population import LEARNERS, STRATEGIES
from daedalus.market.seat_plan import BIDDER_KINDS
from daedalus.market.value_distribution import FAMILIES
from daedalus.runs.tracking import WANDB_MODES
from daedalus.training.algorithms.grpo.settings import (
    REWARD_SCALES,
    SCHEDULES,
    TARGETED_LOSSES,
    TRL_LOSSES,
)
from daedalus.training.settings import BACKENDS, DTYPES, MERGES

ROOT = Path(__file__).parents[2]

HEADER = """
import numpy as np
import daedalus
from daedalus.market.auction import clear_sales
from daedalus.market.interface import MarketSettings
from daedalus.market.population import BidderType
from daedalus.market.seat_plan import BidderGroup
from daedalus.market.value_distribution import ValueDistribution
from daedalus.market.views import View
from daedalus.lab.bids.settings import BidLogSettings
from daedalus.runs.tracking import TrackingSettings
from daedalus.training.algorithms.grpo.settings import GrpoSettings
from daedalus.training.settings import ModelSettings
from daedalus.training.tabular_settings import TabularSettings

def shares(view: View) -> bool:
    return view.auction_type == "{format}"

"""
# What has none of these words is not read: most of the time went into libraries.
SETTINGS = """
[mypy]
follow_imports = silent
[mypy-daedalus.doors.*,matplotlib.*,numba.*,omegaconf.*,pandas.*,scipy.*,wandb.*]
follow_imports = skip
follow_imports_for_stubs = true
"""
CALLS = {
    "daedalus.Mechanism(auction_type={})": CHOICES["auction_type"],
    "daedalus.Mechanism(coalition_policy={})": CHOICES["coalition_policy"],
    "clear_sales(np.zeros((1, 2)), {})": CHOICES["auction_type"],
    "MarketSettings(name={})": MARKETS,
    "BidderType(menu=[{}])": STRATEGIES,
    "BidderType(learner={})": LEARNERS,
    "BidderGroup(kind={})": BIDDER_KINDS,
    "ValueDistribution(family={})": tuple(FAMILIES),
    "BidLogSettings(format={})": LOG_FORMATS,
    "TrackingSettings(wandb={})": WANDB_MODES,
    "ModelSettings(backend={})": BACKENDS,
    "ModelSettings(dtype={})": DTYPES,
    "ModelSettings(merge={})": MERGES,
    "GrpoSettings(loss_type={})": (*TRL_LOSSES, *TARGETED_LOSSES),
    "GrpoSettings(schedule={})": SCHEDULES,
    "GrpoSettings(scale_rewards={})": REWARD_SCALES,
    "TabularSettings(loss_type={})": ("grpo", *TARGETED_LOSSES),
}


def complaints(codes: Mapping[str, str], folder: Path) -> list[tuple[str, int]]:
    """Return the places at which mypy complains of a word: a module's name, and the line."""
    paths = [folder / f"{name}.py" for name in codes]
    for path in paths:
        path.write_text(codes[path.stem])
    settings = folder / "mypy.ini"
    settings.write_text(SETTINGS)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", str(settings)]
    command += ["--cache-dir", os.devnull, *map(str, paths)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    found = re.findall(r"(\w+)\.py:(\d+): error: (.*)", done.stdout)
    assert all("Literal[" in said or "comparison" in said for _, _, said in found), done.stdout
    assert done.returncode == bool(found), done.stderr
    return sorted((name, int(line)) for name, line, _ in found)


@pytest.mark.slow
def test_mypy_knows_the_words(tmp_path: Path) -> None:
    """Both modules go to mypy at once, which reads the package only once."""
    right = [call.format(f'"{word}"') for call, words in CALLS.items() for word in words]
    wrong = [call.format('"dutch"') for call in CALLS]
    lines = [*HEADER.format(format="dutch").splitlines(), *wrong]
    expected = [("wrong", row) for row, line in enumerate(lines, start=1) if '"dutch"' in line]
    codes = {"right": HEADER.format(format="vcg") + "\n".join(right), "wrong": "\n".join(lines)}
    assert complaints(codes, tmp_path) == expected and len(expected) == len(CALLS) + 1
