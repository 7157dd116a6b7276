"""The worked example of docs/market.md: a third-price auction, added to a copy of the project."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from daedalus.lab.theory.formats import FORMATS_WITH_THEORY

ROOT = Path(__file__).parents[2]
DIFF = ROOT / "docs" / "examples" / "third_price.diff"
COPIED = ["daedalus", "tests/market", "tests/populations.py", "tests/__init__.py"]

PLAYED = """
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
answer = {name: each.field("revenue").mean() for name, each in played.items()}
"""

CERTIFIED = """
import numpy as np
import pandas as pd
from daedalus.design.designers.fixed import FixedDesigner
from daedalus.design.env import DesignEnv
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import AUCTION_TYPES, Mechanism
from daedalus.market.population import BidderType, Population
from daedalus.service.sessions.truth import _truth
from daedalus.lab.studies.certificates import Chosen, certificate_tables, mean_regrets
from daedalus.lab.studies.llm_bidders import play
from daedalus.lab.theory.certificates import certify, groups_of, truthful_regret
from daedalus.lab.theory.deviations import Contest
from daedalus.lab.theory.ex_post import two_unit_regrets
from daedalus.lab.theory.hindsight import Recorded

assert "third_price" in AUCTION_TYPES
who = Population(bidders=3, types={"truthful": BidderType(demand=1)}, units=1)
third, groups, none = Mechanism(auction_type="third_price"), groups_of(who), np.zeros((1, 2))
env = DesignEnv.of(MarketSettings(), who)
asked = {
    "certify": lambda: certify(third, groups, 1, 0),
    "tables": lambda: certificate_tables(who, [Chosen(third, 1.0, 1.0)], 0),
    "regret": lambda: truthful_regret(third, groups, 1, np.zeros((1, 3, 2))),
    "contest": lambda: Contest("third_price", 0.0, 1, []),
    "two units": lambda: two_unit_regrets("third_price", none, none),
    "hindsight": lambda: Recorded(third, 1, none, none, none, 1),
    "bidders": lambda: play(env, {"mine": FixedDesigner(third)}, 1, 0),
}
told = {}
for name, ask in asked.items():
    try:
        told[name] = repr(ask())
    except ValueError as error:
        told[name] = f"{type(error).__name__}: {error}"
rows = [third.to_dict() | {"designer": "new"}, third.to_dict() | {"designer": "both"}]
rows += [Mechanism().to_dict() | {"designer": name} for name in ("both", "known")]
regrets = mean_regrets(pd.DataFrame(rows).assign(valid=True), env.market, 0)
told["unknown"] = sorted(regrets.index[regrets.isna()])
told["badge"] = sorted(_truth(who).regrets)
answer = told
"""

BOTH = """
import json
import sys
import traceback

scripts, answers = json.loads(sys.argv[1]), {}
for name, script in scripts.items():
    try:
        exec(script, answered := {})
        answers[name] = answered["answer"]
    except Exception:
        answers[name] = traceback.format_exc()
print(json.dumps(answers))
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the package and of the market's references, with the example's edits."""
    tmp_path = tmp_path_factory.mktemp("copy")
    skipped = shutil.ignore_patterns("__pycache__", "pretrained", "static")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tmp_path / name, ignore=skipped)
        else:
            shutil.copy(ROOT / name, tmp_path / name)
    alone = os.environ | {"GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
    subprocess.run(["git", "apply", str(DIFF)], cwd=tmp_path, env=alone, check=True)
    return tmp_path


def python(copy: Path, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a script with the copy; what is compiled for one test need not be fast."""
    place = {"PYTHONPATH": str(copy), "NUMBA_CACHE_DIR": str(copy / "cache"), "NUMBA_OPT": "0"}
    command, alone = [sys.executable, "-c", script, *arguments], os.environ | place
    return subprocess.run(command, env=alone, cwd=copy, capture_output=True, text=True)


@pytest.fixture(scope="module")
def answers(copy: Path) -> dict[str, Any]:
    """Return what the scripts answer, in one process: to compile the kernels takes most of it."""
    done = python(copy, BOTH, json.dumps({"played": PLAYED, "certified": CERTIFIED}))
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def test_a_format_touches_at_most_five_files(copy: Path) -> None:
    touched = [line[6:] for line in DIFF.read_text().splitlines() if line.startswith("+++ b/")]
    assert 0 < len(touched) <= 5
    for name in touched:
        assert (copy / name).read_text() != (ROOT / name).read_text()


@pytest.mark.slow
def test_the_kernels_sell_at_the_third_price(answers: dict[str, Any]) -> None:
    """The mean of the third-highest of n uniform values is (n - 2)/(n + 1)."""
    revenue = answers["played"]
    assert isinstance(revenue, dict), revenue
    assert revenue["strategic"] == pytest.approx(3 / 6, abs=0.01)
    assert revenue["classic"] == pytest.approx(0.3 + 0.6 * 3 / 6, abs=0.01)  # values are 0.3 to 0.9


@pytest.mark.slow
def test_a_new_format_is_certified_nowhere(answers: dict[str, Any]) -> None:
    told = answers["certified"]
    assert isinstance(told, dict), told
    told = dict(told)
    assert told.pop("unknown") == ["both", "new"]  # not the mean over the formats that are known
    assert told.pop("badge") == sorted(FORMATS_WITH_THEORY)
    for name, said in told.items():
        assert said.startswith("CannotRunError: auction_type: 'third_price' has no cert"), name


def test_a_format_without_a_payment_stops_the_import(copy: Path, tmp_path: Path) -> None:
    spoilt = shutil.copytree(copy, tmp_path / "spoilt")
    rules = spoilt / "daedalus" / "market" / "auction.py"
    known = "auction_format == _SECOND_PRICE or auction_format == THIRD_PRICE"
    assert known in rules.read_text()
    rules.write_text(rules.read_text().replace(known, "auction_format == _SECOND_PRICE"))
    done = python(spoilt, "import daedalus.market.auction")
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ValueError: auction_type: 'third_price' has no single rule of payment")
