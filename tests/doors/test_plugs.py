"""The examples of README and docs/plugs.md run; see tests/doors/plugs/ for evaluators."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import daedalus
from daedalus.design.search.features import observed_features
from daedalus.market.interface import MARKETS, MarketSettings
from daedalus.market.mechanism import Mechanisms
from daedalus.market.seeds import market_seeds
from daedalus.service.openenv.catalogue import Catalogue
from tests.populations import in_both_markets
from tests.service.conftest import serving

ROOT = Path(__file__).parents[2]
PYTHON, RESTRICTED, FORK, GYMNASIUM = (
    block
    for page in ("README.md", "docs/plugs.md")
    for block in re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    if not block.startswith("# mine.py")  # see tests/launch/config/test_own.py
)


def done(script: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(script, names)
    return names


def test_five_lines_of_python(capsys: pytest.CaptureFixture[str]) -> None:
    done(PYTHON)
    assert len(list(filter(None, PYTHON.splitlines()))) <= 5
    episode = daedalus.make("stage3").env.reset(market_seeds(0, "service", 1))
    expected = episode.step(Mechanisms.stack([daedalus.Mechanism(auction_type="vcg")])).reward[0]
    assert float(capsys.readouterr().out) == expected


def test_a_market_in_which_little_may_be_set(capsys: pytest.CaptureFixture[str]) -> None:
    market = done(RESTRICTED)["market"]
    assert 0.0 < float(capsys.readouterr().out) < 1.0
    assert market.env.settings.episode_length == 20 and not market.done
    with pytest.raises(ValueError, match="auction_type: 'first_price' is not allowed"):
        market.step(daedalus.Mechanism(auction_type="first_price", reserve_price=0.2))


@pytest.mark.slow
def test_markets_in_gymnasium(capsys: pytest.CaptureFixture[str]) -> None:
    names = done(GYMNASIUM)
    assert names["seen"].shape == (64, 49) and names["rewards"].shape == (64,)
    assert "'bid_mean': " in capsys.readouterr().out
    first = daedalus.make("world").env.reset(market_seeds(0, "service", 1)).observe()
    expected = observed_features(first).astype(np.float32)[0]
    np.testing.assert_array_equal(names["markets"].reset(seed=0)[0][0], expected)
    assert names["markets"].single_action_space.contains(names["action"])


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    markets = {name: MarketSettings(name) for name in MARKETS}
    with serving(
        Catalogue({"stage3": in_both_markets(3)}, "stage3", "strategic", markets, 10)
    ) as found:
        yield found


@pytest.mark.slow
def test_a_client_learns_from_forks(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert FORK.count("http://127.0.0.1:8000") == 1
    names = done(FORK.replace("http://127.0.0.1:8000", address))
    chosen = float(capsys.readouterr().out)
    market = daedalus.Market(
        daedalus.make(in_both_markets(3).in_market("strategic"), market=MarketSettings()).env
    )
    market.reset(seed=1000)
    choices = [daedalus.Mechanism(reserve_price=each) for each in names["reserves"]]
    earned = market.fork(choices, futures=500)
    print(earned, names["probabilities"], chosen)
    assert earned[names["scores"].argmax()] > earned.max() - 0.02
    assert (
        names["probabilities"].max() > 0.2 and names["reserves"][names["scores"].argmax()] == chosen
    )
