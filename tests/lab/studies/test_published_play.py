"""The rows of published play: what agrees with a paper and what does not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from daedalus.lab.studies import tacit_collusion
from daedalus.lab.studies.known_optimum import SETTINGS
from daedalus.lab.studies.published_play import (
    MYERSON_NET,
    bid_rows,
    collusion_rows,
    credibility_rows,
    drawn_learners,
    in_their_units,
    optimum_rows,
    temptation,
)
from daedalus.lab.studies.tacit_collusion import KNOWN, MARKET, OURS, PAPER, collusion_curves
from daedalus.lab.theory.distributions import Distribution
from daedalus.launch.config.compose import compose_config
from experiments.published_play import main

EVEN = Distribution(np.array([0.0, 1.0]), np.array([0.0, 1.0]))


def test_a_row_of_collusion_agrees_within_the_bounds() -> None:
    numbers = {PAPER: (0.24, 0.95), KNOWN: (0.9, 0.95), MARKET: (0.36, 0.89)}
    table = pd.DataFrame(
        [{"bidders": n, "first_price": a, "second_price": b} for n, (a, b) in numbers.items()]
    )
    assert [each["agrees"] for each in collusion_rows(table)] == [True, True, False, False, True]


def test_bids_agree_if_the_interval_holds_the_published_number() -> None:
    near = pd.DataFrame({"first_price": [0.7, 0.8, 0.9], "second_price": [1.0, 1.0, 0.9]})
    assert [each["agrees"] for each in bid_rows(near)] == [True, True]
    far = near.assign(first_price=[0.91, 0.92, 0.93], second_price=0.5)
    assert [each["agrees"] for each in bid_rows(far)] == [False, False]


def test_drawn_learners_are_those_of_the_public_code() -> None:
    drawn = [drawn_learners(0, index) for index in range(60)]
    assert {each.bidders for each in drawn} == {2, 4}
    assert {len(each.bids) for each in drawn} == {6, 21, 31, 51}
    assert {each.discount for each in drawn} == {0.0, 0.25, 0.5, 0.75, 0.99}
    assert {each.softmax for each in drawn} == {False, True}
    assert all(each.bids[0] == 0.0 and each.bids[-1] == 1.0 for each in drawn)


def test_a_share_above_the_optimum_does_not_agree() -> None:
    optima = {name: SETTINGS[name].optimum / SETTINGS[name].scale for name in MYERSON_NET}
    rows = [
        {"population": name, "designer": "search", "optimum": optimum}
        | {"revenue": share * optimum, "revenue_low": 0.1, "revenue_high": 0.2}
        for share, (name, optimum) in zip((1.0, 1.1, 0.99, 0.9), optima.items(), strict=True)
    ]
    theory = pd.DataFrame({"population": optima.keys(), "optimum": optima.values()})
    theory["with_reserve"] = 0.1
    table = in_their_units(pd.DataFrame(rows), theory)
    assert table["designer"].tolist()[:3] == ["theory: optimum", "theory: best reserve", "search"]
    agrees = [each["agrees"] for each in optimum_rows(table, "search")]
    assert agrees == [True] * 4 + [True, False, True, False]


def test_second_price_fails_credibility_and_first_price_does_not() -> None:
    rows = credibility_rows(0)
    assert all(each["agrees"] for each in rows)
    assert [each["ours"] == 0.0 for each in rows] == [True, False] * 2


@pytest.mark.parametrize("bidders", [2, 3, 5])
def test_second_price_is_not_credible(bidders: int) -> None:
    """The seller bids just below the highest of n even values: it gains E[v1 - v2] = 1/(n + 1)."""
    gain = temptation("second_price", EVEN, bidders, 0.0, 40_000, 0)
    assert gain == pytest.approx(1 / (bidders + 1), abs=0.005)


def test_with_a_reserve_it_gains_what_lies_above_the_price() -> None:
    """With n = 2 and r = 1/2, E[(v1 - max(v2, r))+] = 1/6."""
    gain = temptation("second_price", EVEN, 2, 0.5, 40_000, 0)
    assert gain == pytest.approx(1 / 6, abs=5e-3)


def test_the_figure_has_a_panel_for_theirs_ours_and_our_defaults() -> None:
    rows = [
        {"bidders": name, "auction_type": kind, "run": run, "round": rounds, "revenue": 0.5}
        for name in (PAPER, KNOWN, MARKET, OURS)
        for kind in ("first_price", "second_price")
        for run in range(3)
        for rounds in np.arange(1, 5) * 1000
    ]
    figure = collusion_curves(pd.DataFrame(rows))
    assert [each.get_title(loc="left") for each in figure.axes] == [PAPER, MARKET, OURS]
    assert len(figure.legends[0].get_texts()) == 3


@pytest.mark.slow
def test_the_experiment_writes_each_number_beside_its_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tacit_collusion, "ROUNDS", 2000)
    budget = {"candidates": 8, "episodes": 2, "sweeps": 1, "sweep_episodes": 4}
    small = [f"designer.{name}={count}" for name, count in budget.items()]
    small += ["evaluation.episodes=2", "tracking=files"]
    main(compose_config("+experiment=published_play", *small), tmp_path)
    found = pd.read_csv(tmp_path / "summary.csv")
    assert found["source"].value_counts().to_dict() == {
        "Dütting et al. 2019": 8,
        "Banchio & Skrzypacz 2022": 5,
        "Akbarpour & Li 2020": 4,
        "Rawat 2023": 2,
    }
    assert found["ours"].notna().all() and found["target"].notna().all()
    assert {path.stem for path in (tmp_path / "figures").iterdir()} >= {"published_play"}
    assert len(pd.read_csv(tmp_path / "myersonnet.csv")) == 4 * 5
    curves, table = (pd.read_csv(tmp_path / f"{each}.csv") for each in ("curves", "q_learners"))
    names = len(tacit_collusion.variants()) + 2
    assert len(curves) == names * 2 * 2 * tacit_collusion.POINTS
    assert curves["revenue"].between(0, 1).all()
    assert len(table) == names and table["first_price"].between(0, 1).all()
