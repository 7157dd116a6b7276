"""The experiment certifies a fixed mechanism, and those of a designer."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from daedalus.launch.config import ConfigError, compose_config
from experiments.certificate import main


def certified(out: Path, *changes: str) -> pd.DataFrame:
    small = ("tracking=files", "evaluation.episodes=2", "market.episode_length=5")
    main(compose_config("+experiment=certificate", *small, *changes), out)
    assert {path.stem for path in (out / "figures").iterdir()} >= {"certificates"}
    return pd.read_csv(out / "summary.csv")


def test_a_mechanism_is_certified(tmp_path: Path) -> None:
    found = certified(tmp_path, "mechanism=first_price", "population=lottery")
    assert found["auction_type"].tolist() == ["first_price"] and found["share"].tolist() == [1.0]
    assert (found[["interim_regret", "ex_post_regret", "ring_gain"]] > 0.0).all(axis=None)
    assert pd.read_csv(tmp_path / "types.csv")["type"].tolist() == ["rota"]


@pytest.mark.slow
def test_the_mechanisms_of_a_designer_are_certified(tmp_path: Path) -> None:
    found = certified(tmp_path, "designer=random", "population=honest")
    assert found["auction_type"].nunique() == 3 and found["share"].sum() < 1.0 + 1e-12
    assert (found.loc[found["auction_type"] == "vcg", "ex_post_regret"] == 0.0).all()


def test_the_classic_market_is_refused() -> None:
    with pytest.raises(ConfigError, match="choose market=strategic"):
        compose_config("+experiment=certificate", "market=classic")


@pytest.mark.slow
def test_tables_say_what_they_leave_out_and_what_second_price_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The footnote stands only where several units are sold; regret always has its word."""
    found = certified(tmp_path / "one", "population=lottery")
    one = " ".join(capsys.readouterr().out.split())
    certified(tmp_path / "three", "population=honest")
    three = " ".join(capsys.readouterr().out.split())
    assert one.count("left out: fines, secret reserves") == 2 == three.count("0 by theorem") + 1
    assert one.count("under the most frequent of the other fields") == 1
    assert (found["hindsight_share"] == found["share"]).all()
    assert "most frequent" not in three
    assert "a uniform price" not in one and three.count("a uniform price") == 2
    assert {"ex_post_loss", "interim_loss", "ex_ante_loss"} <= set(found)
    regrets = {name for name in found if "regret" in name}
    assert all("interim" in name or "ex_post" in name or "hindsight" in name for name in regrets)
