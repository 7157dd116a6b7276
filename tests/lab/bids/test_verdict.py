"""Mechanisms are compared for the bidders of a log, and a change is recommended if it is sure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from daedalus.design.rewards.stack import RewardStack
from daedalus.lab.bids.estimator import Estimate, Estimator
from daedalus.lab.bids.verdict import (
    MULTIPLES,
    EstimatedMarkets,
    Judgement,
    Mixture,
    Policy,
    Verdict,
    _as_good,
    is_binding,
    judgements_in,
    place_of,
    policy_in_force,
    without_idle_changes,
)
from daedalus.market.mechanism import FIELDS, Mechanism, Mechanisms
from tests.lab.bids.conftest import STATIC, make_estimator

PLAIN = Mechanism(auction_type="first_price", reserve_price=0.0, reveal_reserve=True)


def test_the_policy_in_force_has_the_format_and_the_reserves_of_the_log() -> None:
    assert policy_in_force(make_estimator()) == Policy(PLAIN, 0.0)
    assert policy_in_force(make_estimator(1.0)).multiple == 1.0
    second = policy_in_force(make_estimator(format="second_price"))
    assert second.mechanism.auction_type == "second_price"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["first_price", "second_price"])
def test_playing_agrees_with_theory(markets: EstimatedMarkets, kind: str) -> None:
    mechanism = replace(PLAIN, auction_type=kind)
    assert markets.is_exact(mechanism)
    exact = markets.rewards(mechanism, 1, "test")
    bases, worth = (
        each.reshape(10, -1).mean(axis=1) for each in (markets.estimate.bases, markets.worth)
    )
    for multiple in (0.0, 2.0):
        scores = markets.scores(markets.at(mechanism, multiple * bases), 30, "test")
        assert scores @ worth / 10 == pytest.approx(exact[place_of(multiple)], rel=0.03)


def test_what_theory_does_not_tell_is_played(estimate: Estimate, markets: EstimatedMarkets) -> None:
    secret = replace(PLAIN, reveal_reserve=False)
    assert not markets.is_exact(secret)
    assert markets.rewards(secret, 2, "test")[0] == pytest.approx(
        markets.rewards(PLAIN, 2, "test")[0], rel=0.1
    )
    welfare = EstimatedMarkets(estimate, STATIC, RewardStack({"welfare": 1.0}), 0)
    assert not welfare.is_exact(PLAIN)
    shares = welfare.rewards(PLAIN, 2, "test")
    assert shares[0] == pytest.approx(1.0, abs=0.01) and shares[-1] < 0.5


def test_a_field_that_does_not_matter_stays_as_it_is(markets: EstimatedMarkets) -> None:
    found = Mechanism(
        auction_type="vcg", reserve_price=0.5, reveal_competing_bids=True, collusion_penalty=2.0
    )
    assert without_idle_changes(found, PLAIN, markets, 1) == replace(PLAIN, reserve_price=0.5)


def test_a_field_that_matters_is_changed(estimate: Estimate) -> None:
    markets = EstimatedMarkets(
        estimate, STATIC, RewardStack({"revenue": 1.0, "participation": 1.0}), 0
    )
    found = replace(PLAIN, auction_type="second_price", reserve_price=0.0)
    in_force = replace(PLAIN, reserve_price=0.9)
    assert without_idle_changes(found, in_force, markets, 2).reserve_price == 0.0


def test_the_proposals_of_a_designer_are_a_mixture(markets: EstimatedMarkets) -> None:
    steps = pd.DataFrame([PLAIN.to_dict()] * 3 + [Mechanism(reserve_price=0.3).to_dict()])
    steps["valid"] = [True, True, True, False]
    mixture = Mixture.of_steps(steps[["valid", *FIELDS]], markets.scale)
    assert mixture.shares.tolist() == [0.75] and len(mixture.mechanisms) == 1
    one = Mixture.of_one(PLAIN, markets.scale)
    assert mixture.reward(markets, 1, "t") == pytest.approx(0.75 * one.reward(markets, 1, "t"))
    assert one.reward(markets, 1, "t") == pytest.approx(markets.rewards(PLAIN, 1, "t")[0], rel=1e-6)
    secret = Mixture.of_one(replace(PLAIN, reveal_reserve=False), markets.scale)
    assert secret.reward(markets, 20, "t") == pytest.approx(one.reward(markets, 1, "t"), rel=0.05)


def test_a_sure_gain_is_recommended(verdict: Verdict, estimator: Estimator) -> None:
    reserve = verdict.policy.multiple * estimator.unit
    assert verdict.change and not verdict.unseen
    assert 40 < reserve < 65 and verdict.best[0] <= verdict.policy.multiple <= verdict.best[1]
    assert 0 < verdict.interval[0] <= verdict.gain <= verdict.interval[1]


def flat(height: float) -> Judgement:
    return Judgement(np.full(len(MULTIPLES), height), np.full(len(MULTIPLES), height), {})


def test_reserves_are_as_good_where_all_between_them_and_the_best_are() -> None:
    rewards = np.where(MULTIPLES <= 1.0, 10.0, 0.0)
    at = place_of(0.5)
    assert _as_good(rewards, at) == (0.0, 1.0)
    rewards[place_of(0.3)] = 9.9  # below it are others as good, but not all between
    assert _as_good(rewards, at) == (0.32, 1.0)
    assert _as_good(-rewards - 1.0, len(MULTIPLES) - 1)[1] == MULTIPLES[-1]
    rewards[at] = 10.02
    assert _as_good(rewards, at) == (0.5, 0.5)


def test_no_change_is_a_result(estimator: Estimator) -> None:
    level, in_force = flat(1.0), policy_in_force(estimator)
    kept = Verdict.of(in_force, PLAIN, level, [level] * 20, estimator, 0.95)
    assert not kept.change and kept.gain == 0.0
    better = flat(1.0)
    better.designed[50] = 2.0
    unsure = Verdict.of(in_force, PLAIN, better, [level, better] * 10, estimator, 0.95)
    assert unsure.gain == 1.0 and not unsure.change
    assert Verdict.of(in_force, PLAIN, better, [better] * 20, estimator, 0.95).change


def test_what_the_log_cannot_tell_is_not_recommended() -> None:
    binding = make_estimator(1.0)
    assert is_binding(binding) and not is_binding(make_estimator())
    lower = flat(1.0)
    lower.designed[place_of(0.8)] = 2.0
    verdict = Verdict.of(policy_in_force(binding), PLAIN, lower, [lower] * 20, binding, 0.95)
    assert verdict.unseen and not verdict.change and verdict.policy.multiple == 0.8


def test_mechanisms_hold_their_reserves_in_the_market_s_range(markets: EstimatedMarkets) -> None:
    rows = markets.at(PLAIN, np.array([0.0, 2.0 * markets.scale]))
    assert isinstance(rows, Mechanisms) and rows.reserve_price.tolist() == [0.0, 0.9]


def test_both_mechanisms_are_played_if_theory_does_not_tell_one(markets: EstimatedMarkets) -> None:
    """The one in force had its result from theory, so chance of the market counted as a gain."""
    secret = replace(PLAIN, reveal_reserve=False)
    judged = Judgement.of(markets, PLAIN, secret, {}, 1, "paired")
    at = place_of(0.0)
    assert judged.designed[at] == pytest.approx(judged.in_force[at], rel=1e-9)


def test_the_number_of_samples_that_were_judged_is_kept(
    markets: EstimatedMarkets, estimator: Estimator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("daedalus.lab.bids.verdict.PLAYED", 2)
    secret = replace(PLAIN, reveal_reserve=False)
    few = judgements_in([markets] * 3, PLAIN, secret, {})
    in_force = policy_in_force(estimator)
    assert len(few) == 2
    found = Verdict.of(in_force, secret, few[0], few, estimator, 0.95)
    assert found.samples == 2
