"""The numbers of an observation have the names that are told."""

from __future__ import annotations

import numpy as np

from daedalus.design.search.features import FEATURES, observed_features
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.observation import PROXIES
from daedalus.market.seeds import market_seeds
from tests.design.search.markets import env_of


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
