"""Populations of known optimum: what theory says of them, and the share that designers take."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from daedalus.checks import CannotRunError
from daedalus.design.designers.fixed import FixedDesigner
from daedalus.design.env import DesignEnv
from daedalus.evaluation.settings import EvaluationSettings
from daedalus.lab.studies.known_optimum import (
    SETTINGS,
    Optimum,
    myerson_reserve,
    optimum_shares,
    shares_of_optimum,
    theory_table,
)
from daedalus.launch.config.compose import compose_config
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanism
from daedalus.market.parameters import StrategicParameters
from daedalus.market.population import BidderType, Population
from daedalus.market.ranges import Ranges
from experiments import known_optimum
from tests.proposing import proposing

LADDER = compose_config("+experiment=known_optimum").populations
POPULATIONS = {name: each.strategic for name, each in LADDER.items() if each.strategic is not None}
EXPECTED = {  # highest revenue, second price without a reserve, best reserve, units of its scale
    "optimum_uniform_1": (0.25, 0.0, 0.5, 1),
    "optimum_uniform_2": (0.416667, 1 / 3, 0.5, 1),
    "optimum_uniform_3": (0.53125, 0.5, 0.5, 1),
    "optimum_uniform_5": (0.671875, 2 / 3, 0.5, 1),
    "optimum_uniform_10": (0.818271, 9 / 11, 0.5, 1),
    "optimum_exponential": (2.7517, 2.5, 3.0, 30),
    "optimum_asymmetric": (2.297617, 2.014722, 1.75, 5),
    "optimum_irregular": (2.374867, 2.21875, 2.0, 8),
}
STATIC = MarketSettings(
    episode_length=2,
    rounds_per_step=50,
    scored_rounds=50,
    strategic=StrategicParameters(shock_rate=0.0),
)


@pytest.mark.parametrize("name", EXPECTED)
def test_theory_says_what_the_textbook_says(name: str) -> None:
    found, (optimum, plain, reserve, unit) = Optimum.of(POPULATIONS[name]), EXPECTED[name]
    near = 2e-4 if name == "optimum_exponential" else 2e-6  # it is kept by 257 knots
    assert found.revenue * unit == pytest.approx(optimum, rel=near)
    assert found.plain * unit == pytest.approx(plain, rel=near, abs=1e-6)
    assert found.reserve * unit == pytest.approx(reserve, abs=0.02)
    enough = found.reached == pytest.approx(found.revenue, rel=1e-5)
    assert enough == (name not in ("optimum_asymmetric", "optimum_irregular"))


def test_the_ladder_has_all_rungs() -> None:
    assert set(POPULATIONS) == set(EXPECTED)


@pytest.mark.slow
@pytest.mark.parametrize("format_", ["first_price", "second_price", "vcg"])
@pytest.mark.parametrize("name", ["optimum_uniform_3", "optimum_exponential", "optimum_irregular"])
def test_every_format_reaches_what_theory_says_at_the_best_reserve(format_: str, name: str) -> None:
    env, optimum = DesignEnv.of(STATIC, POPULATIONS[name]), Optimum.of(POPULATIONS[name])
    best = Mechanism(format_, reserve_price=optimum.reserve, reveal_reserve=True)
    table = shares_of_optimum(env, {"best": FixedDesigner(best)}, EvaluationSettings(400), 0)
    assert table.loc[0, "revenue"] == pytest.approx(optimum.reached, rel=0.015)
    reachable = optimum.reached / optimum.revenue
    low, high = table.loc[0, ["played_share_low", "played_share_high"]]
    assert low < reachable <= high
    assert table.loc[0, "equilibrium_share"] == pytest.approx(reachable, abs=1e-4)
    assert table.loc[0, "unused_reply"] < 0.02
    assert table.loc[0, "reserve"] == pytest.approx(optimum.reserve)


def opaque(reserve: float) -> Mechanism:
    """First price that tells bidders nothing."""
    return Mechanism(
        "first_price", reserve, False, False, False, False, False, coalition_policy="allow"
    )


def open_book(reserve: float) -> Mechanism:
    """First price that tells bidders everything."""
    return Mechanism("first_price", reserve, True, True, True, True, True)


@pytest.mark.slow
def test_no_share_is_told_where_bidders_learn_nothing_and_none_is_above_one() -> None:
    """They bid 4/5 of their values: revenue is 1.10 optima, and the strongest forgoes 52 %."""
    env = DesignEnv.of(replace(STATIC, episode_length=10), POPULATIONS["optimum_asymmetric"])
    rules = {"opaque": opaque(0.0), "open": open_book(0.0), "high": open_book(0.35)}
    rules["second"] = Mechanism(reserve_price=0.35, reveal_reserve=True)
    designers = {name: FixedDesigner(each) for name, each in rules.items()}
    table = shares_of_optimum(env, designers, EvaluationSettings(40), 0).set_index("designer")
    shares = table[["equilibrium_share", "played_share", "played_share_high"]]
    assert not (shares > 1.0).any(axis=None)
    assert table.loc["opaque", "revenue"] / table.loc["opaque", "optimum"] > 1.08
    assert np.isnan(table.loc["opaque", "played_share"])
    assert table.loc["opaque", "unused_reply"] == pytest.approx(0.52, abs=0.03)
    assert table.loc["opaque", "equilibrium_share"] == pytest.approx(0.890, abs=0.004)
    assert table.loc["open", "equilibrium_share"] == table.loc["opaque", "equilibrium_share"]
    assert 0.81 < table.loc["open", "played_share"] < table.loc["high", "played_share"] < 0.91
    assert table.loc["second", "unused_reply"] == 0.0
    assert table.loc["second", "equilibrium_share"] == pytest.approx(0.8986, abs=1e-4)


def test_a_designer_of_malformed_answers_has_no_revenue_and_leaves_nothing_unused() -> None:
    silent = proposing(lambda steps, _: [None] * len(steps))
    env = DesignEnv.of(STATIC, POPULATIONS["optimum_uniform_2"])
    (row,) = shares_of_optimum(env, {"silent": silent}, EvaluationSettings(4), 0).to_dict("records")
    assert row["revenue"] == row["equilibrium_share"] == row["played_share"] == 0.0
    assert row["unused_reply"] == row["valid"] == 0.0


def test_the_unused_reply_says_under_what_share_of_steps_it_was_measured() -> None:
    wandering = proposing(
        lambda steps, rng: [
            Mechanism("second_price", 0.3 + each / 100) for each in rng.integers(0, 40, len(steps))
        ]
    )
    env = DesignEnv.of(STATIC, POPULATIONS["optimum_uniform_2"])
    designers = {"wandering": wandering, "fixed": FixedDesigner(Mechanism("second_price", 0.5))}
    rows = shares_of_optimum(env, designers, EvaluationSettings(30), 0).set_index("designer")
    assert rows.loc["fixed", "unused_reply_share"] == 1.0
    assert 8 / 60 < rows.loc["wandering", "unused_reply_share"] < 0.7


def test_a_malformed_answer_sells_nothing() -> None:
    best = Mechanism("second_price", 0.5)
    stammering = proposing(lambda steps, _: [None if each else best for each in steps])  # two steps
    env = DesignEnv.of(STATIC, POPULATIONS["optimum_uniform_2"])
    designers = {"half": stammering, "whole": FixedDesigner(best)}
    rows = shares_of_optimum(env, designers, EvaluationSettings(20), 0).set_index("designer")
    assert rows.loc["half", "valid"] == 0.5
    assert rows.loc["half", "revenue"] == pytest.approx(rows.loc["whole", "revenue"] / 2, rel=0.1)
    assert rows.loc["half", "played_share"] == pytest.approx(
        rows.loc["half", "equilibrium_share"], abs=0.05
    )


@pytest.mark.slow
def test_every_population_of_known_optimum_has_the_name_of_its_setting() -> None:
    """Exponential values are kept by 257 knots here, which adds 0.00015."""
    for name, each in theory_table(POPULATIONS).set_index("population").iterrows():
        assert each["optimum_in_its_unit"] == pytest.approx(SETTINGS[str(name)].optimum, abs=2e-4)
    unnamed = theory_table({"own": POPULATIONS["optimum_uniform_2"]})
    assert unnamed.loc[0, "setting"] == ""


def test_populations_without_one_optimum_are_refused() -> None:
    with pytest.raises(CannotRunError, match="draw their bidders"):
        Optimum.of(Population(ranges=Ranges(bidders=[2, 4])))
    with pytest.raises(CannotRunError, match="set its demand to 1"):
        Optimum.of(Population(units=3, types={"greedy": BidderType(demand=2)}))


def test_figures_show_designers_and_reserves() -> None:
    some = {name: POPULATIONS[name] for name in ("optimum_uniform_2", "optimum_uniform_3")}
    tables = [
        shares_of_optimum(
            DesignEnv.of(STATIC, each),
            {"low": FixedDesigner(Mechanism()), "oracle": FixedDesigner(Optimum.of(each).oracle)},
            EvaluationSettings(4),
            0,
        ).assign(population=name)
        for name, each in some.items()
    ]
    table = pd.concat(tables)
    shares = optimum_shares(table, theory_table(some))
    assert {text.get_text() for text in shares.axes[0].get_legend().get_texts()} == {
        "low",
        "oracle",
    }
    history = pd.DataFrame({"step": [1, 2]}).assign(
        reserve_price=[0.3, 0.5], reserve_price_low=0.1, reserve_price_high=0.8
    )
    figure = myerson_reserve(table, {"low": history, "without": pd.DataFrame({"step": [1]})})
    assert len(figure.axes[1].lines) == 2  # one history, and the line of theory
    named = [text.get_text() for text in figure.axes[1].get_legend().get_texts()]
    assert named == ["low", "oracle"]  # in the order of the table


@pytest.mark.slow
def test_the_experiment_finds_what_the_oracle_takes(tmp_path: Path) -> None:
    small = ("evaluation.episodes=8", "designer.candidates=8", "designer.sweeps=0")
    config = compose_config("+experiment=known_optimum", "tracking=files", *small)
    two = {name: config.populations[name] for name in ("optimum_uniform_2", "optimum_irregular")}
    known_optimum.main(replace(config, populations=two), tmp_path)
    table = pd.read_csv(tmp_path / "summary.csv").set_index(["population", "designer"])
    for name, reachable in (("optimum_uniform_2", 1.0), ("optimum_irregular", 0.987)):
        assert table.loc[(name, "oracle"), "played_share"] == pytest.approx(reachable, abs=0.03)
        for share in ("played_share", "equilibrium_share"):
            assert table.loc[(name, "random"), share] < table.loc[(name, "search"), share] <= 1.0
