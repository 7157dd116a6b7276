"""Q-learners with the paper's settings collude in our market, and what undoes it."""

from __future__ import annotations

from typing import Any

import pytest

from daedalus.lab.studies import tacit_collusion
from daedalus.lab.studies.tacit_collusion import (
    MARKET,
    OURS,
    ROUNDS,
    in_our_market,
    in_the_paper,
    variants,
)
from daedalus.launch.config.compose import compose_config
from daedalus.launch.from_config import make_env
from daedalus.market.interface import types_of_bidders
from daedalus.market.literals import AuctionType

CONFIG = compose_config("+experiment=published_play")
TACIT = types_of_bidders(make_env(CONFIG).market)


def end(auction_type: AuctionType, changes: dict[str, Any], runs: int = 8) -> float:
    parameters = CONFIG.market.strategic
    played = in_our_market(TACIT, changes, auction_type, parameters, runs, 0)
    return float(played[:, -5:].mean())


@pytest.mark.slow
def test_the_population_colludes_in_first_price_and_not_in_second() -> None:
    assert end("first_price", {}, 16) <= 0.35
    assert end("second_price", {}) >= 0.9


@pytest.mark.slow
def test_our_defaults_do_the_opposite_and_patience_is_one_cause() -> None:
    """An auditor saw 0.354 and 0.267 with values drawn anew."""
    changes = variants()
    values = changes[f"{OURS}, values drawn anew from 0 to 1"]
    assert end("first_price", values) == pytest.approx(0.354, abs=0.02)
    assert end("second_price", values) == pytest.approx(0.267, abs=0.02)
    assert end("first_price", changes[OURS]) > end("second_price", changes[OURS]) + 0.1
    assert end("first_price", changes["discount of 0.5"]) > 0.9


def test_a_variant_sets_our_defaults() -> None:
    found = variants()
    assert found[MARKET] == {} and found["discount of 0.5"] == {"discount": 0.5}
    assert found[OURS]["exploration"] == 0.1 and "value_low" not in found[OURS]


def test_the_paper_and_our_market_play_the_same_game(monkeypatch: pytest.MonkeyPatch) -> None:
    """While all explore, revenue is the mean of the higher and of the lower of two even bids."""
    monkeypatch.setattr(tacit_collusion, "ROUNDS", 200)
    parameters = CONFIG.market.strategic
    for kind, mean in (("first_price", 0.6579), ("second_price", 0.3421)):
        ours = in_our_market(TACIT, {}, kind, parameters, 256, 0)  # type: ignore[arg-type]  # formats
        theirs = in_the_paper(False, kind, 256, 0)
        assert ours.mean() == pytest.approx(mean, abs=0.005)
        assert theirs.mean() == pytest.approx(mean, abs=0.005)
    assert ROUNDS >= 100_000
