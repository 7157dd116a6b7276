"""Episodes in closed loop: what a row holds, and that designers are paired."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from daedalus.design.designers.fixed import FixedDesigner
from daedalus.design.designers.random import RandomDesigner
from daedalus.design.env import DesignEnv, Episodes
from daedalus.design.rewards.stack import RewardStack
from daedalus.evaluation import episodes
from daedalus.evaluation.episodes import (
    COMPOSITE,
    METRICS,
    compare,
    episode_means,
    play_episodes,
)
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import FIELDS, Mechanism, Mechanisms
from daedalus.market.seat_plan import BidderGroup, SeatPlan
from daedalus.market.seeds import generator, market_seeds
from tests.design.search.markets import PUBLISHED, published_reward
from tests.populations import population
from tests.proposing import proposing

FIXED = FixedDesigner(Mechanism())
FACTORS = ["welfare", "fairness", "participation", "stability"]
MARKET_METRICS = [name for name in METRICS if name not in ("reward", "valid")]


ODD_MALFORMED = proposing(
    lambda steps, _: [None if row % 2 else Mechanism() for row in range(len(steps))]
)
"""Proposes the default mechanism, unreadable in every second market."""

ODD_HIGH = proposing(
    lambda steps, _: [Mechanism(reserve_price=0.9 * (row % 2)) for row in range(len(steps))]
)
"""Proposes a reserve that no bidder can pay in every second market."""


@pytest.fixture
def env() -> DesignEnv:
    return DesignEnv.of(MarketSettings(episode_length=4), population(4))


def test_rows_are_every_step_of_every_episode(env: DesignEnv) -> None:
    steps = play_episodes(env, RandomDesigner(), market_seeds(0, "test", 3), generator(0, "test"))
    assert list(steps.columns) == ["episode", "step", *METRICS, *FIELDS]
    assert steps[["episode", "step"]].to_numpy().tolist() == [
        [episode, step] for episode in range(3) for step in range(1, 5)
    ]


def test_rows_hold_the_step_reward_and_the_factors_of_the_same_rounds(env: DesignEnv) -> None:
    seeds, mechanisms = market_seeds(5, "test", 2), Mechanisms.repeat(Mechanism(), 2)
    steps = play_episodes(env, FIXED, seeds, generator(0, "test"))
    played = env.reset(seeds)
    played.step(mechanisms)
    result = played.step(mechanisms)
    second = steps[steps["step"] == 2]
    np.testing.assert_array_equal(second["reward"], result.reward)
    scored = result.outcome.last(env.settings.scored_rounds)
    rounds = {
        "welfare": scored.field("welfare"),
        "fairness": 1.0 - scored.field("gini"),
        "participation": scored.field("participation"),
        "stability": scored.field("stability"),
        "revenue": scored.field("revenue"),
        "revenue_share": scored.field("revenue_share"),
        "collusion_signal": scored.field("collusion_signal"),
    }
    assert set(rounds) == set(MARKET_METRICS)
    for name, values in rounds.items():
        np.testing.assert_array_equal(second[name], values.mean(axis=1))
    product = np.prod([rounds[name] for name in FACTORS], axis=0)
    np.testing.assert_allclose(second["reward"], product.mean(axis=1))


def test_rows_hold_the_mechanism_of_each_step(env: DesignEnv, tmp_path: Path) -> None:
    seeds, rng = market_seeds(0, "test", 3), generator(0, "test")
    steps = play_episodes(env, RandomDesigner(), seeds, rng)
    steps.to_csv(tmp_path / "steps.csv", index=False)
    read = pd.read_csv(tmp_path / "steps.csv").sort_values(["step", "episode"])
    rng = generator(0, "test")
    proposed = [RandomDesigner().propose(env.reset(seeds).observe(), rng) for _ in range(4)]
    expected = [each[row].to_dict() for each in proposed for row in range(3)]
    assert read[list(FIELDS)].to_dict("records") == expected


def test_malformed_steps_score_zero_and_have_neither_market_metrics_nor_a_mechanism(
    env: DesignEnv, tmp_path: Path
) -> None:
    seeds = market_seeds(0, "test", 4)
    steps = play_episodes(env, ODD_MALFORMED, seeds, generator(0, "test"))
    steps.to_csv(tmp_path / "steps.csv", index=False)
    steps = pd.read_csv(tmp_path / "steps.csv")
    assert steps.loc[~steps["valid"], list(FIELDS)].isna().to_numpy().all()
    played = steps.loc[steps["valid"], list(FIELDS)]
    assert [Mechanism(**row) for row in played.to_dict("records")] == [Mechanism()] * 8
    odd = steps["episode"] % 2 == 1
    assert (steps.loc[odd, "reward"] == 0.0).all()
    assert not steps.loc[odd, "valid"].any()
    assert steps.loc[odd, MARKET_METRICS].isna().to_numpy().all()
    assert (steps.loc[~odd, "reward"] > 0.0).all()
    assert steps.loc[~odd, "valid"].all()
    assert steps.loc[~odd, MARKET_METRICS].notna().to_numpy().all()


def test_there_are_no_rows_after_all_bidders_left() -> None:
    settings = MarketSettings(name="classic", episode_length=4)
    leavers = BidderGroup("dropout", [0, 1], 0.1, 0.3, threshold=0.5)
    env = DesignEnv.of(settings, SeatPlan(2, 2, {"leavers": leavers}))
    steps = play_episodes(env, ODD_HIGH, market_seeds(0, "test", 4), generator(0, "test"))
    assert steps.groupby("episode")["step"].max().tolist() == [4, 1, 4, 1]
    assert len(steps) == 10


def test_pieces_are_played_as_the_whole(env: DesignEnv, monkeypatch: pytest.MonkeyPatch) -> None:
    seeds, largest, reset = market_seeds(0, "test", 11), 0, DesignEnv.reset
    whole = play_episodes(env, FIXED, seeds, generator(0, "test"))

    def counted(self: DesignEnv, some: NDArray[np.uint64]) -> Episodes:
        nonlocal largest
        largest = max(largest, len(some))
        return reset(self, some)

    monkeypatch.setattr(DesignEnv, "reset", counted)
    monkeypatch.setattr(episodes, "AT_ONCE", 4)
    pd.testing.assert_frame_equal(play_episodes(env, FIXED, seeds, generator(0, "test")), whole)
    assert largest == 4


def test_markets_that_are_empty_from_the_start_are_refused() -> None:
    settings = MarketSettings(name="classic", warmup_rounds=30)
    poor = BidderGroup("exploiter", [0, 1], 0.5, 0.9, budget=0.0)
    env = DesignEnv.of(settings, SeatPlan(4, 2, {"poor": poor}))
    with pytest.raises(ValueError, match="none of 3 markets"):
        play_episodes(env, FIXED, market_seeds(0, "test", 3), generator(0, "test"))


def test_designers_are_paired_and_depend_on_the_seed_alone(env: DesignEnv) -> None:
    twins = {"one": FIXED, "between": RandomDesigner(), "two": FIXED}
    steps = compare(env, twins, 5, seed=3)
    assert list(steps.columns[:3]) == ["designer", "episode", "step"]
    assert list(steps["designer"].unique()) == ["one", "between", "two"]
    one, between, two = (
        steps[steps["designer"] == name].drop(columns="designer").reset_index(drop=True)
        for name in twins
    )
    pd.testing.assert_frame_equal(one, two)
    alone, other = (
        compare(env, {"between": RandomDesigner()}, 5, seed).drop(columns="designer")
        for seed in (3, 4)
    )
    pd.testing.assert_frame_equal(alone, between)
    assert not np.allclose(one["reward"], between["reward"])
    assert not np.allclose(other["reward"], between["reward"])


def test_episode_means_average_steps() -> None:
    steps = pd.DataFrame({name: [0.2, 0.4, 1.0] for name in METRICS})
    steps["welfare"] = [np.nan, 0.4, 1.0]
    steps["valid"] = [False, True, True]
    steps.insert(0, "designer", ["b", "b", "a"])
    steps.insert(1, "episode", [0, 0, 0])
    means = episode_means(steps)
    assert list(means.columns) == ["designer", "episode", *METRICS]
    assert means["designer"].tolist() == ["b", "a"]
    assert means["reward"].tolist() == pytest.approx([0.3, 1.0])
    assert means["welfare"].tolist() == [0.4, 1.0]
    assert means["valid"].tolist() == [0.5, 1.0]


def test_the_reward_is_the_value_of_the_stack_and_r_stands_beside_it(env: DesignEnv) -> None:
    seeds, mechanisms = market_seeds(5, "test", 2), Mechanisms.repeat(Mechanism(), 2)
    plain = play_episodes(env, FIXED, seeds, generator(0, "test"))
    published = replace(env, reward=PUBLISHED)
    steps = play_episodes(published, FIXED, seeds, generator(0, "test"))
    assert list(steps.columns) == ["episode", "step", *METRICS, COMPOSITE, *FIELDS]
    as_r = steps.drop(columns="reward").rename(columns={COMPOSITE: "reward"})
    pd.testing.assert_frame_equal(as_r[plain.columns], plain)
    played = env.reset(seeds)
    for step in range(1, 5):
        shown = steps.loc[steps["step"] == step, "reward"]
        np.testing.assert_allclose(shown, published_reward(played.step(mechanisms).scored))


@pytest.mark.parametrize("weights", [{"composite": 2.0}, {"composite": 1.0, "format": 1.0}])
def test_designers_are_compared_by_any_other_stack(
    env: DesignEnv, weights: dict[str, float]
) -> None:
    designers = {"fixed": FIXED, "odd": ODD_MALFORMED}
    means = episode_means(compare(replace(env, reward=RewardStack(weights)), designers, 4, 0))
    assert list(means.columns) == ["designer", "episode", *METRICS, COMPOSITE]
    extra = weights.get("format", 0.0) * means["valid"]
    expected = weights["composite"] * means[COMPOSITE] + extra
    np.testing.assert_allclose(means["reward"], expected)
    assert (means.loc[means["valid"] == 0, "reward"] == 0).sum() == 2  # malformed answers
