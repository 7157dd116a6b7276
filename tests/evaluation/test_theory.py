"""The strategic market against auction theory, and the theory against itself."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hydra import compose, initialize_config_dir
from scipy.special import betainc

from daedalus.config import register, to_config
from daedalus.evaluation import equilibria, theory_figures
from daedalus.evaluation.theory import RESULTS, theory_table
from daedalus.evaluation.theory_bidding import (
    Learned,
    largest_gain_of_lies,
    learn_to_shade,
    revenue_equivalence,
    shading,
)
from daedalus.evaluation.theory_markets import BIDDERS, RESERVES
from daedalus.evaluation.theory_revenue import CASES, GRID, best_reserves, reserve_curves
from daedalus.evaluation.theory_rings import ring_welfare
from daedalus.evaluation.theory_rows import Row
from experiments.theory import main

CONF = Path(__file__).parents[2] / "conf"


def measured(episodes: int, seed: int) -> pd.DataFrame:
    cases = [(bidders, reserve) for bidders in BIDDERS for reserve in RESERVES]
    learned = [learn_to_shade(*case, episodes, seed) for case in cases]
    curves = reserve_curves(episodes, seed)
    return theory_table(learned, curves, RESULTS, episodes, seed)


def disagreements(table: pd.DataFrame) -> str:
    return table[~table["passes"]].to_string()


def equilibrium_bids(bidders: int = 3, reserve: float = 0.0) -> Learned:
    """Return what bidders would have learned if they had found the equilibrium."""
    values = np.random.default_rng(0).uniform(max(reserve, 0.01), 1.0, 2000)
    bids = equilibria.first_price_bid(values, bidders, reserve)
    revenue = equilibria.expected_revenue(bidders, reserve)
    return Learned(bidders, reserve, values, bids, revenue)


def exact_curves() -> pd.DataFrame:
    """Return what ``reserve_curves`` would return without noise."""
    rows = [
        {"bidders": bidders, "ring": ring, "reserve": reserve}
        | {"revenue": equilibria.expected_revenue(bidders, reserve, ring)}
        for bidders, ring in CASES
        for reserve in GRID
    ]
    return pd.DataFrame(rows)


def test_the_market_obeys_theory() -> None:
    table = measured(episodes=50, seed=0)
    assert table["passes"].all(), disagreements(table)
    assert table["result"].nunique() == 15
    assert len(table) == 80


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_the_market_obeys_theory_whatever_the_seed(seed: int) -> None:
    table = measured(episodes=200, seed=seed)
    assert table["passes"].all(), disagreements(table)


@pytest.mark.parametrize(
    ("bidders", "reserve", "ring", "revenue"),
    [
        (2, 0.0, 1, 0.3333), (3, 0.0, 1, 0.5), (4, 0.0, 1, 0.6), (5, 0.0, 1, 0.6667),
        (2, 0.5, 1, 0.4167), (3, 0.5, 1, 0.5313), (4, 0.5, 1, 0.6125), (5, 0.5, 1, 0.6719),
        (5, 0.0, 2, 0.65), (5, 0.0, 3, 0.6), (5, 0.0, 4, 0.4667), (5, 0.0, 5, 0.0),
    ],
)  # fmt: skip
def test_revenue_is_the_published_one(
    bidders: int, reserve: float, ring: int, revenue: float
) -> None:
    expected = equilibria.expected_revenue(bidders, reserve, ring)
    assert expected == pytest.approx(revenue, abs=6e-5)


@pytest.mark.parametrize("bidders", [2, 3, 7])
@pytest.mark.parametrize("reserve", [0.0, 0.3, 0.8])
def test_without_a_ring_revenue_is_myersons(bidders: int, reserve: float) -> None:
    """Revenue is the mean virtual value 2v - 1 of the winner (Myerson 1981)."""
    values = np.linspace(reserve, 1.0, 200_001)
    density = bidders * values ** (bidders - 1)
    virtual = np.trapezoid((2.0 * values - 1.0) * density, values)
    assert equilibria.expected_revenue(bidders, reserve) == pytest.approx(virtual, abs=1e-8)


@pytest.mark.parametrize(
    ("ring", "reserve"), [(1, 0.5), (2, 0.5393), (3, 0.5987), (4, 0.6539), (5, 0.6988)]
)
def test_the_best_reserve_is_where_revenue_is_highest(ring: int, reserve: float) -> None:
    assert equilibria.best_reserve(5, ring) == pytest.approx(reserve, abs=1e-4)
    grid = np.linspace(0.0, 1.0, 10_001)
    revenue = [equilibria.expected_revenue(5, each, ring) for each in grid]
    assert grid[np.argmax(revenue)] == pytest.approx(reserve, abs=2e-4)


@pytest.mark.parametrize("bidders", [2, 5])
@pytest.mark.parametrize("reserve", [0.0, 0.5])
def test_no_other_bid_of_the_first_price_equilibrium_is_better(
    bidders: int, reserve: float
) -> None:
    """Bidding as if worth x wins against n - 1 rivals with probability x^(n-1)."""
    values = np.linspace(max(reserve, 0.001), 1.0, 300)
    bids = equilibria.first_price_bid(values, bidders, reserve)
    surplus = (values[:, None] - bids) * values ** (bidders - 1)
    assert (surplus.max(axis=1) - np.diag(surplus)).max() < 1e-12


@pytest.mark.parametrize("units", [1, 2, 4])
def test_no_other_bid_of_the_pay_as_bid_equilibrium_is_better(units: int) -> None:
    bidders, values = 5, np.linspace(0.001, 1.0, 300)
    bids = equilibria.pay_as_bid(values, bidders, units)
    wins = betainc(bidders - units, units, values)
    surplus = (values[:, None] - bids) * wins
    assert (surplus.max(axis=1) - np.diag(surplus)).max() < 1e-12
    if units == 1:
        np.testing.assert_allclose(bids, equilibria.first_price_bid(values, bidders))


def test_what_theory_says_passes() -> None:
    learned = [equilibrium_bids(3, 0.0), equilibrium_bids(4, 0.5)]
    rows = shading(learned) + revenue_equivalence(learned)
    assert all(row.passes for row in rows + best_reserves(exact_curves()))


@pytest.mark.parametrize("reserve", [0.0, 0.5])
def test_bids_that_are_off_at_some_values_fail(reserve: float) -> None:
    learned = equilibrium_bids(reserve=reserve)
    highest = learned.values > 1.0 - 0.1 * (1.0 - reserve)
    shaded = learned.values - learned.bids
    bids = np.where(highest, learned.values - 1.04 * shaded, learned.bids)
    (row,) = shading([dataclasses.replace(learned, bids=bids)])
    assert not row.passes
    assert row.measured == pytest.approx(1.04)


@pytest.mark.parametrize(("share", "passes"), [(1.009, True), (0.991, True), (1.011, False)])
def test_revenue_may_be_off_by_one_percent(share: float, passes: bool) -> None:
    learned = equilibrium_bids()
    off = dataclasses.replace(learned, revenue=share * learned.revenue)
    (row,) = revenue_equivalence([off])
    assert row.passes == passes
    assert row.tolerance == pytest.approx(0.01 * row.theory)


def test_curves_of_rings_without_effect_fail() -> None:
    curves = exact_curves()
    nobody = curves[(curves["bidders"] == 5) & (curves["ring"] == 1)]["revenue"].to_numpy()
    for ring in range(2, 6):
        curves.loc[curves["ring"] == ring, "revenue"] = nobody
    rows = best_reserves(curves)
    assert [row.passes for row in rows] == [True] * 4 + [False] * 4


@pytest.mark.parametrize("auction_type", ["first_price", "second_price"])
def test_the_search_for_lies_finds_them_where_they_pay(auction_type: str) -> None:
    assert largest_gain_of_lies(auction_type, 2000, 0) > 0.1


def test_same_seed_same_rows_and_other_seed_others() -> None:
    rows = [ring_welfare(2, seed) for seed in (0, 0, 1)]
    assert rows[0] == rows[1]
    assert rows[0] != rows[2]


def test_figures_draw_every_case() -> None:
    learned = [equilibrium_bids(n, r) for n in BIDDERS for r in RESERVES]
    bids, reserves = (
        theory_figures.learned_bids(learned),
        theory_figures.reserve_curves(exact_curves()),
    )
    assert [panel.get_title(loc="left") for panel in bids.axes] == ["no reserve", "reserve 0.5"]
    names = [{text.get_text() for text in panel.texts} for panel in reserves.axes]
    assert names[0] == {"n = 2", "n = 3", "n = 4", "n = 5"}
    assert names[1] == {"none collude", *(f"{ring} collude" for ring in (2, 3, 4, 5))}
    diamonds = [line.get_xdata()[0] for line in reserves.axes[1].lines if line.get_marker() == "D"]
    assert diamonds == pytest.approx([0.5, 0.539, 0.599, 0.654, 0.699], abs=1e-3)


def test_the_experiment_writes_its_table_and_figures(tmp_path: Path) -> None:
    register()
    with initialize_config_dir(str(CONF), version_base="1.3"):
        overrides = ["+experiment=theory", "evaluation.episodes=2", "tracking=files"]
        config = to_config(compose("config", overrides=overrides))
    main(config, tmp_path)
    assert list(pd.read_csv(tmp_path / "summary.csv")) == [
        field.name for field in dataclasses.fields(Row)
    ]
    assert len(pd.read_csv(tmp_path / "reserves.csv")) == len(CASES) * len(GRID)
    figures = sorted(path.stem for path in (tmp_path / "figures").glob("*.png"))
    assert figures == ["learned_bids", "reserves"]
