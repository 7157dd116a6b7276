"""Mechanisms are compared for the bidders of a log, and a change is recommended if it is sure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from daedalus.design.rewards.stack import RewardStack
from daedalus.lab.bids.design import (
    MULTIPLES,
    Field,
    FieldObjective,
    Judged,
    Mixture,
    Policy,
    Verdict,
    _as_good,
    in_force,
    is_binding,
    place_of,
    settled,
)
from daedalus.lab.bids.estimates import Estimate, Estimator
from daedalus.market.mechanism import FIELDS, Mechanism, Mechanisms
from tests.lab.bids.conftest import STATIC, make_estimator

PLAIN = Mechanism(auction_type="first_price", reserve_price=0.0, reveal_reserve=True)


def test_the_policy_in_force_has_the_format_and_the_reserves_of_the_log() -> None:
    assert in_force(make_estimator()) == Policy(PLAIN, 0.0)
    assert in_force(make_estimator(1.0)).multiple == 1.0
    second = in_force(make_estimator(format="second_price"))
    assert second.mechanism.auction_type == "second_price"


@pytest.mark.parametrize("kind", ["first_price", "second_price"])
def test_playing_agrees_with_theory(field: Field, kind: str) -> None:
    mechanism = replace(PLAIN, auction_type=kind)
    assert field.is_exact(mechanism)
    exact = field.rewards(mechanism, 1, "test")
    for multiple in (0.0, 2.0):
        played = field.played(Policy(mechanism, multiple), 30, "test")
        assert played == pytest.approx(exact[place_of(multiple)], rel=0.03)


def test_what_theory_does_not_tell_is_played(estimate: Estimate, field: Field) -> None:
    secret = replace(PLAIN, reveal_reserve=False)
    assert not field.is_exact(secret)
    assert field.rewards(secret, 2, "test")[0] == pytest.approx(
        field.rewards(PLAIN, 2, "test")[0], rel=0.1
    )
    welfare = Field(estimate, STATIC, RewardStack({"welfare": 1.0}), 0)
    assert not welfare.is_exact(PLAIN)
    shares = welfare.rewards(PLAIN, 2, "test")
    assert shares[0] == pytest.approx(1.0, abs=0.01) and shares[-1] < 0.5


def test_the_objective_of_a_search_is_what_a_sale_earns(field: Field) -> None:
    rows = field.at(PLAIN, np.array([0.0, 0.5 * field.scale]))
    low, high = FieldObjective(field)(rows, 20)
    assert high > low > 0


def test_a_field_that_does_not_matter_stays_as_it_is(field: Field) -> None:
    found = Mechanism(
        auction_type="vcg", reserve_price=0.5, reveal_competing_bids=True, collusion_penalty=2.0
    )
    assert settled(found, PLAIN, field, 1) == replace(PLAIN, reserve_price=0.5)


def test_a_field_that_matters_is_changed(estimate: Estimate) -> None:
    field = Field(estimate, STATIC, RewardStack({"revenue": 1.0, "participation": 1.0}), 0)
    found = replace(PLAIN, auction_type="second_price", reserve_price=0.0)
    held = replace(PLAIN, reserve_price=0.9)
    assert settled(found, held, field, 2).reserve_price == 0.0


def test_the_proposals_of_a_designer_are_a_mixture(field: Field) -> None:
    steps = pd.DataFrame([PLAIN.to_dict()] * 3 + [Mechanism(reserve_price=0.3).to_dict()])
    steps["valid"] = [True, True, True, False]
    mixture = Mixture.of_steps(steps[["valid", *FIELDS]], field.scale)
    assert mixture.shares.tolist() == [0.75] and len(mixture.mechanisms) == 1
    one = Mixture.of_one(PLAIN, field.scale)
    assert mixture.reward(field, 1, "t") == pytest.approx(0.75 * one.reward(field, 1, "t"))
    assert one.reward(field, 1, "t") == pytest.approx(field.rewards(PLAIN, 1, "t")[0], rel=1e-6)
    secret = Mixture.of_one(replace(PLAIN, reveal_reserve=False), field.scale)
    assert secret.reward(field, 20, "t") == pytest.approx(one.reward(field, 1, "t"), rel=0.05)


def test_a_sure_gain_is_recommended(verdict: Verdict, estimator: Estimator) -> None:
    reserve = verdict.policy.multiple * estimator.unit
    assert verdict.change and not verdict.unseen
    assert 40 < reserve < 65 and verdict.best[0] <= verdict.policy.multiple <= verdict.best[1]
    assert 0 < verdict.interval[0] <= verdict.gain <= verdict.interval[1]


def flat(height: float) -> Judged:
    return Judged(np.full(len(MULTIPLES), height), np.full(len(MULTIPLES), height), {})


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
    level, held = flat(1.0), in_force(estimator)
    kept = Verdict.of(held, PLAIN, level, [level] * 20, estimator, 0.95)
    assert not kept.change and kept.gain == 0.0
    better = flat(1.0)
    better.changed[50] = 2.0
    unsure = Verdict.of(held, PLAIN, better, [level, better] * 10, estimator, 0.95)
    assert unsure.gain == 1.0 and not unsure.change
    assert Verdict.of(held, PLAIN, better, [better] * 20, estimator, 0.95).change


def test_what_the_log_cannot_tell_is_not_recommended() -> None:
    binding = make_estimator(1.0)
    assert is_binding(binding) and not is_binding(make_estimator())
    lower = flat(1.0)
    lower.changed[place_of(0.8)] = 2.0
    verdict = Verdict.of(in_force(binding), PLAIN, lower, [lower] * 20, binding, 0.95)
    assert verdict.unseen and not verdict.change and verdict.policy.multiple == 0.8


def test_mechanisms_hold_their_reserves_in_the_market_s_range(field: Field) -> None:
    rows = field.at(PLAIN, np.array([0.0, 2.0 * field.scale]))
    assert isinstance(rows, Mechanisms) and rows.reserve_price.tolist() == [0.0, 0.9]
