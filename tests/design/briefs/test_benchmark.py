"""Briefs one by one: a designer sees words and records alone, and its mechanism is judged."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from daedalus.design.briefs.benchmark import Benchmark
from daedalus.design.briefs.brief import Brief, BriefScale
from daedalus.design.briefs.scoring import judge
from daedalus.design.env import DesignEnv
from daedalus.market.mechanism import Mechanism

OWN = Brief("own", "Pay your own bid.", "true", allowed={"auction_type": ("first_price",)})
MONEY = Brief("money", "Money!", "true", {"revenue": 1.0}, told_population="expected")


@pytest.fixture
def benchmark(env: DesignEnv) -> Benchmark:
    crowd = env.with_population(replace(env.market.population, bidders=12))
    return Benchmark([OWN, MONEY], {"true": env, "expected": crowd}.__getitem__)


def test_a_designer_sees_the_words_and_the_records_of_whom_it_expects(benchmark: Benchmark) -> None:
    (goal,) = benchmark.observe(OWN, 3).goals
    assert goal.brief == OWN.text and not goal.weights and not goal.allowed
    assert benchmark.observe(OWN, 3).proxy("total_bidders")[0] == 8
    assert benchmark.observe(MONEY, 3).proxy("total_bidders")[0] == 12
    once, again = (benchmark.observe(OWN, 3).recent for _ in range(2))
    np.testing.assert_array_equal(once, again)


def test_a_seed_draws_a_brief(benchmark: Benchmark) -> None:
    drawn = [benchmark.drawn(seed).id for seed in range(20)]
    assert drawn == [benchmark.drawn(seed).id for seed in range(20)]
    assert set(drawn) == {"own", "money"}


def test_a_mechanism_is_judged_in_the_frozen_futures_of_the_true_bidders(
    benchmark: Benchmark, env: DesignEnv
) -> None:
    own = Mechanism("first_price")
    scaled = replace(MONEY, scale=BriefScale(0.0, 1.0, {}))
    assert benchmark.judge(scaled, own) == judge(scaled, own, env)
    assert benchmark.judge(OWN, Mechanism()).broken == ("auction_type: second_price",)
    assert benchmark.judge(OWN, None).broken == ("no valid mechanism",)


def test_the_reward_is_the_score_or_without_ends_the_objective(benchmark: Benchmark) -> None:
    kept, broken = benchmark.judge(OWN, Mechanism("first_price")), benchmark.judge(OWN, Mechanism())
    assert math.isnan(kept.score) and kept.reward == kept.objective > 0
    assert broken.reward == benchmark.judge(OWN, None).reward == 0.0
    scaled = replace(OWN, scale=BriefScale(0.0, kept.objective / 2, {}))
    assert benchmark.judge(scaled, Mechanism("first_price")).reward == pytest.approx(2.0)
