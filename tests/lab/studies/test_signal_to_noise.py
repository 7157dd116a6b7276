"""Signal and noise: on numbers with a known answer, and on the market."""

from __future__ import annotations

import numpy as np
import pytest

from daedalus.design.env import DesignEnv
from daedalus.design.rewards.stack import RewardStack
from daedalus.lab.studies.signal_to_noise import (
    PUBLISHED,
    reward_recipes,
    shared_futures,
    signal_to_noise,
)
from daedalus.market.interface import MarketSettings
from daedalus.market.population import Population
from tests.populations import population


def test_known_variances_are_found() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(0, 2.0, (200, 50))
    table = signal_to_noise(
        {
            "noisy": lambda draw: truth + np.random.default_rng(draw).normal(0, 1.0, truth.shape),
            "exact": lambda draw: truth + np.random.default_rng(draw).normal(0, 0.01, truth.shape),
        },
        draws=20,
    ).set_index("reward")
    assert table.loc["noisy", "signal"] == pytest.approx(4.0, rel=0.05)
    assert table.loc["noisy", "noise"] == pytest.approx(1.0, rel=0.05)
    assert table.loc["noisy", "correlation"] == pytest.approx(2 / np.sqrt(5), abs=0.01)
    assert table.loc["exact", "correlation"] > 0.999


def make_env() -> DesignEnv:
    return DesignEnv.of(MarketSettings(), population(3))


@pytest.mark.slow
def test_forked_states_and_shared_futures_carry_far_more_signal() -> None:
    stage0 = DesignEnv.of(MarketSettings(), Population())
    recipes = reward_recipes(make_env(), stage0, groups=32, group_size=8, seed=0)
    table = signal_to_noise(recipes, draws=8).set_index("reward")
    ratio = table["signal_to_noise"]
    assert ratio[PUBLISHED] < 1.5
    assert ratio[shared_futures(64)] > 50 * ratio[PUBLISHED]
    assert table.loc[PUBLISHED, "correlation"] < 0.8
    assert table.loc[shared_futures(64), "correlation"] > 0.98


def test_every_recipe_pays_the_given_reward() -> None:
    stacks = (RewardStack({"composite": weight}) for weight in (1.0, 2.0))
    bidders = (population(3), Population())
    plain, doubled = (
        reward_recipes(*(DesignEnv.of(MarketSettings(), who, stack) for who in bidders), 3, 2, 0)
        for stack in stacks
    )
    for name, recipe in plain.items():
        np.testing.assert_allclose(doubled[name](1), 2 * recipe(1))
        assert recipe(1).shape == (3, 2)
