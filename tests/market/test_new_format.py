"""The worked example of docs/market.md: a third-price auction, added to a copy of the market."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DIFF = ROOT / "docs" / "examples" / "third_price.diff"
COPIED = ["daedalus/market", "daedalus/checks.py"]
COPIED += ["tests/market", "tests/populations.py", "tests/__init__.py"]

SCRIPT = """
import json
import numpy as np
from daedalus.market.classic import ClassicMarket
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.parameters import StrategicParameters
from daedalus.market.population import BidderType, Population
from daedalus.market.seat_plan import BidderGroup, SeatPlan
from daedalus.market.strategic import StrategicMarket
from tests.market.kernels import test_classic, test_strategic

test_strategic.compare_random_populations(20, seed=0)
test_classic.test_kernel_follows_the_rules_at_every_stage(4)
who = Population(bidders=5, types={"truthful": BidderType(demand=1)}, units=1)
markets = {
    "strategic": StrategicMarket(who, StrategicParameters(shock_rate=0.0)),
    "classic": ClassicMarket(SeatPlan(0, 5, {"truthful": BidderGroup()})),
}
rule = Mechanisms.repeat(Mechanism(auction_type="third_price", reserve_price=0.0), 400)
seeds = np.arange(400, dtype=np.uint64)
played = {name: market.play(market.reset(seeds), rule, 50) for name, market in markets.items()}
print(json.dumps({name: each.field("revenue").mean() for name, each in played.items()}))
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a copy of the market and of its references, with the example's edits."""
    for name in COPIED:
        if (ROOT / name).is_dir():
            skipped = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, tmp_path / name, ignore=skipped)
        else:
            shutil.copy(ROOT / name, tmp_path / name)
    alone = os.environ | {"GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
    subprocess.run(["git", "apply", str(DIFF)], cwd=tmp_path, env=alone, check=True)
    return tmp_path


def test_a_format_touches_at_most_five_files(copy: Path) -> None:
    touched = [line[6:] for line in DIFF.read_text().splitlines() if line.startswith("+++ b/")]
    assert 0 < len(touched) <= 5
    for name in touched:
        assert (copy / name).read_text() != (ROOT / name).read_text()


@pytest.mark.slow
def test_the_kernels_sell_at_the_third_price(copy: Path) -> None:
    """The mean of the third-highest of n uniform values is (n - 2)/(n + 1)."""
    place = {"PYTHONPATH": str(copy), "NUMBA_CACHE_DIR": str(copy / "cache")}
    place["NUMBA_OPT"] = "0"  # what is compiled for one test need not be fast
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=os.environ | place,
        cwd=copy,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    revenue = json.loads(done.stdout)
    assert revenue["strategic"] == pytest.approx(3 / 6, abs=0.01)
    assert revenue["classic"] == pytest.approx(0.3 + 0.6 * 3 / 6, abs=0.01)  # values are 0.3 to 0.9
