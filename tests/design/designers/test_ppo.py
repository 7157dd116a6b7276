"""A policy of PPO as a designer: a file, its likeliest mechanism, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from daedalus.design.designers.base import DesignerContext
from daedalus.design.designers.ppo import PpoDesigner
from daedalus.design.env import DesignEnv
from daedalus.design.search.features import FEATURES, observed_features
from daedalus.design.search.space import LEVELS, places_of
from daedalus.launch.config.compose import compose_config
from daedalus.launch.config.mistakes import ConfigError
from daedalus.market.mechanism import FIELDS
from daedalus.market.seeds import market_seeds
from daedalus.runs.folder import POLICY
from tests.design.search.markets import mixed_env

LEVEL_COUNT = sum(len(LEVELS[name]) for name in FIELDS)


def drawn(seed: int = 0) -> PpoDesigner:
    """Return a network of random weights."""
    rng, sizes = np.random.default_rng(seed), (len(FEATURES), 8, 8, LEVEL_COUNT)
    layers = tuple(
        (rng.normal(0, 0.2, (outputs, inputs)).astype(np.float32), np.zeros(outputs, np.float32))
        for inputs, outputs in pairwise(sizes)
    )
    return PpoDesigner(rng.normal(size=len(FEATURES)), np.ones(len(FEATURES)), layers)


@pytest.fixture
def env() -> DesignEnv:
    return mixed_env()


def test_each_field_takes_its_level_with_the_highest_score(env: DesignEnv) -> None:
    seen = env.reset(market_seeds(0, "x", 60)).observe()
    numbers = observed_features(seen)
    designer = replace(drawn(), mean=numbers.mean(axis=0), variance=numbers.var(axis=0) + 1e-6)
    proposed = designer.propose(seen, np.random.default_rng(0))
    scores, first = designer.scores(numbers.astype(np.float32)), 0
    for name in FIELDS:
        part = scores[:, first : first + len(LEVELS[name])]
        for row in range(60):
            assert getattr(proposed[row], name) == LEVELS[name][part[row].argmax()]
        first += len(LEVELS[name])
    assert first == scores.shape[1]
    assert len(np.unique(places_of(proposed, LEVELS), axis=0)) > 1


def test_a_far_number_counts_as_ten_deviations() -> None:
    designer = drawn()
    near, far = designer.mean.copy(), designer.mean.copy()
    near[0] += 10 * np.sqrt(designer.variance[0]) + 1e-3
    far[0] += 1e6
    one, other = (designer.scores(each[None].astype(np.float32)) for each in (near, far))
    np.testing.assert_allclose(one, other, rtol=1e-4)


def test_a_file_or_a_run_s_folder_gives_the_policy_back(env: DesignEnv, tmp_path: Path) -> None:
    designer = drawn()
    designer.write(tmp_path / POLICY)
    seen = env.reset(market_seeds(1, "x", 50)).observe()
    expected = designer.propose(seen, np.random.default_rng(0))
    for checkpoint in (tmp_path, tmp_path / POLICY):
        chosen = compose_config("task=compare", "designer=ppo", f"designer.checkpoint={checkpoint}")
        built = chosen.designer.build(DesignerContext(env, seed=0))
        assert (built.propose(seen, np.random.default_rng(1)).rows == expected.rows).all()


def test_what_holds_no_policy_or_another_s_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"designer.checkpoint: '/no'; give a run of"):
        compose_config("task=compare", "designer=ppo", "designer.checkpoint=/no")
    designer = drawn()
    weights, bias = designer.layers[-1]
    fewer = replace(designer, layers=(*designer.layers[:2], (weights[1:], bias[1:])))
    fewer.write(tmp_path / POLICY)
    with pytest.raises(
        ValueError, match=rf"{len(FEATURES)} numbers and {LEVEL_COUNT - 1} levels, but"
    ):
        PpoDesigner.read(tmp_path / POLICY)
