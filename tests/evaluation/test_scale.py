"""The shipped scales: measured in today's populations, and true in other episodes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

import daedalus
from daedalus.design.designers.fixed import FixedDesigner
from daedalus.design.designers.random import RandomDesigner
from daedalus.design.env import DesignEnv
from daedalus.evaluation.episodes import compare, episode_means
from daedalus.evaluation.scale import fingerprint, scale_named, scale_of
from daedalus.launch.from_config import make_envs
from tests.launch.config.composing import composed


@pytest.fixture(scope="module")
def envs() -> dict[str, DesignEnv]:
    return make_envs(composed("+experiment=oracle"))


@pytest.mark.slow
def test_every_population_on_offer_and_of_the_benchmark_has_its_scale(envs) -> None:
    offered = {**composed("+experiment=serve").populations}
    benchmark = {**composed("+experiment=leaderboard").populations}
    assert envs.keys() == offered.keys() | benchmark.keys()
    for name, env in envs.items():
        found = scale_of(env)
        assert found, f"{name}: its bidders or the market have changed; run make oracle"
        assert found.population == name and found == scale_named(name)
        assert 0 < found.floor < found.oracle < 1


@pytest.mark.parametrize("name", ["stage1", "stage3", "stage4", "emigrants", "two_rings"])
def test_the_scale_holds_in_episodes_that_did_not_measure_it(envs, name: str) -> None:
    designers = {"floor": RandomDesigner(), "oracle": FixedDesigner(scale_named(name).mechanism)}
    steps = compare(envs[name], designers, episodes=200, seed=1)
    means = episode_means(steps).groupby("designer")["reward"].mean()
    assert scale_named(name).normalise(means["oracle"]) == pytest.approx(1, abs=0.1)
    assert scale_named(name).normalise(means["floor"]) == pytest.approx(0, abs=0.1)


def test_another_market_or_reward_and_other_bidders_and_episodes_have_no_scale(envs) -> None:
    for changes in ({"reward": "revenue"}, {"market": "classic"}, {"market": "fresh"}):
        assert scale_of(daedalus.make("stage3", **changes).env) is None, changes
    stage3 = envs["stage3"]
    assert scale_of(stage3.with_population(stage3.market.population.of_size(12))) is None
    longer = replace(stage3.settings, episode_length=11)
    assert scale_of(DesignEnv.of(longer, stage3.market.population)) is None
    with pytest.raises(ValueError, match="'nowhere' has no oracle; choose from stage0, "):
        scale_named("nowhere")


def test_a_new_setting_at_its_default_changes_no_fingerprint(envs) -> None:
    stage3 = envs["stage3"]

    @dataclass
    class MarketSettings(type(stage3.settings)):  # type: ignore[misc]
        new: float = 0.5

    for new, same in ((0.5, True), (0.6, False)):
        changed = replace(stage3, settings=MarketSettings(**vars(stage3.settings), new=new))
        assert (fingerprint(changed) == fingerprint(stage3)) is same
