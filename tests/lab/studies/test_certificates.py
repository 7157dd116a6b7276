"""Certificates of what a designer chose: one for each format and reserve, with its share."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from daedalus.checks import CannotRunError
from daedalus.lab.studies.certificates import (
    MOST,
    PANELS,
    Chosen,
    certificate_dots,
    certificate_tables,
    chosen_mechanisms,
    mean_regrets,
)
from daedalus.launch.config.compose import compose_config
from daedalus.launch.config.mistakes import ConfigError
from daedalus.market.classic import ClassicMarket
from daedalus.market.mechanism import Mechanism
from daedalus.market.population import BidderType, Population
from daedalus.market.strategic import StrategicMarket
from experiments.certificate import main
from tests.populations import seat_plan

ONE = {
    "shader": BidderType(menu=["shade"], demand=1),
    "ring": BidderType(menu=["collude"], demand=1),
}
TWO = {"two": BidderType(), "one": BidderType(demand=1, share=2.0)}
BOTH = [Chosen(Mechanism("first_price"), 0.75, 0.5), Chosen(Mechanism("vcg"), 0.25, 0.25)]


def steps(mechanisms: list[Mechanism], malformed: int = 0) -> pd.DataFrame:
    """Rows of a designer, the last of which hold no mechanism."""
    rows = [each.to_dict() | {"valid": True} for each in mechanisms]
    frame = pd.DataFrame(rows + [{"valid": False}] * malformed)
    return frame.astype({"valid": bool})


def test_mechanisms_of_one_format_and_reserve_are_one() -> None:
    often, seldom = Mechanism(reveal_reserve=True), Mechanism(reserve_price=0.101)
    other = Mechanism(auction_type="vcg", reserve_price=0.3)
    found = chosen_mechanisms(steps([often] * 3 + [seldom] * 2 + [other] * 4, malformed=1))
    assert found == [(often, 0.5, 0.3), (other, 0.4, 0.4)]


def test_the_most_frequent_are_kept() -> None:
    many = [Mechanism(reserve_price=number / 100) for number in range(40)]
    found = chosen_mechanisms(steps([*many, many[39]]))
    assert len(found) == MOST and found[0][:2] == (many[39], pytest.approx(2 / 41))


def test_no_valid_mechanism_is_refused() -> None:
    with pytest.raises(CannotRunError, match="no valid mechanism"):
        chosen_mechanisms(steps([Mechanism()], malformed=1).iloc[1:])


def test_tables_have_means_over_bidders_and_the_worst_of_types() -> None:
    summary, types = certificate_tables(Population(bidders=6, units=3, types=TWO), BOTH, 0)
    first = types[types["auction_type"] == "first_price"]
    assert first["type"].tolist() == ["two", "one"] and first["bidders"].tolist() == [2, 4]
    assert summary["worst_ex_post_regret"][0] == first["worst_ex_post_regret"].max()
    mean = np.average(first["ex_post_regret"], weights=first["bidders"])
    assert summary["ex_post_regret"][0] == pytest.approx(mean)
    assert summary["ex_post_regret"][1] == 0.0 and summary["share"].tolist() == [0.75, 0.25]


def test_regret_of_designers_is_a_mean_over_what_they_set() -> None:
    first, vcg = (
        Mechanism(auction_type="first_price", reserve_price=0.0),
        Mechanism(auction_type="vcg"),
    )
    frames = [
        steps([first, first, vcg, vcg], malformed=2),
        steps([vcg]),
        steps([vcg], malformed=1)[1:],
    ]
    names = ["mixed", "vcg", "malformed"]
    played = pd.concat(
        [each.assign(designer=name) for name, each in zip(names, frames, strict=True)]
    )
    market = StrategicMarket(Population(bidders=2, units=1))
    found = mean_regrets(played, market, seed=0)
    assert found["mixed"] == pytest.approx(1 / 12) and found["vcg"] == 0.0  # half of 1/6
    assert np.isnan(found["malformed"])


def test_a_market_without_certificates_has_no_regret() -> None:
    played = steps([Mechanism()]).assign(designer="any")
    drawn = StrategicMarket(Population(concentration=1.0))
    for market in (drawn, ClassicMarket(seat_plan(1))):
        assert mean_regrets(played, market, seed=0).isna().all()


def test_the_figure_names_mechanisms_and_types() -> None:
    for types in (ONE, TWO):
        population = Population(bidders=4, units=2, types=types)
        figure = certificate_dots(*certificate_tables(population, BOTH, 0))
        assert len(figure.axes) == len(PANELS)
        names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
        assert names == ["first price, reserve 0.10: 75 %", "vcg, reserve 0.10: 25 %"]
        assert [each.get_text() for each in figure.legends[0].get_texts()] == list(types)


def certified(out: Path, *changes: str) -> pd.DataFrame:
    small = ("tracking=files", "evaluation.episodes=2", "market.episode_length=5")
    main(compose_config("+experiment=certificate", *small, *changes), out)
    assert {path.stem for path in (out / "figures").iterdir()} >= {"certificates"}
    return pd.read_csv(out / "summary.csv")


def test_the_experiment_refuses_the_classic_market() -> None:
    with pytest.raises(ConfigError, match="choose market=strategic"):
        compose_config("+experiment=certificate", "market=classic")


@pytest.mark.slow
def test_the_experiment_says_what_it_leaves_out_and_what_second_price_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The footnote stands only where several units are sold; regret always has its word."""
    found = certified(tmp_path / "one", "mechanism=first_price", "population=lottery")
    one = " ".join(capsys.readouterr().out.split())
    drawn = certified(tmp_path / "three", "designer=random", "population=honest")
    three = " ".join(capsys.readouterr().out.split())
    assert found["auction_type"].tolist() == ["first_price"] and found["share"].tolist() == [1.0]
    assert (found[["interim_regret", "ex_post_regret", "ring_gain"]] > 0.0).all(axis=None)
    assert pd.read_csv(tmp_path / "one" / "types.csv")["type"].tolist() == ["rota"]
    assert drawn["auction_type"].nunique() == 3 and drawn["share"].sum() < 1.0 + 1e-12
    assert (drawn.loc[drawn["auction_type"] == "vcg", "ex_post_regret"] == 0.0).all()
    assert one.count("left out: fines, secret reserves") == 2 == three.count("0 by theorem") + 1
    assert "a uniform price" not in one and three.count("a uniform price") == 2
    regrets = {name for name in found if "regret" in name}
    assert all("interim" in name or "ex_post" in name for name in regrets)
