"""Objectives: scores are those of whole episodes, and of the reward that was asked for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from daedalus.design.designers.fixed import FixedDesigner
from daedalus.design.env import DesignEnv
from daedalus.design.search import objective as module
from daedalus.design.search.objective import EpisodeObjective, episode_scores
from daedalus.design.search.space import random_mechanisms
from daedalus.evaluation.episodes import compare, episode_means
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.seeds import generator, market_seeds
from tests.design.search.markets import HIGH, PUBLISHED, play_steps, published_reward
from tests.populations import population


@pytest.fixture
def env() -> DesignEnv:
    return DesignEnv.of(MarketSettings(episode_length=4), population(4))


@pytest.mark.parametrize("chunk", [7, 65_536])
def test_scores_are_those_of_fixed_designers(
    env: DesignEnv, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_CHUNK", chunk)
    mechanisms = random_mechanisms(3, generator(0, "test"))
    scores = EpisodeObjective([env], 4, "evaluation")(mechanisms, 5)
    designers = {str(row): FixedDesigner(mechanisms[row]) for row in range(3)}
    means = episode_means(compare(env, designers, 5, seed=4))
    expected = means.groupby("designer", sort=False)["reward"].mean()
    np.testing.assert_allclose(scores, expected, rtol=1e-12)


def test_every_episode_has_its_score_on_the_given_reward(env: DesignEnv) -> None:
    published = replace(env, reward=PUBLISHED)
    scores = episode_scores(published, Mechanisms.stack([HIGH, Mechanism()]), 5, 4, "x")
    assert scores.shape == (2, 5)
    episodes = env.reset(market_seeds(4, "x", 5))
    steps = [published_reward(each) for each in play_steps(episodes, Mechanism(), 4)]
    np.testing.assert_allclose(scores[1], np.mean(steps, axis=0), rtol=1e-12)
    assert (scores > 1.0).all()  # the format alone pays 1


def test_environments_count_alike(env: DesignEnv) -> None:
    other = DesignEnv.of(MarketSettings(episode_length=4), population(2))
    mechanisms = Mechanisms.stack([Mechanism(), HIGH])
    here, there = (EpisodeObjective([each], 0)(mechanisms, 5) for each in (env, other))
    both = EpisodeObjective([env, other], 0)(mechanisms, 5)
    np.testing.assert_allclose(both, (here + there) / 2)
