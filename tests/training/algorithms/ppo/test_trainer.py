"""PPO: markets side by side as Stable-Baselines3 takes them, what it learns, and its designer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from stable_baselines3 import PPO

from daedalus.design.env import DesignEnv
from daedalus.design.search.space import LEVELS, places_of
from daedalus.doors.gym.single import MarketEnv
from daedalus.doors.gym.spaces import numbers_of
from daedalus.doors.gym.vector import MarketVectorEnv
from daedalus.evaluation.episodes import play_episodes
from daedalus.market.allowed import Between
from daedalus.market.goal import Goal
from daedalus.market.mechanism import FIELDS
from daedalus.market.seeds import market_seeds
from daedalus.training.algorithms.ppo import trainer
from daedalus.training.algorithms.ppo.settings import PpoTraining
from daedalus.training.algorithms.ppo.side_by_side import SideBySide
from tests.design.search.markets import env_of

SHORT = PpoTraining(decisions=240, markets=20, rollout_steps=4, epochs=2, batch_size=40, width=16)


@pytest.fixture(scope="module")
def env() -> DesignEnv:
    return env_of()


def side_by_side(env: DesignEnv, count: int) -> MarketVectorEnv:
    return MarketVectorEnv(env, count, "SameStep")


def test_markets_are_gymnasium_s_single_ones(env: DesignEnv) -> None:
    ours, single = SideBySide(side_by_side(env, 2), seed=3), MarketEnv(env)
    seen = ours.reset()
    np.testing.assert_array_equal(seen[1], single.reset(seed=4)[0])
    ours.action_space.seed(0)
    for step in range(1, 5):
        action = ours.action_space.sample()
        seen, rewards, ended, told = ours.step(np.stack([action, action]))
        expected, reward, over, _, _ = single.step(action)
        assert rewards[1] == np.float32(reward) and ended[1] == over == (step == 4)
        if not over:
            np.testing.assert_array_equal(seen[1], expected)
            assert told == [{}, {}]
    np.testing.assert_array_equal(told[1]["terminal_observation"], expected)
    np.testing.assert_array_equal(seen[1], single.reset()[0])  # the next episode has begun
    assert (ours.reset() != seen).any()  # the seed held for the first reset
    assert ours.env_is_wrapped(MarketEnv) == [False, False] and ours.get_attr("env") == [env] * 2


def test_another_autoreset_is_refused(env: DesignEnv) -> None:
    with pytest.raises(ValueError, match=r"autoreset_mode: AutoresetMode.NEXT_STEP; give"):
        SideBySide(MarketVectorEnv(env, 2), seed=0)


def trained(env: DesignEnv, settings: PpoTraining, seed: int = 0, checkpoint: Path | None = None):
    logged: list[tuple[str, int, dict[str, float]]] = []
    markets = side_by_side(env, settings.markets)
    log = lambda *each: logged.append(each)  # noqa: E731
    designer = trainer.train_ppo(markets, settings, seed, log, checkpoint)
    return designer, logged


def test_the_same_seed_gives_the_same_policy_and_every_rollout_is_logged(env: DesignEnv) -> None:
    (one, logged), (again, _), (other, _) = (trained(env, SHORT, seed) for seed in (1, 1, 2))
    assert [(name, step) for name, step, _ in logged] == [("ppo", step) for step in (1, 2, 3)]
    most = np.mean([np.log(len(LEVELS[name])) for name in FIELDS])
    for *_, metrics in logged:
        assert 0 < metrics["reward"] < 1 and metrics["entropy"] == pytest.approx(most, rel=0.05)
    for ours, same, different in zip(one.layers, again.layers, other.layers, strict=True):
        np.testing.assert_array_equal(ours[0], same[0])
        assert (ours[0] != different[0]).any()


class StoppedError(Exception):
    """An interrupt."""


def test_a_training_that_was_stopped_goes_on_with_the_same_numbers(
    env: DesignEnv, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rollouts of 3 steps end in the middle of episodes of 4."""
    settings = replace(SHORT, rollout_steps=3, batch_size=30)
    whole, logged = trained(env, settings)
    monkeypatch.setattr(trainer, "SAVE_SECONDS", 0.0)
    path, before = tmp_path / "last.pickle", []

    def stop(*record) -> None:
        before.append(record)
        if len(before) == 3:
            raise StoppedError

    with pytest.raises(StoppedError):
        trainer.train_ppo(side_by_side(env, 20), settings, 0, stop, path)
    assert trainer.rollouts_of(path) == 2
    torch.manual_seed(9)  # another process draws otherwise
    resumed, after = trained(env, settings, checkpoint=path)
    assert [*before[:2], *after] == logged and len(after) == 2
    np.testing.assert_array_equal(resumed.mean, whole.mean)
    for ours, theirs in zip(resumed.layers, whole.layers, strict=True):
        np.testing.assert_array_equal(ours[0], theirs[0])


@pytest.mark.parametrize(("decisions", "rates"), [(1, [1]), (200, [0.6, 1 / 3, 1 / 3])])
def test_the_learning_rate_falls_and_stays_above_0_past_the_last_decision(
    env: DesignEnv, monkeypatch: pytest.MonkeyPatch, decisions: int, rates: list[float]
) -> None:
    used: list[float] = []

    class Watched(PPO):
        def train(self) -> None:
            super().train()
            used.append(self.policy.optimizer.param_groups[0]["lr"])

    monkeypatch.setattr(trainer, "PPO", Watched)
    trained(env, replace(SHORT, decisions=decisions, learning_rate=0.1))
    assert used == pytest.approx([0.1 * each for each in rates])


def test_the_designer_is_the_network_of_stable_baselines(
    env: DesignEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[PPO] = []

    class Kept(PPO):
        def __init__(self, *given, **options) -> None:
            super().__init__(*given, **options)
            made.append(self)

    monkeypatch.setattr(trainer, "PPO", Kept)
    designer, _ = trained(env, replace(SHORT, learning_rate=0.05))
    scaled = made[0].get_env()
    seen = env.reset(market_seeds(9, "x", 100)).observe()
    numbers = numbers_of(env.reset(market_seeds(9, "x", 100)))
    chosen, _ = made[0].predict(scaled.normalize_obs(numbers), deterministic=True)
    proposed = designer.propose(seen, np.random.default_rng(0))
    np.testing.assert_array_equal(places_of(proposed, LEVELS), chosen)
    assert len(np.unique(chosen, axis=0)) > 1


def test_it_learns_and_plays_what_is_allowed(env: DesignEnv) -> None:
    goal = Goal(allowed={"auction_type": ("vcg",), "reserve_price": Between(0.12, 0.3)})
    restricted = replace(env, allowed=goal.allowed)
    designer, _ = trained(restricted, replace(SHORT, learning_rate=0.05))
    seen = restricted.reset(market_seeds(9, "x", 100)).observe()
    proposed = designer.propose(seen, np.random.default_rng(0))
    assert all(goal.admits(proposed[row]) for row in range(100))


@pytest.mark.slow
def test_it_learns_what_sells(env: DesignEnv) -> None:
    settings = replace(SHORT, decisions=20_000, markets=100, batch_size=200, learning_rate=3e-3)
    designer, logged = trained(env, settings)
    played = play_episodes(env, designer, market_seeds(5, "x", 50), np.random.default_rng(0))
    first = logged[0][-1]["reward"]
    assert logged[-1][-1]["reward"] > first + 0.05
    assert played["reward"].mean() > first + 0.1


def test_a_batch_is_at_most_a_rollout() -> None:
    with pytest.raises(ValueError, match="batch_size: 81; a rollout has 80 decisions"):
        replace(SHORT, batch_size=81)
