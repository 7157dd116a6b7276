"""A format without a theory gets no certificate: the third-price auction, added to a copy."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from daedalus.checks import CannotRunError
from daedalus.lab.theory.formats import FORMATS, pays_one_price, pays_own_bid, pays_personal_price
from daedalus.market.mechanism import AUCTION_TYPES

ROOT = Path(__file__).parents[3]
DIFF = ROOT / "docs" / "examples" / "third_price.diff"
PREDICATES = (pays_own_bid, pays_one_price, pays_personal_price)

SCRIPT = """
import asyncio
import json
import numpy as np
import pandas as pd
from daedalus.design.designers.fixed import FixedDesigner
from daedalus.design.env import DesignEnv
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import AUCTION_TYPES, Mechanism
from daedalus.market.population import BidderType, Population
from daedalus.service.sessions.truth import _truth
from daedalus.lab.studies.certificate_tables import Chosen, certificate_tables, mean_regrets
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
    "tables": lambda: certificate_tables(env.market, [Chosen(third, 1.0, 1.0)], 1, 0),
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
print(json.dumps(told))
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a copy of the package, with the example's edits."""
    skipped = shutil.ignore_patterns("__pycache__", "pretrained", "static")
    shutil.copytree(ROOT / "daedalus", tmp_path / "daedalus", ignore=skipped)
    shutil.copytree(ROOT / "tests" / "market", tmp_path / "tests" / "market", ignore=skipped)
    alone = os.environ | {"GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
    subprocess.run(["git", "apply", str(DIFF)], cwd=tmp_path, env=alone, check=True)
    return tmp_path


def python(copy: Path, script: str) -> subprocess.CompletedProcess[str]:
    place = {"PYTHONPATH": str(copy), "NUMBA_CACHE_DIR": str(copy / "cache"), "NUMBA_OPT": "0"}
    command, pipe = [sys.executable, "-c", script], subprocess.PIPE
    alone = os.environ | place
    return subprocess.run(command, env=alone, cwd=copy, stdout=pipe, stderr=pipe, text=True)


def test_every_format_that_theory_knows_has_one_payment() -> None:
    assert set(FORMATS) <= set(AUCTION_TYPES)
    for name in FORMATS:
        assert sum(each(name) for each in PREDICATES) == 1


@pytest.mark.parametrize("predicate", PREDICATES)
@pytest.mark.parametrize("name", ["third_price", "all_pay", "", "FIRST_PRICE", "second_price "])
def test_predicates_refuse_a_format_that_they_do_not_know(predicate: object, name: str) -> None:
    assert callable(predicate)
    with pytest.raises(CannotRunError, match=r"auction_type: .* has no certificate, because .*"):
        predicate(name)


@pytest.mark.slow
def test_a_new_format_is_certified_nowhere(copy: Path) -> None:
    done = python(copy, SCRIPT)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told.pop("unknown") == ["both", "new"]  # not the mean over the formats that are known
    assert told.pop("badge") == sorted(FORMATS)
    for name, said in told.items():
        assert said.startswith("CannotRunError: auction_type: 'third_price' has no cert"), name


def test_a_format_without_a_payment_stops_the_import(copy: Path) -> None:
    rules = copy / "daedalus" / "market" / "auction.py"
    known = "auction_format == _SECOND_PRICE or auction_format == THIRD_PRICE"
    assert known in rules.read_text()
    rules.write_text(rules.read_text().replace(known, "auction_format == _SECOND_PRICE"))
    done = python(copy, "import daedalus.market.auction")
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ValueError: auction_type: 'third_price' has no single rule of payment")
