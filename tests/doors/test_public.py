"""The public Python surface: five lines play a market, and an import of the package is quick."""

from __future__ import annotations

import pydoc
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import daedalus
from daedalus.design.rewards.stack import RewardStack
from daedalus.launch.config.mistakes import ConfigError
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import MechanismError, Mechanisms
from daedalus.market.seeds import market_seeds
from tests.populations import population, seat_plan
from tests.service.briefs import KnownSentences

ROOT = Path(__file__).parents[2]

VARIED = [daedalus.Mechanism(), daedalus.Mechanism("vcg", 0.4), daedalus.Mechanism("first_price")]


def python(script: str) -> str:
    command = [sys.executable, "-c", script]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_the_package_alone_imports_nothing_heavy() -> None:
    told = python(
        "import sys, daedalus; print([n for n in ('numpy', 'hydra') if n in sys.modules])"
    )
    assert told.strip() == "[]"


def test_the_package_names_its_parts_and_keeps_its_modules() -> None:
    assert set(daedalus.__all__) <= set(dir(daedalus))
    for name in daedalus.__all__:
        assert callable(getattr(daedalus, name))
    assert daedalus.market.mechanism.Mechanism is daedalus.Mechanism
    with pytest.raises(AttributeError, match="daedalus has no 'Marker'; it has Market, Mechanism"):
        _ = daedalus.Marker
    assert (ROOT / "daedalus" / "py.typed").exists()


def test_an_episode_is_that_of_its_environment() -> None:
    market = daedalus.make("stage4", "market.episode_length=3", reward="revenue")
    first = market.reset(seed=5)
    episode = market.env.reset(market_seeds(5, "service", 1))
    np.testing.assert_array_equal(first.proxies, episode.observe().proxies)
    for number, mechanism in enumerate(VARIED, start=1):
        step = market.step(mechanism)
        result = episode.step(Mechanisms.stack([mechanism]))
        assert step.reward == result.reward[0] == market.env.reward.of_mechanisms(step.outcome)[0]
        np.testing.assert_array_equal(step.observation.recent, episode.observe().recent)
        assert step.done == market.done == (number == 3)
    assert market.step(daedalus.Mechanism()).reward == 0.0
    with pytest.raises(ValueError, match="horizon: 1; the episode has ended"):
        market.fork(VARIED)


def test_only_what_is_allowed_may_be_set() -> None:
    written = {"auction_type": ["vcg"], "reserve_price": {"min": 0.1, "max": 0.5}}
    market = daedalus.make("stage3", allowed=written)
    market.reset(seed=0)
    change = "+allowed={auction_type: [vcg], reserve_price: {min: 0.1, max: 0.5}}"
    assert daedalus.make("stage3", change).env.allowed == market.env.allowed
    with pytest.raises(MechanismError, match="auction_type: 'first_price' is not allowed"):
        market.step(VARIED[2])
    assert market.step(VARIED[1]).reward > 0
    with pytest.raises(ValueError, match=r"allowed\.auction_type: 'dutch' is not allowed"):
        daedalus.make("stage3", allowed={"auction_type": ["dutch"]})


def test_a_brief_sets_reward_rules_and_bidders(monkeypatch: pytest.MonkeyPatch) -> None:
    patched = "daedalus.launch.brief_answer.reader_for_people"
    monkeypatch.setattr(patched, lambda _: KnownSentences())
    own, money = "Winners pay their own bid.", "We need money."
    others = "Use a second-price auction. They are a ring. At least half of all must come."
    with pytest.warns(UserWarning) as warned:
        market = daedalus.make("stage1", brief=f"{money} {own} {others}")
    excluded, floor = (str(each.message) for each in warned)
    assert excluded.startswith(f"the second is not kept; auction_type: “{own}” excludes")
    assert floor.startswith("a mean participation of at least 0.5 was understood, but restricts")
    assert market.env.goal.weights == {"revenue": 1.0}
    assert market.env.allowed == {"auction_type": ("first_price",)}
    assert market.env.brief.startswith(money) and market.understood is not None
    assert "colluder" in market.env.market.population.types  # of briefs_ring
    market.reset(3)
    with pytest.raises(MechanismError):
        market.step(daedalus.Mechanism(auction_type="vcg"))
    for change in ((), ("reward=welfare",), ("+allowed.reserve_price={min: 0.2, max: 0.5}",)):
        reward = "composite" if change else "revenue"
        with pytest.raises(ValueError, match="leave these two out"):
            daedalus.make("stage1", *change, reward=reward, brief=money)


def test_a_drawn_seed_is_told_and_repeats_the_episode() -> None:
    market = daedalus.make()
    first = market.reset()
    assert market.seed is not None
    np.testing.assert_array_equal(market.reset(market.seed).recent, first.recent)


def test_bidders_market_and_reward_may_be_objects() -> None:
    stack = RewardStack({"composite": 0.0, "welfare": 1.0})
    market = daedalus.make(population(3), market=MarketSettings(episode_length=4), reward=stack)
    assert market.env.settings.episode_length == 4 and market.env.reward == stack
    classic = daedalus.make(seat_plan(3), market="classic")
    assert classic.env.settings.name == "classic" and 0.0 <= classic_reward(classic) <= 1.0


def classic_reward(market: daedalus.Market) -> float:
    market.reset(0)
    return market.step(daedalus.Mechanism()).reward


def test_mistakes_say_what_to_write() -> None:
    with pytest.raises(ConfigError, match="stage9"):
        daedalus.make("stage9")
    with pytest.raises(ConfigError, match=r"market\.episode_length"):
        daedalus.make("stage3", "market.episode_length=0")
    for change in ("seed=7", "designer=random", "evaluation.episodes=3", "+experiment=boxplot"):
        with pytest.raises(ConfigError, match="a market reads population, market, reward, allowed"):
            daedalus.make("stage3", change)
    with pytest.raises(ConfigError, match=r"market\.episode_length=20: market is given as"):
        daedalus.make("stage3", "market.episode_length=20", market=MarketSettings())
    with pytest.raises(ConfigError, match="allowed is given as an object"):
        daedalus.make("stage3", "+allowed.auction_type=[vcg]", allowed={"auction_type": ["vcg"]})
    market = daedalus.make("stage3")
    for ask in (lambda: market.step(VARIED[0]), lambda: market.fork(VARIED), lambda: market.done):
        with pytest.raises(RuntimeError, match="call reset first"):
            ask()


def test_help_shows_how_a_market_is_opened() -> None:
    told = pydoc.plain(pydoc.render_doc(daedalus.make))
    assert 'daedalus.make("stage4", "market.episode_length=20")' in told
    assert all(f"{name}: " in told for name in ("population", "market", "reward", "ConfigError"))


def test_what_is_printed_is_short_and_tells_the_reward() -> None:
    market = daedalus.make("stage3")
    assert repr(market) == "Market(call reset to begin an episode)"
    first = market.reset(3)
    step = market.step(daedalus.Mechanism())
    text = repr(step)
    assert text.startswith(f"Step(reward={step.reward:.6g}, done=False,")
    assert len(text) < 800 and "array" not in text and text.count("\n") == 2
    composite = step.outcome.field("composite").mean()
    assert f"composite {composite:.3g}" in repr(step.outcome) and f"{step.outcome!r}" in text
    assert "steps=1 of 10" in repr(step.observation) and "steps=0 of 10" in repr(first)
    assert f"bid_mean {step.observation.proxy('bid_mean')[0]:.3g}" in repr(step.observation)
    assert repr(market) == "Market(seed=3, step 1 of 10)"
    while not market.step(daedalus.Mechanism()).done:
        pass
    assert "rounds=3, none played" in repr(market.step(daedalus.Mechanism()))


def test_batches_are_printed_by_their_size() -> None:
    env = daedalus.make("stage3").env
    episodes = env.reset(market_seeds(0, "service", 40))
    rules = Mechanisms.stack([daedalus.Mechanism()] * 39 + [None])
    result = episodes.step(rules)
    assert repr(rules) == "Mechanisms(40 rows, 1 malformed)"
    assert repr(episodes) == "Episodes(40 of 10 steps, 0 ended)"
    assert repr(result).startswith("StepResult(running=40 of 40, scored=Outcome(episodes=40, rou")
    assert "nan" not in repr(result)
    none = rules.take(np.arange(0))
    for each in (result, result.outcome, episodes, episodes.observe(), rules, none):
        assert len(repr(each)) < 500 and "\n" not in repr(each)
    assert repr(rules.take(np.arange(1))) == f"Mechanisms([{daedalus.Mechanism()!r}])"
