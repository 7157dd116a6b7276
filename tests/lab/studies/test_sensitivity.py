"""The verdicts of the sensitivity experiment, on responses whose answer is known."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from daedalus.design.env import DesignEnv
from daedalus.design.search.budgets import SearchBudget
from daedalus.design.search.space import LEVELS
from daedalus.lab.studies import sensitivity
from daedalus.lab.studies.sensitivity import Identification, Responses
from daedalus.lab.studies.sensitivity_figures import best_settings, confusion, response_curves
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import FIELDS, Mechanism
from daedalus.market.population import Population
from tests.design.search.markets import AGAINST_WELFARE
from tests.populations import TYPES

EPISODES = 400


def responses(seed: int = 0, **means: list[float]) -> Responses:
    """Return paired scores with the given means by field; other fields move nothing."""
    rng = np.random.default_rng(seed)
    halves = []
    for _ in ("chosen", "scores"):
        noise_of_market = rng.normal(0.0, 0.1, EPISODES)
        scores = {}
        for field in FIELDS:
            level_means = np.array(means.get(field, [0.4] * len(LEVELS[field])))
            noise = rng.normal(0.0, 0.01, (len(level_means), EPISODES)) if field in means else 0.0
            scores[field] = level_means[:, None] + noise_of_market + noise
        halves.append(scores)
    return Responses(Mechanism(), *halves)


def row(table: pd.DataFrame, field: str) -> pd.Series:
    return table.set_index("field").loc[field]


def test_a_field_is_live_where_it_moves_most_and_by_enough() -> None:
    both = {
        "one": responses(reveal_reserve=[0.400, 0.415], shill_penalty=[0.4] * 8),
        "two": responses(1, reveal_reserve=[0.430, 0.400]),
    }
    live = sensitivity.live_fields(both)
    reserve = row(live, "reveal_reserve")
    assert (reserve["population"], reserve["best"], reserve["passes"]) == ("two", False, True)
    assert reserve["effect"] == pytest.approx(0.03, abs=0.003)
    assert not row(live, "shill_penalty")["passes"]
    assert not row(live, "auction_type")["passes"]


def test_pairing_removes_the_noise_of_markets_and_other_noise_makes_no_effect() -> None:
    loud = responses(reveal_reserve=[0.40, 0.43])
    loud.scores["reveal_reserve"][1] += np.random.default_rng(9).normal(0, 2.0, EPISODES)
    live = row(sensitivity.live_fields({"loud": loud}), "reveal_reserve")
    assert live["effect"] > 0.02 > live["effect_low"] and not live["passes"]


def test_an_interval_that_reaches_its_bound_does_not_pass() -> None:
    table = sensitivity.live_fields({"one": responses(reveal_reserve=[0.40, 0.4203])})
    at_the_bound = row(table, "reveal_reserve")
    assert at_the_bound["effect"] > sensitivity.LEAST_EFFECT and not at_the_bound["passes"]
    told = Identification(np.eye(4) * 0.51, list("abcd"), 10)
    low, high = told.interval
    assert low < 0.5 < told.accuracy < high and high - low > 0.2


@pytest.mark.parametrize(
    ("means", "interior"),
    [
        ([0.40, 0.41, 0.42, 0.41, 0.40, 0.39, 0.38, 0.37], True),
        ([0.42, 0.41, 0.40, 0.39, 0.38, 0.37, 0.36, 0.35], False),
        ([0.35, 0.36, 0.37, 0.38, 0.39, 0.40, 0.41, 0.42], False),
        ([0.42, 0.4201, 0.41, 0.40, 0.39, 0.38, 0.37, 0.36], False),
    ],
)
def test_interior_means_clearly_better_than_both_ends(means: list[float], interior: bool) -> None:
    table = sensitivity.interior_fields({"one": responses(shill_penalty=means)})
    assert bool(row(table, "shill_penalty")["passes"]) == interior


def test_a_flip_needs_two_populations_that_clearly_disagree() -> None:
    up, down = responses(reveal_reserve=[0.40, 0.41]), responses(reveal_reserve=[0.41, 0.40])
    assert row(sensitivity.sign_flips({"up": up, "down": down}), "reveal_reserve")["passes"]
    assert not row(sensitivity.sign_flips({"up": up, "too": up}), "reveal_reserve")["passes"]
    flat = responses(reveal_reserve=[0.40, 0.40])
    assert not row(sensitivity.sign_flips({"up": up, "flat": flat}), "reveal_reserve")["passes"]


def test_a_flip_is_between_best_levels_alone() -> None:
    one = responses(auction_type=[0.40, 0.41, 0.45])
    two = responses(1, auction_type=[0.41, 0.40, 0.45])
    assert not row(sensitivity.sign_flips({"one": one, "two": two}), "auction_type")["passes"]
    three = responses(2, auction_type=[0.46, 0.40, 0.45])
    flip = row(sensitivity.sign_flips({"one": one, "two": two, "three": three}), "auction_type")
    assert flip["passes"] and {flip["best"], flip["other_best"]} == {"first_price", "vcg"}


def test_levels_are_chosen_and_reported_on_different_markets() -> None:
    lucky = responses(reveal_reserve=[0.40, 0.40], shill_penalty=[0.40] * 8)
    lucky.chosen["reveal_reserve"][1] += 0.05
    lucky.chosen["shill_penalty"][3] += 0.05
    both = {"lucky": lucky}
    assert row(sensitivity.live_fields(both), "reveal_reserve")["effect"] < 0.01
    assert not row(sensitivity.interior_fields(both), "shill_penalty")["passes"]
    unlucky = {"lucky": lucky, "steady": responses(3, reveal_reserve=[0.42, 0.40])}
    assert not row(sensitivity.sign_flips(unlucky), "reveal_reserve")["passes"]


def test_verdicts_fail_when_the_requirement_does() -> None:
    good = {
        "one": responses(auction_type=[0.5, 0.4, 0.4]),
        "two": responses(auction_type=[0.4, 0.5, 0.4]),
    }
    tables = sensitivity.tables_of(good)
    spread = np.random.default_rng(0).normal(0.0, 0.02, 24)
    gains = spread - spread.mean()
    # 0.027 ± 0.009, as at seed 17, does not contradict 0.03; 0.015 ± 0.009 does
    for gain, seen, passes in ((0.027, 0.9, True), (0.015, 0.5, False)):
        found = sensitivity.verdicts(
            tables,
            pd.DataFrame({"fixed": 0.4, "adapted": 0.4 + gain + gains}),
            Identification(np.eye(4) * seen, list("abcd"), 1000),
        ).set_index("requirement")["passes"]
        assert found["adapting pays"] == passes
        assert found["best auction type differs"]
        assert not found["reveal_reserve is live"]
        assert not found["fields whose best flips"]
        assert found["proxies identify populations"] == (seen > 0.5)


def small_env(**changes: object) -> DesignEnv:
    settings = MarketSettings(episode_length=3)
    return DesignEnv.of(settings, Population(types=TYPES, **changes))


@pytest.mark.slow
def test_the_whole_way_on_a_small_market_with_another_reward() -> None:
    env = dataclasses.replace(small_env(concentration=1.0), reward=AGAINST_WELFARE)
    search = SearchBudget(candidates=8, episodes=2, sweeps=1, sweep_episodes=4)
    found = {name: sensitivity.respond(env, search, 8, 0, name) for name in ("one", "two")}
    assert all((scores <= 0).all() for scores in found["one"].scores.values())
    assert found["one"].best.reserve_price == 0.9  # the best for R reserves less
    table = sensitivity.response_table(found)
    assert len(table) == 2 * sum(len(levels) for levels in LEVELS.values())
    assert (table.groupby(["population", "field"])["best"].sum() == 1).all()
    assert (table.loc[table["best"], "difference"] == 0).all()
    adapting = sensitivity.adapting_pays(env, [found["one"].best], 2, 8, seed=0)
    assert len(adapting) == 2 and adapting["population"].all()
    for welfare in (-adapting["fixed"], -adapting["adapted"]):
        assert (welfare > 0).all() and (welfare < 0.4).all()  # 0.9 under the best for R
    told = sensitivity.identify({"mixed": env, "truthful": small_env()}, 40, seed=0)
    assert told.confusion.sum(axis=1) == pytest.approx([1.0, 1.0])


def test_populations_that_differ_are_told_apart_and_equal_ones_are_not() -> None:
    settings = MarketSettings()
    truthful = DesignEnv.of(settings, Population())
    ring = Population(types={"ring": TYPES["colluder"]}, units=1)
    other = DesignEnv.of(settings, ring)
    assert sensitivity.identify({"a": truthful, "b": other}, 200, seed=0).accuracy > 0.95
    same = sensitivity.identify({"a": other, "b": other}, 400, seed=0).accuracy
    assert same == pytest.approx(0.5, abs=0.08)


FOUND = {"one": responses(), "two": responses(1, reveal_reserve=[0.43, 0.40])}


@pytest.mark.slow
def test_response_curves_have_a_panel_for_each_field_and_a_colour_for_each_population() -> None:
    found = {f"population {number}": responses() for number in range(14)}
    panels = [
        axes for axes in response_curves(sensitivity.response_table(found)).axes if axes.has_data()
    ]
    assert len(panels) >= len(FIELDS)
    assert len({line.get_color() for line in panels[0].get_lines()}) >= 14


def test_best_settings_name_the_populations() -> None:
    axes = best_settings(sensitivity.response_table(FOUND)).axes[0]
    labels = {text.get_text() for text in [*axes.get_xticklabels(), *axes.get_yticklabels()]}
    assert set(FOUND) <= labels


def test_the_confusion_names_the_populations_on_both_axes() -> None:
    axes = confusion(Identification(np.eye(2), list(FOUND), 10)).axes[0]
    for ticks in (axes.get_xticklabels(), axes.get_yticklabels()):
        assert [text.get_text() for text in ticks] == list(FOUND)
