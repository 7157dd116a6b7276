"""What a designer does in which population, counted from the episodes that it plays."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from daedalus.design.designers.fixed import FixedDesigner
from daedalus.design.env import DesignEnv
from daedalus.evaluation.episodes import play_episodes
from daedalus.lab.studies.behaviour import (
    PRESENT,
    advantage,
    decisions,
    settings_by_presence,
)
from daedalus.lab.studies.behaviour_figures import advantages, behaviour
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import FIELDS, Mechanism
from daedalus.market.population import BidderType, Population
from daedalus.market.seeds import generator, market_seeds
from tests.proposing import proposing

EPISODES, STEPS = 60, 5
POPULATION = Population(
    types={
        "honest": BidderType(),
        "ring": BidderType(menu=["collude", "shade"]),
        "both": BidderType(menu=["withdraw", "shill"], outside_option=0.1),
    },
    concentration=1.0,
)


def alternating(steps: NDArray[np.int64], _: object) -> list[Mechanism | None]:
    """Return another reserve at every step, and a malformed mechanism at the first."""
    return [Mechanism("vcg", step / 10) if step else None for step in steps.tolist()]


@pytest.fixture(scope="module")
def env() -> DesignEnv:
    settings = MarketSettings(name="strategic", episode_length=STEPS)
    return DesignEnv.of(settings, POPULATION)


@pytest.fixture(scope="module")
def table(env: DesignEnv) -> pd.DataFrame:
    designers = {"alternating": proposing(alternating), "fixed": FixedDesigner(Mechanism())}
    return decisions(env, designers, EPISODES, seed=3)


def test_every_decision_is_there_with_what_it_earned(env: DesignEnv, table: pd.DataFrame) -> None:
    assert len(table) == 2 * EPISODES * STEPS
    fixed = table[table["designer"] == "fixed"]
    seeds = market_seeds(3, "evaluation", EPISODES)
    played = play_episodes(env, FixedDesigner(Mechanism()), seeds, generator(0, "x"))
    np.testing.assert_array_equal(fixed["reward"], played["reward"])
    mine = table[table["designer"] == "alternating"]
    assert mine.loc[mine["step"] == 1, list(FIELDS)].isna().all(axis=None)
    assert (mine.loc[mine["step"] == 3, "reserve_price"] == 0.2).all()


def test_those_present_are_counted_by_what_they_may_do(table: pd.DataFrame) -> None:
    first = table[(table["designer"] == "fixed") & (table["step"] == 1)]
    assert (first["may_withdraw"] == first["may_shill"]).all()  # one type has both
    assert ((first["may_collude"] + first["may_shill"]) <= POPULATION.bidders).all()
    assert first[list(PRESENT)].nunique().min() > 3
    other = table[(table["designer"] == "alternating") & (table["step"] == 1)]
    np.testing.assert_array_equal(first[list(PRESENT)], other[list(PRESENT)])


def test_settings_are_averaged_once_there_was_something_to_see(table: pd.DataFrame) -> None:
    means = settings_by_presence(table, "alternating", "may_collude")
    assert means["reserve_price"].to_numpy() == pytest.approx((0.3 + 0.4) / 2)
    assert (means["auction_type=vcg"] == 1).all() and (means["auction_type=first_price"] == 0).all()
    assert means["episodes"].sum() == EPISODES


def test_advantages_are_paired_by_episode(table: pd.DataFrame) -> None:
    found = advantage(table, "alternating", "fixed", "may_shill")
    assert found["count"].sum() == EPISODES
    means = table.groupby("designer")["reward"].mean()
    overall = (found["mean"] * found["count"]).sum() / EPISODES
    assert overall == pytest.approx(means["alternating"] - means["fixed"])


def test_figures_show_every_setting(table: pd.DataFrame) -> None:
    drawn = behaviour(table, "fixed")
    labels = {line.get_label() for panel in drawn.axes for line in panel.lines}
    assert {"vcg", "restrict", "winner", "collusion penalty", "reserve price"} <= labels
    assert len(advantages(table, "alternating", "fixed").axes) == len(PRESENT)
