"""Trees predict from observations, as numbers with names, which candidate earns most."""

from __future__ import annotations

import numpy as np
import pytest

from daedalus.design.env import DesignEnv
from daedalus.design.search.features import FEATURES, observed_features
from daedalus.design.search.states import mid_episode_states
from daedalus.design.search.trees import TreeDesigner
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.observation import PROXIES
from daedalus.market.seeds import generator, market_seeds
from tests.design.search.markets import env_of

PAIR = Mechanisms.stack([Mechanism(), Mechanism(reserve_price=0.9)])


def test_features_are_finite_before_the_first_round_and_differ_between_markets() -> None:
    env = env_of()
    settings = MarketSettings(warmup_rounds=0)
    empty = DesignEnv(env.market, settings).reset(market_seeds(0, "x", 3)).observe()
    features = observed_features(empty)
    assert features.shape[0] == 3 and np.isfinite(features).all()
    observed = env.reset(market_seeds(0, "x", 3)).observe()
    assert len(np.unique(observed_features(observed), axis=0)) == 3


def test_predictions_use_the_observation_and_not_what_happened() -> None:
    states, fresh = (mid_episode_states(env_of(), 400, 0, name) for name in "xy")
    rng = generator(0, "n")
    here, elsewhere = observed_features(states.observe()), observed_features(fresh.observe())
    noise = rng.normal(0.0, 0.06, (400, 2))
    rewards = noise + np.array([0.0, 0.05])
    assert 0.6 < (rewards.argmax(axis=1) == 1).mean() < 0.8
    predicted = TreeDesigner.fit(here, rewards, PAIR, seed=0).advantages(elsewhere)
    assert (predicted.argmax(axis=1) == 1).mean() > 0.95
    price, other = (each.observe().proxy("bid_mean") for each in (states, fresh))
    gain = np.where(price > np.median(price), 0.3, -0.3)
    rewards = noise + gain[:, None] * np.array([-1.0, 1.0])
    predicted = TreeDesigner.fit(here, rewards, PAIR, seed=0).advantages(elsewhere)
    far = np.abs(other - np.median(price)) > 0.5 * price.std()
    chosen = predicted[far].argmax(axis=1) == 1
    assert (chosen == (other[far] > np.median(price))).mean() > 0.95


def test_the_candidate_with_the_highest_prediction_is_proposed() -> None:
    observed = mid_episode_states(env_of(), 60, 0, "x").observe()
    features = observed_features(observed)
    rewards = np.where(observed.round_number[:, None] > 1, [0.0, 1.0], [1.0, 0.0])
    designer = TreeDesigner.fit(features, rewards, PAIR, seed=0)
    advantages = designer.advantages(features)
    np.testing.assert_allclose(advantages.sum(axis=1), 0.0, atol=1e-12)
    assert set(designer.choose(observed)) == {0, 1}
    proposed = designer.propose(observed, generator(0, "d"))
    np.testing.assert_array_equal(proposed.reserve_price == 0.9, advantages.argmax(axis=1) == 1)


def test_predictions_do_not_depend_to_the_bit_on_the_other_markets() -> None:
    rng = generator(0, "n")
    features = rng.normal(size=(6000, 12))
    designer = TreeDesigner.fit(features[:500], rng.normal(size=(500, 2)), PAIR, seed=0)
    predicted = designer.advantages(features)
    assert predicted.shape == (6000, 2)
    np.testing.assert_array_equal(predicted, designer.advantages(features))
    np.testing.assert_array_equal(predicted[4321:4400], designer.advantages(features[4321:4400]))
    assert designer.advantages(features[:0]).shape == (0, 2)


def test_other_features_are_refused() -> None:
    designer = TreeDesigner.fit(np.zeros((20, 3)), np.zeros((20, 2)), PAIR, seed=0)
    with pytest.raises(ValueError, match=r"3 features.* 4 now; remove distillation_data\.npz"):
        designer.advantages(np.zeros((1, 4)))


def test_each_number_is_what_its_name_says() -> None:
    episodes = env_of().reset(market_seeds(0, "x", 3))
    episodes.step(Mechanisms.repeat(Mechanism("vcg", 0.25, shill_penalty=2.0), 3))
    observed = episodes.observe()
    numbers = observed_features(observed)
    assert numbers.shape == (3, len(FEATURES)) and len(set(FEATURES)) == len(FEATURES)
    named = dict(zip(FEATURES, numbers.T, strict=True))
    for name in PROXIES:
        np.testing.assert_array_equal(named[name], observed.proxy(name))
    assert (named["reserve_price"] == 0.25).all() and (named["shill_penalty"] == 2.0).all()
    assert (named["auction_type=vcg"] == 1.0).all() and (named["auction_type"] == 2.0).all()
    assert (named["auction_type=first_price"] == 0.0).all()
    assert (named["coalition_policy=allow"] == 1.0).all()
    assert np.allclose(named["episode_played"], 1 / observed.episode_length)
    np.testing.assert_allclose(
        named["newest_welfare"], observed.recent[:, -5:, 0].mean(axis=1), rtol=1e-12
    )
    np.testing.assert_allclose(
        named["mean_revenue"], np.nanmean(observed.recent[:, :, 8], axis=1), rtol=1e-12
    )
