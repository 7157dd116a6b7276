"""From a log of bids to a report, with and without a trained model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from daedalus.checks import CannotRunError
from daedalus.design.briefs.clauses import Clause, Understanding, understand
from daedalus.lab.bids.findings import amount
from daedalus.launch.config.compose import compose_config
from experiments import from_bids
from tests.lab.bids.simulated import first_price_bids, table_of, uniform
from tests.launch.config.composing import failure
from tests.launching import play
from tests.untrained import leave_untrained_model

SMALL = ["+experiment=from_bids", "tracking=files", "bid_log.resamples=20", "designer.candidates=8"]
SMALL += ["evaluation.episodes=2", "market.episode_length=2"]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    bids = [100.0 * row for n in (2, 3) for row in first_price_bids(uniform, n, 100, rng)]
    path = tmp_path_factory.mktemp("log") / "sales of 1990?.csv"
    table_of(bids).to_csv(path, index=False)
    return path


@pytest.mark.slow
def test_a_log_becomes_a_report(log: Path, tmp_path: Path) -> None:
    play(tmp_path, *SMALL, f"bids='{log}'")
    text = (tmp_path / "report.md").read_text()
    assert "> **Set a reserve of" in text and "auction_type" not in text
    assert text.count("](figures/") == 4
    assert (tmp_path / "report.html").read_text().count("data:image/png") == 4
    assert "family: quantiles" in (tmp_path / "population" / "log_sales_of_1990.yaml").read_text()
    designers = pd.read_csv(tmp_path / "designers.csv").set_index("designer")
    assert list(designers.index) == ["in force", "designed", "search"]
    assert designers.loc["designed", "gain_low"] > 0
    assert {
        "sensitivity.csv",
        "fit.csv",
        "levels.csv",
        "reserves.csv",
        "diagnostics.csv",
    } < {path.name for path in tmp_path.iterdir()}


@pytest.mark.slow
def test_a_trained_model_is_compared_and_other_rewards_are_played(
    log: Path, tmp_path: Path
) -> None:
    leave_untrained_model(tmp_path / "run" / "model")
    changes = [f"trained={tmp_path / 'run'}", "reward=welfare", "designer.sweeps=0"]
    play(tmp_path / "out", *SMALL, f"bids='{log}'", *changes)
    designers = pd.read_csv(tmp_path / "out" / "designers.csv").set_index("designer")
    assert "trained" in designers.index and (designers["result"] <= 1.0).all()
    assert "in welfare" in (tmp_path / "out" / "report.md").read_text()


@pytest.mark.slow
def test_a_brief_restricts_what_is_recommended(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    floor = Clause("reserve_least/x", 0.8, "Not below four fifths.")
    ring = Clause("fact/ring", None, "They are a ring.")

    def load(_: object) -> Callable[[str], Understanding]:
        return lambda brief: understand([floor, ring])

    monkeypatch.setattr(from_bids, "load_understanding", load)
    play(tmp_path, *SMALL, f"bids='{log}'", "brief='Not below four fifths. They are a ring.'")
    rules = pd.read_csv(tmp_path / "rules.csv")
    assert list(rules["today"].fillna("")) == ["broken", ""]
    assert rules["costs"][0] > 0 and rules["not_used"][1] == "the log itself says who bids"
    text = (tmp_path / "report.md").read_text()
    assert "> **Set a reserve of" in text and "Today's rules break the brief" in text
    assert "## What the brief asks for" in text


def test_what_cannot_be_used_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CannotRunError, match="bids: none; give bids=FILE"):
        from_bids.main(compose_config(*SMALL), tmp_path)
    assert "format" in failure(*SMALL, "bid_log.format=dutch")
    assert "no file none.txt" in failure(*SMALL, "bids=timber", "brief=none.txt")
    assert "does not read bids" in failure("+experiment=baselines", "bids=timber")


@pytest.mark.slow
def test_with_a_covariate_the_reserve_of_each_sale_is_in_money(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    size = np.exp(rng.normal(size=150)).round(3)
    bids = [50.0 * each * first_price_bids(uniform, 2, 1, rng)[0] for each in size]
    path = tmp_path / "null.csv"
    table_of(bids, **{"=1+1": list(size)}).to_csv(path, index=False)
    out = tmp_path / "out"
    play(out, *SMALL, f"bids={path}")
    reserves = pd.read_csv(out / "reserves.csv").set_index("auction")
    ratio = reserves["set"] / (25.0 * pd.Series(size, [f"A{sale:05d}" for sale in range(150)]))
    ratio = ratio.dropna()  # a sale may be left out as an error
    assert len(ratio) > 145
    assert (ratio > 0.6).all() and (ratio < 1.6).all()
    text = (out / "report.md").read_text()
    assert f"({amount(reserves['set'].median())} in a typical sale)" in text
    assert "`reserves.csv` has the amount for each sale." in text
    assert "log =1+1" in (out / "levels.csv").read_text()
    chosen = compose_config(
        "+experiment=baselines", "population=log_null", f"hydra.searchpath=[file://{out}]"
    )
    assert chosen.population.name == "log_null"
