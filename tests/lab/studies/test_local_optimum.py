"""Neighbours of a mechanism: which one a designer sets, and what changes of one field gain."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from daedalus.checks import CannotRunError
from daedalus.design.designers.fixed import FixedDesigner
from daedalus.design.designers.random import RandomDesigner
from daedalus.design.env import DesignEnv
from daedalus.design.search.objective import episode_scores
from daedalus.evaluation.episodes import compare
from daedalus.lab.studies.local_optimum import gain_bars, most_frequent, one_field_gains
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import FIELDS, Mechanism, Mechanisms
from tests.launching import play
from tests.populations import population

ENV = DesignEnv.of(MarketSettings(episode_length=3), population(3))
BAD = Mechanism(reserve_price=0.8, collusion_penalty=0.5)


def test_gains_are_those_over_the_mechanism_in_the_same_episodes() -> None:
    gains = one_field_gains(ENV, BAD, 20, seed=0)
    assert gains["gain"].is_monotonic_decreasing and gains.loc[0, "field"] == "reserve_price"
    better = replace(BAD, reserve_price=float(gains.loc[0, "value"]))
    before, after = (
        episode_scores(ENV, Mechanisms.stack([one]), 20, 0, "neighbours") for one in (BAD, better)
    )
    assert gains.loc[0, "gain"] == pytest.approx((after - before).mean())
    assert gains.loc[0, "sem"] == pytest.approx((after - before).std(ddof=1) / 20**0.5)
    assert set(gains["field"]) == set(FIELDS) and len(gains) == 2 + 90 + 5 + 90 + 3


def test_the_mechanism_that_is_set_most_often_is_found() -> None:
    fixed = compare(ENV, {"one": FixedDesigner(BAD)}, 3, seed=0)
    assert most_frequent(fixed) == (BAD, 1.0)
    mixed = pd.concat([fixed, compare(ENV, {"two": RandomDesigner()}, 3, seed=0)])
    assert most_frequent(mixed) == (BAD, 0.5)
    with pytest.raises(CannotRunError, match="no valid mechanism"):
        most_frequent(mixed.assign(valid=False))


def test_the_figure_has_the_best_change_of_each_field() -> None:
    figure = gain_bars(one_field_gains(ENV, BAD, 4, seed=0))
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert len(names) == len(FIELDS) and names[0].startswith("reserve price: 0")


@pytest.mark.slow
def test_the_experiment_shows_what_a_designer_misses(tmp_path: Path) -> None:
    what = ["designer=fixed", "mechanism.reserve_price=0.8", "evaluation.episodes=8"]
    play(tmp_path, "+experiment=neighbours", "tracking=files", *what)
    gains = pd.read_csv(tmp_path / "summary.csv")
    assert gains.loc[0, "field"] == "reserve_price" and gains.loc[0, "gain"] > 0.05
    assert (tmp_path / "figures" / "neighbours.png").exists()
