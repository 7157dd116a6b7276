"""Comparisons report R and, beside it, the reward that the run's designers were made for."""

from __future__ import annotations

import pytest

from daedalus.config import compose_config
from daedalus.designers.fixed import FixedDesigner
from daedalus.evaluation.episodes import METRICS, OBJECTIVE
from daedalus.market.mechanism import Mechanism
from experiments.build import make_env
from experiments.compare import comparison

SMALL = ["+experiment=boxplot", "evaluation.episodes=3", "evaluation.resamples=100"]
SMALL += ["market.episode_length=2"]


@pytest.mark.parametrize("reward", ["composite", "published"])
def test_the_objective_is_beside_r_if_it_is_not_r(reward: str) -> None:
    config = compose_config(*SMALL, f"reward={reward}")
    designers = {"one": FixedDesigner(Mechanism()), "two": FixedDesigner(Mechanism("vcg"))}
    tables = comparison(config, make_env(config), designers, ["one"])
    extra = [OBJECTIVE] if reward == "published" else []
    assert list(tables["episodes"]) == ["designer", "episode", *METRICS, *extra]
    assert set(tables) == {"steps", "episodes", "summary", "differences"}
    if extra:
        assert (tables["steps"][OBJECTIVE] > 1.0 + tables["steps"]["reward"]).all()
